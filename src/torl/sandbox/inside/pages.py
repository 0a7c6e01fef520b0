"""Memory of the zygote in huge pages, where the kernel can: what a fork has to copy is then one entry for 512.

A page that a cell writes to is still copied alone.
"""

import ctypes
from collections.abc import Iterator

from .kernel import libc

HUGE = 2 * 1024 * 1024
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25  # linux/mman.h; the second since Linux 6.1


def collapse() -> None:
    """Join the pages of this process's own memory; has no effect where the kernel cannot."""
    for begin, end in list(_own_memory()):
        begin, end = -(-begin // HUGE) * HUGE, end // HUGE * HUGE
        if begin < end:
            for advice in (MADV_HUGEPAGE, MADV_COLLAPSE):
                libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), advice)


def _own_memory() -> Iterator[tuple[int, int]]:
    """The ranges of private writable memory that no file is behind."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as lines:
        for line in lines:
            addresses, rights, _, _, inode, *name = line.split(maxsplit=5)
            if rights == "rw-p" and inode == "0" and name not in (["[stack]\n"],):
                begin, end = addresses.split("-")
                yield int(begin, 16), int(end, 16)
