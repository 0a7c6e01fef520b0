"""Processes that a test started, and whether the sandbox still works after what it did."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from torl.sandbox.snippet import RunResult


def children(pid: int) -> set[int]:
    """Processes that ``pid`` started."""
    return {int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()}


def processes_below(pid: int) -> list[int]:
    """Processes that ``pid`` started, and those that they did."""
    found = []
    for child in sorted(children(pid)):
        found += [child, *processes_below(child)]
    return found


def processes_with(word: str) -> list[str]:
    """Processes of the machine, but for this one, with ``word`` in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it ended meanwhile
        if word.encode() in command and int(folder.name) != os.getpid():
            found.append(folder.name)
    return found


def assert_works(run: Callable[..., RunResult]) -> None:
    """A snippet that is known to be good still is."""
    assert run("print(6 * 7)").stdout == "42\n"


def settled(count: Callable[[], int]) -> int:
    """What ``count`` gives once it gives the same for a while: cells are made while others end."""
    current, same = count(), 0
    while same < 3:
        time.sleep(0.05)
        previous, current = current, count()
        same = same + 1 if current == previous else 0
    return current
