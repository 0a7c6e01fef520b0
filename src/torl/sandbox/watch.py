"""Follows one started process to its end: drains its output, keeps its time, ends everything that it started."""

import ctypes
import os
import selectors
import signal
import subprocess
import time
from contextlib import closing, suppress
from pathlib import Path

from torl.sandbox.capture import Capture
from torl.sandbox.limits import Limits
from torl.sandbox.snippet import RunResult, RunStatus

START_TIMEOUT_S = 30.0  # from process start to the snippet's first instruction; tens of milliseconds on an idle machine
DRAIN_TIMEOUT_S = 1.0  # for processes to end and pipes to close after the kill
READ_BYTES = 64 * 1024
SIGNAL_BASE = 128  # bubblewrap, like a shell, reports death by signal N as exit code 128 + N
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Watch:
    """Watches one process: its two streams, its start report and its end."""

    def __init__(self, process: subprocess.Popen[bytes], started: int, limits: Limits) -> None:
        self._process = process
        self._started_fd = started
        self._limits = limits
        self._captures = {
            process.stdout.fileno(): Capture(limits.output_bytes),
            process.stderr.fileno(): Capture(limits.output_bytes),
        }
        self._begin: float | None = None
        self._namespace: int | None = None
        """A pidfd of the first process of the snippet's namespace; with it everything inside ends."""
        self._deadline = time.monotonic() + START_TIMEOUT_S

    def until_end(self) -> RunResult:
        end_fd = os.pidfd_open(self._process.pid)
        try:
            with closing(selectors.EpollSelector()) as selector:
                for descriptor in (*self._captures, self._started_fd, end_fd):
                    selector.register(descriptor, selectors.EVENT_READ)
                ended = self._follow(selector, end_fd)
                end = time.monotonic()
                self._end_namespace()
                self._drain(selector)
        finally:
            os.close(end_fd)
            if self._namespace is not None:
                os.close(self._namespace)
        return self._result(ended, end)

    def _follow(self, selector: selectors.BaseSelector, end_fd: int) -> bool:
        """Read until the process ends (true) or its deadline passes (false)."""
        while (left := self._deadline - time.monotonic()) > 0:
            ready = {key.fd for key, _ in selector.select(left)}
            if self._started_fd in ready:
                self._note_start(selector)
            for descriptor in ready & self._captures.keys():
                self._read(selector, descriptor)
            if end_fd in ready:
                selector.unregister(end_fd)
                return True
        selector.unregister(end_fd)
        return False

    def _note_start(self, selector: selectors.BaseSelector) -> None:
        selector.unregister(self._started_fd)
        with suppress(ConnectionError):  # killed while it was starting
            if os.read(self._started_fd, 1):
                self._namespace = _pidfd_of_child(self._process.pid)
                os.write(self._started_fd, b"1")
                self._begin = time.monotonic()
                self._deadline = self._begin + self._limits.run_timeout_s

    def _read(self, selector: selectors.BaseSelector, descriptor: int) -> None:
        data = os.read(descriptor, READ_BYTES)
        self._captures[descriptor].feed(data)
        if not data:
            selector.unregister(descriptor)

    def _end_namespace(self) -> None:
        """End every process of the snippet and wait until none is left."""
        if self._namespace is None:
            kill_group(self._process)
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._namespace, signal.SIGKILL)
        with closing(selectors.EpollSelector()) as selector:
            selector.register(self._namespace, selectors.EVENT_READ)
            selector.select(DRAIN_TIMEOUT_S)
        with suppress(ChildProcessError):
            # Bubblewrap often ends first and leaves the dead process to us; not every init collects it (see
            # adopt_orphans).
            os.waitid(os.P_PIDFD, self._namespace, os.WEXITED | os.WNOHANG)

    def _drain(self, selector: selectors.BaseSelector) -> None:
        """Read what is left in the pipes; they close when the last process of the snippet is gone."""
        deadline = time.monotonic() + DRAIN_TIMEOUT_S
        if self._started_fd in selector.get_map():
            selector.unregister(self._started_fd)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                self._read(selector, key.fd)

    def _result(self, ended: bool, end: float) -> RunResult:
        out, err = self._captures.values()
        if self._begin is None:
            reason = err.text().strip() or f"it did not start within {START_TIMEOUT_S:.0f} s"
            return RunResult(status=RunStatus.ERROR, error=f"the sandbox could not start the snippet: {reason}")
        return RunResult(
            status=RunStatus.FINISHED if ended else RunStatus.TIME_LIMIT,
            stdout=out.text(),
            stderr=err.text(),
            return_code=_return_code(self._process.wait()) if ended else None,
            seconds=max(0.0, end - self._begin),
            truncated=bool(out.left_out or err.left_out),
            output_bytes=out.total + err.total,
        )


def _return_code(code: int) -> int:
    """-N for death by signal N, as subprocess and SandboxFusion have it."""
    return SIGNAL_BASE - code if SIGNAL_BASE < code <= SIGNAL_BASE + signal.NSIG else code


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started: by its namespace under bubblewrap, by its session otherwise."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def _pidfd_of_child(pid: int) -> int | None:
    """A pidfd of the only child of ``pid``; None when it has none (it ran the snippet itself, or is over already)."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return os.pidfd_open(int(children[0])) if children else None
    except OSError:
        return None


def adopt_orphans() -> None:
    """Make this process the parent of the orphans below it, so that a runner can collect them."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
