"""Grades answers without ever hanging: cheap rules here, the rest in processes that are killed at a deadline.

Works in any thread, inside a Ray actor and under any event loop: no signals, and the processes are started by exec.

Differs from ToRL: there, time-outs are signals that do not fire outside the main thread, and an error counts as wrong.
"""

import asyncio
import json
import os
import queue
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torl
from torl.errors import GraderError
from torl.grading.equality import quick

DEADLINE_S = 10.0
START_TIMEOUT_S = 120.0  # loading the computer algebra takes a second or two, far longer on a machine under load
CACHE_ENTRIES = 100_000
TIMEOUT_RULE = "grader_timeout"
CRASH_RULE = "grader_crashed"
STDERR_TAIL = 1000  # characters


@dataclass(frozen=True, kw_only=True)
class Grade:
    """The grader's judgement of one answer."""

    correct: bool | None
    """None where the grader could not decide: it ran out of time or crashed. Never to be counted as wrong."""
    rule: str
    """What decided."""
    seconds: float
    """Time that the comparison took; 0.0 from the cache."""


@dataclass
class Grader:
    """Compares answers with gold answers. Processes start when the first pair needs one."""

    workers: int = field(default=2, kw_only=True)
    """Processes at most."""
    deadline_s: float = field(default=DEADLINE_S, kw_only=True)
    """Seconds for one comparison, counted from when a process begins it."""

    def __post_init__(self) -> None:
        self._cache: OrderedDict[tuple[str, str], Grade] = OrderedDict()
        self._lock = threading.Lock()
        self._idle: queue.SimpleQueue[_Process | None] = queue.SimpleQueue()
        for _ in range(self.workers):
            self._idle.put(None)
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="grader")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def grade(self, gold: str, answer: str) -> Grade:
        """Grade one answer without blocking the event loop.

        Raises:
            GraderError: the grading process cannot be started at all.
        """
        known = self._known(gold, answer)
        if known is not None:
            return known
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._slow, gold, answer)

    def grade_many(self, pairs: Sequence[tuple[str, str]]) -> list[Grade]:
        """Grade pairs of (gold, answer), in their order.

        Raises:
            GraderError: the grading process cannot be started at all.
        """
        grades = [self._known(*pair) or self._threads.submit(self._slow, *pair) for pair in pairs]
        return [grade if isinstance(grade, Grade) else grade.result() for grade in grades]

    def close(self) -> None:
        """End the processes."""
        self._threads.shutdown(cancel_futures=True)
        for _ in range(self.workers):
            process = self._idle.get()
            if process is not None:
                process.end()
            self._idle.put(None)

    def _known(self, gold: str, answer: str) -> Grade | None:
        """From the cache or by the cheap rules."""
        with self._lock:
            cached = self._cache.get((gold, answer))
        if cached is not None:
            return cached
        begin = time.perf_counter()
        verdict = quick(gold, answer)
        if verdict is None:
            return None
        return Grade(correct=verdict.correct, rule=verdict.rule, seconds=time.perf_counter() - begin)

    def _slow(self, gold: str, answer: str) -> Grade:
        process = self._idle.get()
        try:
            process = process or _Process()
            begin = time.perf_counter()
            reply = process.compare(gold, answer, self.deadline_s)
            seconds = time.perf_counter() - begin
            if isinstance(reply, str):
                process.end()
                process = None
                return Grade(correct=None, rule=reply, seconds=seconds)
        finally:
            self._idle.put(process)
        self._remember(gold, answer, Grade(correct=reply[0], rule=reply[1], seconds=0.0))
        return Grade(correct=reply[0], rule=reply[1], seconds=seconds)

    def _remember(self, gold: str, answer: str, grade: Grade) -> None:
        with self._lock:
            self._cache[gold, answer] = grade
            if len(self._cache) > CACHE_ENTRIES:
                self._cache.popitem(last=False)


class _Process:
    """One grading process."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- closed by end()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "torl.grading.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | {"PYTHONPATH": str(Path(torl.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
        )
        if self._reply(START_TIMEOUT_S) != "ready":
            self._log.seek(0)
            tail = self._log.read()[-STDERR_TAIL:].strip()
            self.end()
            raise GraderError(f"the grading process did not start ({tail or 'no message'}); install the package again.")

    def compare(self, gold: str, answer: str, deadline_s: float) -> tuple[bool, str] | str:
        """The verdict, or the name of what went wrong."""
        try:
            self._process.stdin.write(json.dumps([gold, answer]).encode() + b"\n")
            self._process.stdin.flush()
            reply = self._reply(deadline_s)
        except BrokenPipeError:
            return CRASH_RULE
        if reply is None:
            return CRASH_RULE if self._process.poll() is not None else TIMEOUT_RULE
        return reply[0], reply[1]

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                continue  # a request was still in the buffer
        self._log.close()

    def _reply(self, timeout_s: float) -> Any:
        """The next line of the process; None when none comes in time or the process is gone."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout_s):
                return None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            return None
        return json.loads(line)
