"""Runs one snippet in one cell, seen from the server: sends it, drains its output, ends it, sees the cell empty.

Differs from ToRL: an endless printer, a crash of the interpreter or a process left behind is an ordinary outcome here.
"""

import asyncio
import base64
import logging
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torl.sandbox import memory
from torl.sandbox.capture import Capture
from torl.sandbox.drain import Drain
from torl.sandbox.inside.wire import framed
from torl.sandbox.nursery import Cell
from torl.sandbox.snippet import RunResult, RunStatus, Snippet
from torl.sandbox.words import Words, readable

BEGIN_TIMEOUT_S = 30.0  # for a cell to take a request and make itself ready
END_TIMEOUT_S = 5.0  # for the processes of a killed cell to be gone
LOOK_S = 0.05  # between looks at the memory of a snippet's processes
LOOK_SHARE = 0.1  # of the time at most goes into looking
LOST = "the cell ended without a word"
LEFT = "processes of a snippet are left %.0f s after they were killed"
OUT_OF_MEMORY = "MemoryError: the snippet's processes together used more than {limit} MiB\n"

logger = logging.getLogger(__name__)


class _Stop(StrEnum):
    """Why the server ended a snippet."""

    TIME = "time-out"
    MEMORY = "memory of several processes"


@dataclass(kw_only=True)
class _Course:
    """What is known of a run."""

    begun: dict[str, Any] | None = None
    ended: dict[str, Any] | None = None
    stop: _Stop | None = None
    deadline: float = 0.0
    error: str = ""

    @property
    def problem(self) -> str:
        """Why it was none; empty for one that came to its end."""
        if self.stop is not None:
            return ""  # whatever became of it then, the snippet has had its time or its memory
        if self.error or self.begun is None:
            return self.error or LOST
        return LOST if self.ended is None or self.ended["killed_from_outside"] else ""

    @property
    def timed_out(self) -> bool:
        """Whether the snippet ran until its time was over; its end may have come while the server was looking away."""
        return self.stop is _Stop.TIME and (self.ended is None or self.ended["at"] > self.deadline)


async def run_in(cell: Cell, snippet: Snippet) -> RunResult:
    """Run ``snippet`` in ``cell``, which is spent afterwards. Never raises for what the snippet does."""
    drains = [Drain(cell.stdout, snippet.limits.output_bytes), Drain(cell.stderr, snippet.limits.output_bytes)]
    words = Words(cell.connection)
    course = _Course()
    try:
        await _run(cell, words, snippet, course)
        cell.kill()
        await _empty(cell, words, course)
        for drain in drains:
            drain.finish()
        return _result(course, snippet, *(drain.capture for drain in drains), words)
    finally:
        for drain in drains:
            drain.stop()
        words.close()
        cell.kill()


async def _run(cell: Cell, words: Words, snippet: Snippet, course: _Course) -> None:
    try:
        async with asyncio.timeout(BEGIN_TIMEOUT_S):
            await asyncio.get_running_loop().sock_sendall(cell.connection, framed(_request(snippet)))
            course.begun = await words.next()
        if course.begun is not None and "error" not in course.begun:
            await _follow(cell, words, snippet, course)
        elif course.begun is not None:
            course.error = course.begun["error"]
    except TimeoutError:
        course.error = "the cell does not answer"
    except (OSError, ValueError) as error:
        course.error = f"{LOST} ({error})"


async def _follow(cell: Cell, words: Words, snippet: Snippet, course: _Course) -> None:
    """Wait for the end of a snippet that has begun, or for the end of its time or memory."""
    deadline = course.deadline = course.begun["at"] + snippet.limits.run_timeout_s
    end = asyncio.ensure_future(words.next())
    excess = asyncio.ensure_future(_excess(cell, snippet.limits.memory_mb << 20))
    try:
        left = max(0.0, deadline - time.monotonic())
        await asyncio.wait((end, excess), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if end.done():
            course.ended = end.result()
            course.stop = _Stop.TIME if time.monotonic() >= deadline else None
        elif excess.done():
            excess.result()
            course.stop = _Stop.MEMORY
        else:
            course.stop = _Stop.TIME
    finally:
        end.cancel()
        excess.cancel()
        await asyncio.wait((end, excess))  # until both have let go of the cell


async def _excess(cell: Cell, limit: int) -> None:
    """Wait until a snippet's processes use more than ``limit`` bytes together."""
    pause = LOOK_S
    while True:
        await asyncio.sleep(pause)
        looked = time.monotonic()
        if await _memory_used(cell) > limit:
            return
        pause = max(LOOK_S, (time.monotonic() - looked) / LOOK_SHARE)


async def _memory_used(cell: Cell) -> int:
    """As ``memory.used_by_several``; 0 when it cannot be known."""
    try:
        snippet, root = memory.process_of(cell.process), memory.process_of(cell.root)
        try:
            # In a thread, since the kernel can take its time over a large process.
            return await asyncio.to_thread(memory.used_by_several, snippet, root)
        except RuntimeError:  # no thread can be started: snippets may have used up what the user may have of them
            return memory.used_by_several(snippet, root)
    except OSError:
        return 0


async def _empty(cell: Cell, words: Words, course: _Course) -> None:
    """Wait until nothing is left of a killed cell, and take the last word."""
    try:
        async with asyncio.timeout(END_TIMEOUT_S):
            while (word := await words.next()) is not None:  # the maker of cells closes when it has cleared up
                course.ended = word
            await readable(cell.root)
    except TimeoutError:
        # No reason to run the snippet again: it would do the same.
        logger.warning(LEFT, END_TIMEOUT_S)
    except (OSError, ValueError) as error:
        course.error = course.error or f"{LOST} ({error})"


def _request(snippet: Snippet) -> dict[str, Any]:
    limits = snippet.limits
    return {
        "code": snippet.code,
        "stdin": snippet.stdin,
        "files": {path: base64.b64encode(content).decode() for path, content in snippet.files.items()},
        "fetch_files": bool(snippet.fetch_files),
        "limits": {
            "memory": limits.memory_mb << 20,
            "cpu": int(limits.run_timeout_s) + 1,
            "file_size": limits.disk_mb << 20,
            "open_files": limits.open_files,
            "processes": limits.processes,
        },
    }


def _result(course: _Course, snippet: Snippet, out: Capture, err: Capture, words: Words) -> RunResult:
    if course.problem:
        return RunResult(status=RunStatus.ERROR, error=f"the sandbox could not run the snippet: {course.problem}")
    begun, timed_out = course.begun, course.timed_out
    ended = course.ended or {"at": course.deadline, "cpu": begun["cpu"], "return_code": None}
    result = RunResult(
        status=RunStatus.TIME_LIMIT if timed_out else RunStatus.FINISHED,
        stdout=out.text(),
        stderr=err.text(),
        return_code=None if timed_out else ended["return_code"],
        seconds=ended["at"] - begun["at"],
        cpu_seconds=ended["cpu"] - begun["cpu"],
        truncated=bool(out.left_out or err.left_out),
        output_bytes=out.total + err.total,
        files=words.fetched(snippet.fetch_files),
    )
    if course.stop is _Stop.MEMORY:
        result.return_code = 1
        result.stderr += OUT_OF_MEMORY.format(limit=snippet.limits.memory_mb)
    return result
