"""Questions answered by child processes that are killed when they take too long.

A child is ``python -m MODULE``, started by exec, whose ``main`` calls ``serve``: one JSON line out for each JSON line
in. No signals and no forked threads, so ``Children`` works in any thread, inside a Ray actor and under any event loop.

A child asks the kernel to be killed when the thread that started it ends (PR_SET_PDEATHSIG), as nothing else stops one
that computes in C after its owner was killed. Only threads that ``Children`` owns start children, and they live until
``close``: which thread asks, and for how long it lives, does not matter.
"""

import ctypes
import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import torl
from torl.errors import GraderError

START_TIMEOUT_S = 120.0  # loading the computer algebra takes a second or two, far longer on a machine under load
STDERR_TAIL = 1000  # characters
READ_BYTES = 65536
READY = b'"ready"\n'
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Trouble(StrEnum):
    """Why a question has no answer. The child is gone; the next question gets a new one."""

    TIMEOUT = "timeout"
    """The child was killed at the deadline."""
    CRASHED = "crashed"
    """The child ended by itself or was killed by someone else."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back for one question."""

    value: Any
    """The child's answer, as JSON holds it; None where there was trouble."""
    trouble: Trouble | None
    """None where the child answered."""
    seconds: float
    """From when the child was given the question."""


class Children:
    """Up to ``workers`` processes of a module. Each starts when a question needs it, and again after it was killed."""

    def __init__(self, module: str, *, workers: int) -> None:
        self._module = module
        self._idle: queue.SimpleQueue[_Child | None] = queue.SimpleQueue()
        for _ in range(workers):
            self._idle.put(None)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix=module)

    def ask(self, question: Any, *, deadline_s: float) -> Future[Reply]:
        """Put a question, which JSON can hold, to the next free child.

        Args:
            deadline_s: seconds from when a child is given the question; waiting for a child does not count.

        Returns:
            The reply to come. It raises ``GraderError`` when no child can be started.
        """
        return self._threads.submit(self._ask, question, deadline_s)

    def close(self) -> None:
        """Drop the questions that wait, let the others finish, and end the processes."""
        self._threads.shutdown(cancel_futures=True)
        for _ in range(self._idle.qsize()):
            child = self._idle.get()
            if child is not None:
                child.end()
            self._idle.put(None)

    def _ask(self, question: Any, deadline_s: float) -> Reply:
        child = self._idle.get()
        try:
            child = child or _Child(self._module)
            reply = child.ask(question, deadline_s)
            if reply.trouble is not None:
                child.end()
                child = None
        finally:
            self._idle.put(child)
        return reply


class _Child:
    """One process that is ready for questions."""

    def __init__(self, module: str) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by end()
        paths = [str(Path(torl.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        )
        os.set_blocking(self._process.stdin.fileno(), False)
        trouble = self._trouble_at_start()
        if trouble:
            self._log.seek(0)
            tail = self._log.read().decode(errors="replace")[-STDERR_TAIL:].strip()
            self.end()
            raise GraderError(
                f"the process `{sys.executable} -m {module}` did not start: {trouble}, and wrote {tail or 'no message'}; "
                "install the package again, or free the machine."
            )

    def _trouble_at_start(self) -> str | None:
        try:
            line = self._exchange(b"", START_TIMEOUT_S)
        except TimeoutError:
            return f"it was not ready within {START_TIMEOUT_S:.0f} s"
        except EOFError:
            return "it ended"
        return None if line == READY else f"it said {line!r} instead of {READY!r}"

    def ask(self, question: Any, deadline_s: float) -> Reply:
        begin = time.perf_counter()
        value, trouble = None, None
        try:
            value = json.loads(self._exchange(json.dumps(question).encode() + b"\n", deadline_s))
        except TimeoutError:
            trouble = Trouble.TIMEOUT
        except (EOFError, BrokenPipeError):
            trouble = Trouble.CRASHED
        return Reply(value=value, trouble=trouble, seconds=time.perf_counter() - begin)

    def end(self) -> None:
        """Kill the process and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()

    def _exchange(self, question: bytes, timeout_s: float) -> bytes:
        """Write ``question`` while reading one line.

        Raises:
            TimeoutError: the line did not come in time.
            EOFError, BrokenPipeError: the process is gone.
        """
        end, reply = time.monotonic() + timeout_s, b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if question:
                selector.register(self._process.stdin, selectors.EVENT_WRITE)
            while not reply.endswith(b"\n"):
                ready = selector.select(max(0.0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError
                if any(key.fileobj is self._process.stdout for key, _ in ready):
                    reply += self._read()
                elif not (question := question[os.write(self._process.stdin.fileno(), question) :]):
                    selector.unregister(self._process.stdin)
        return reply

    def _read(self) -> bytes:
        chunk = os.read(self._process.stdout.fileno(), READ_BYTES)
        if not chunk:
            raise EOFError
        return chunk


def end_with_owner() -> None:
    """Ask the kernel to kill this process when the thread that started it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def serve(answer: Callable[[Any], Any], *, prepare: Callable[[], object]) -> None:
    """The main loop of a child: ``prepare``, say that it is ready, then ``answer`` each question until there are none.

    Whatever else the child writes to standard output goes to standard error. An exception ends the child.
    """
    end_with_owner()
    if os.getppid() != int(sys.argv[1]):
        return  # the owner ended before the kernel was asked
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who closes the input
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        prepare()
        replies.write(READY.decode())
        replies.flush()
        for line in sys.stdin:
            replies.write(json.dumps(answer(json.loads(line))) + "\n")
            replies.flush()
