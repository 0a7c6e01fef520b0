"""Removes the working folders of tiers 2 and 3, however deep and however full a snippet left them.

By the system's ``rm``: Python's own removal keeps a descriptor and a frame for each level, and a snippet can nest more
folders than either allows.
"""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

ATTEMPTS, PAUSE_S = 20, 0.05  # killed processes may still write for a moment
_beside = ThreadPoolExecutor(1, thread_name_prefix="remove")


def remove(folder: str) -> None:
    """Remove ``folder``; what cannot be removed is left."""
    with suppress(OSError):
        subprocess.run(["rm", "-rf", "--", folder], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def remove_surely(folder: str) -> None:
    """Remove ``folder``, also when those who write into it are only just ending."""
    for _ in range(ATTEMPTS):
        remove(folder)
        if not Path(folder).exists():
            return
        time.sleep(PAUSE_S)


def remove_later(folder: str) -> None:
    """Remove ``folder`` beside the caller, which a million files would keep busy for long."""
    try:
        _beside.submit(remove, folder)
    except RuntimeError:  # no thread can be started
        remove(folder)
