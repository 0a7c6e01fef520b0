"""Memory of a snippet that has several processes, which no limit of the kernel bounds together without control groups."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def process_of(pidfd: int) -> int:
    """The id of the process behind ``pidfd``; -1 when it has ended."""
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_bytes().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(b"Pid:")), -1)


def used_by_several(snippet: int, root: int) -> int:
    """Bytes that a snippet's processes use together: itself, what it started, and orphans, which its ``root`` gets.

    0 when there is just one process: that one has a limit of its own.
    """
    others = list(_below((snippet, root)))
    return sum(_used_by(pid) for pid in (snippet, *others)) if others else 0


def _below(pids: Iterable[int]) -> Iterator[int]:
    for pid in pids:
        children = _children(pid)
        yield from children
        yield from _below(children)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
    except OSError:
        return found  # it has ended
    return found


def _used_by(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except OSError:
        return _resident(pid)  # it has ended, or is one that hides its maps


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
    except OSError:
        return 0
