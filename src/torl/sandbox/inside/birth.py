"""Starts the first process of a cell, at the price of one fork of a large process.

A snippet must not be process 1 of its namespaces: that one survives signals of its own, which would turn a crash into a
success. So a paused process, the *anchor*, is number 1 and holds the namespaces; it shares the maker's memory and costs
next to nothing. A short-lived process, which shares it too, enters them and forks: its child is number 2, inside, with a
copy of the memory. Ended by the kernel or by the server, the anchor takes everything inside with it.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from . import kernel

SNIPPET_STACK_BYTES = 8 * 1024 * 1024  # the snippet's own, which it gets as a copy
ANCHOR_STACK_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """Process 1 of a cell's namespaces."""

    pid: int
    pidfd: int
    stack: kernel.Stack

    def kill(self) -> None:
        """End it, and everything in its namespaces."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class Born:
    """The processes of a new cell, children of the caller both."""

    pid: int
    pidfd: int
    anchor: Anchor | None
    """None without namespaces."""


class Birthplace:
    """Where cells are born, in new ``namespaces`` (clone flags) if any; for a process with one thread."""

    def __init__(self, namespaces: int) -> None:
        self._namespaces = namespaces
        self._stack = kernel.Stack(SNIPPET_STACK_BYTES)
        self._free_stacks: list[kernel.Stack] = []
        # The anchor has no use for a handler of Python's, and a snippet could set it off.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if namespaces:
            # The anchors share this process's memory: it is nothing for snippets, which have the same user id.
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        # Takes over the child of the process that ends at once; without namespaces, what snippets leave behind.
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)

    def fork(self, live: Callable[[], NoReturn]) -> Born:
        """Start a process that does ``live``.

        Raises:
            OSError: the kernel refuses.
        """
        anchor = self._new_anchor() if self._namespaces else None
        pids: list[int] = []

        def fork_inside() -> None:
            kernel.enter_namespaces(anchor.pidfd, self._namespaces)
            pids.append(_fork(live))

        try:
            if anchor:
                kernel.call_in_another_process(fork_inside, self._stack)
            else:
                pids.append(_fork(live))
            return Born(pid=pids[0], pidfd=os.pidfd_open(pids[0]), anchor=anchor)
        except OSError:
            self._take_back(pids, anchor)
            raise

    def bury(self, anchor: Anchor) -> None:
        """Collect an anchor that has ended."""
        os.waitpid(anchor.pid, 0)
        os.close(anchor.pidfd)
        self._free_stacks.append(anchor.stack)

    def _take_back(self, pids: list[int], anchor: Anchor | None) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        if anchor:
            anchor.kill()
            self.bury(anchor)

    def _new_anchor(self) -> Anchor:
        if not self._free_stacks:
            self._free_stacks.append(kernel.Stack(ANCHOR_STACK_BYTES))
        stack = self._free_stacks[-1]
        pid, pidfd = kernel.start_paused(self._namespaces, stack)
        self._free_stacks.pop()
        return Anchor(pid=pid, pidfd=pidfd, stack=stack)


def _fork(live: Callable[[], NoReturn]) -> int:
    pid = os.fork()
    if pid == 0:
        live()
    return pid
