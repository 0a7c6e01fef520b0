"""Memory of a snippet that has several processes, which no limit of the kernel bounds together without control groups."""

import os
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
INIT = "1"


def used_by_several(deadline: float) -> int:
    """Bytes that the processes of this namespace use together, the first one aside, as far as they are looked at
    before ``deadline``; 0 when there is just one: that one has a limit of its own."""
    pids = [name for name in os.listdir("/proc") if name.isdigit() and name != INIT]
    if len(pids) < 2:
        return 0
    return sum(_used_by(pid) for pid in pids if time.monotonic() < deadline)


def _used_by(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as lines:
            return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except OSError:
        return _resident(pid)  # it has ended, or is one that hides its maps


def _resident(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as line:
            return int(line.read().split()[1]) * PAGE
    except OSError:
        return 0
