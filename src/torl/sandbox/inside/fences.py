"""What each tier puts around a cell, from inside the cell's own process.

Tier 1: user, process, mount and IPC namespaces of its own, an empty folder in memory, a seccomp filter.
Tier 2: Landlock and a seccomp filter that forbids new processes, for machines without user namespaces.
Tier 3: nothing but the resource limits that every snippet has.
"""

import os
import signal
from dataclasses import dataclass
from functools import partial

from . import kernel, landlock
from .cell import Fence

USER_INSIDE = 1000
WORK_FOLDER = "/tmp"
SHARED_MEMORY_BYTES = 16 * 1024 * 1024
FILES_IN_FOLDER = 10_000  # bounds the kernel memory of empty files
PRIVATE = kernel.MS_NOSUID | kernel.MS_NODEV


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the server tells the zygote about the fence."""

    tier: int
    user: int
    group: int
    """The ids that all runs under, as the zygote sees them: a cell sees them no more until it has mapped them."""
    seccomp: bytes
    """BPF instructions; empty in tier 3."""
    disk_bytes: int
    """Size of the working folder in tier 1."""
    readable: tuple[str, ...]
    """Folders and files that a snippet may read in tier 2."""
    writable: tuple[str, ...]
    """Devices that a snippet may write in tier 2."""
    preloaded_bytes: int
    """Address space of the zygote."""


# Not the network: the zygote's is empty, and the filter allows no socket that could meet another in there.
NAMESPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC


def namespaces_of(tier: int) -> int:
    """Clone flags for the namespaces of a cell."""
    return NAMESPACES if tier == 1 else 0


def fence_of(settings: Settings, folder: str) -> Fence:
    """The fence of ``settings``; ``folder`` is the cell's working folder in tiers 2 and 3."""
    own = settings.tier == 1
    return Fence(
        close=partial(_fill_namespaces, settings) if own else partial(_close_in_place, settings, folder),
        counts_processes=own,
        preloaded_bytes=settings.preloaded_bytes,
    )


def _fill_namespaces(settings: Settings) -> str:
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # or its own entries in /proc were root's
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{USER_INSIDE} {settings.user} 1")
    _write("/proc/self/gid_map", f"{USER_INSIDE} {settings.group} 1")
    # Signals to "my process group" would reach the zygote and every other cell.
    os.setsid()
    size = f"mode=0700,nr_inodes={FILES_IN_FOLDER},size="
    kernel.mount("tmpfs", WORK_FOLDER, PRIVATE, size + str(settings.disk_bytes))
    kernel.mount("tmpfs", "/dev/shm", PRIVATE | kernel.MS_NOEXEC, size + str(SHARED_MEMORY_BYTES))
    kernel.mount("proc", "/proc", PRIVATE | kernel.MS_NOEXEC | kernel.MS_RDONLY)
    os.chdir(WORK_FOLDER)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.filter_system_calls(settings.seccomp)
    return WORK_FOLDER


def _close_in_place(settings: Settings, folder: str) -> str:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    os.mkdir(folder, 0o700)
    os.chdir(folder)
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    if settings.tier == 2:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict(settings.readable, (folder, *settings.writable))
        kernel.filter_system_calls(settings.seccomp)
        kernel.signal_self_only()
    return folder


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
