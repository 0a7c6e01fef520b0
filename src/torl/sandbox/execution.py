"""Runs one snippet in one cell, seen from the server: sends it, drains its output, takes the report, sees the cell end.

Differs from ToRL: an endless printer, a crash of the interpreter or a process left behind is an ordinary outcome here.
"""

import asyncio
import base64
import json
import os
import signal
from contextlib import suppress
from typing import Any

from torl.sandbox.capture import Capture
from torl.sandbox.inside.wire import LENGTH, framed
from torl.sandbox.nursery import Cell
from torl.sandbox.snippet import RunResult, RunStatus, Snippet

REPORT_ALLOWANCE_S = 30.0  # over the time-out, which the cell keeps itself, for starting and reporting
END_TIMEOUT_S = 5.0  # for the processes of a killed cell to be gone
READ_BYTES = 64 * 1024
LARGEST_REPORT_BYTES = 32 * 1024 * 1024
FAST_BYTES = 8 * 1024 * 1024  # a snippet that prints more is read with pauses, or it would keep the server busy
PAUSE_S = 0.001
LOST = "the snippet's first process ended without a report"
OUT_OF_MEMORY = "MemoryError: the snippet's processes together used more than {limit} MiB\n"


async def run_in(cell: Cell, snippet: Snippet) -> RunResult:
    """Run ``snippet`` in ``cell``, which is spent afterwards. Never raises for what the snippet does."""
    drains = [_Drain(cell.stdout, snippet.limits.output_bytes), _Drain(cell.stderr, snippet.limits.output_bytes)]
    try:
        report = await _report(cell, snippet)
        _kill(cell)
        ended = await _ended(cell)
        for drain in drains:
            drain.finish()
    finally:
        for drain in drains:
            drain.stop()
        _kill(cell)
    if not ended:
        report = {"error": f"processes of the snippet are left {END_TIMEOUT_S:.0f} s after they were killed"}
    return _result(report, snippet, *(drain.capture for drain in drains))


async def _report(cell: Cell, snippet: Snippet) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(snippet.limits.run_timeout_s + REPORT_ALLOWANCE_S):
            await loop.sock_sendall(cell.connection, framed(_request(snippet)))
            return await _receive(cell) or {"error": LOST}
    except TimeoutError:
        return {"error": "the snippet's first process does not answer"}
    except (OSError, ValueError) as error:
        return {"error": f"{LOST} ({error})"}


async def _receive(cell: Cell) -> dict[str, Any] | None:
    loop = asyncio.get_running_loop()
    data = bytearray()
    while len(data) < LENGTH.size or len(data) < LENGTH.size + LENGTH.unpack_from(data)[0]:
        part = await loop.sock_recv(cell.connection, READ_BYTES)
        if not part:
            return None
        data += part
        if len(data) > LARGEST_REPORT_BYTES:
            raise ValueError("the report has no end")
    report = json.loads(data[LENGTH.size :])
    if not isinstance(report, dict):
        raise ValueError("the report is none")
    return report


def _request(snippet: Snippet) -> dict[str, Any]:
    limits = snippet.limits
    return {
        "code": snippet.code,
        "stdin": snippet.stdin,
        "files": {path: base64.b64encode(content).decode() for path, content in snippet.files.items()},
        "fetch_files": list(snippet.fetch_files),
        "timeout": limits.run_timeout_s,
        "limits": {
            "memory": limits.memory_mb << 20,
            "cpu": int(limits.run_timeout_s) + 1,
            "file_size": limits.disk_mb << 20,
            "open_files": limits.open_files,
            "processes": limits.processes,
        },
    }


def _kill(cell: Cell) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(cell.process, signal.SIGKILL)


async def _ended(cell: Cell) -> bool:
    """Whether the first process, and with it its namespace, is gone in time."""
    if cell.ended:
        return True
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(cell.process, gone.set)
    try:
        async with asyncio.timeout(END_TIMEOUT_S):
            await gone.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(cell.process)
    return True


class _Drain:
    """Reads one stream as it comes."""

    def __init__(self, descriptor: int, capacity: int) -> None:
        self.capture = Capture(capacity)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._loop.add_reader(descriptor, self._read)

    def finish(self) -> None:
        """Read what is left when nobody writes any more."""
        self.stop()
        while self._take():
            pass

    def stop(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self._descriptor)
        if self._pause is not None:
            self._pause.cancel()

    def _read(self) -> None:
        if not self._take():
            self._loop.remove_reader(self._descriptor)
        elif self.capture.total > FAST_BYTES:
            self._loop.remove_reader(self._descriptor)
            self._pause = self._loop.call_later(PAUSE_S, self._loop.add_reader, self._descriptor, self._read)

    def _take(self) -> bool:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return False
        self.capture.feed(data)
        return bool(data)


def _result(report: dict[str, Any], snippet: Snippet, out: Capture, err: Capture) -> RunResult:
    if "error" in report:
        return RunResult(status=RunStatus.ERROR, error=f"the sandbox could not run the snippet: {report['error']}")
    result = RunResult(
        status=RunStatus.TIME_LIMIT if report["ending"] == "timed_out" else RunStatus.FINISHED,
        stdout=out.text(),
        stderr=err.text(),
        return_code=None if report["ending"] == "timed_out" else report["return_code"],
        seconds=report["seconds"],
        cpu_seconds=report["cpu_seconds"],
        truncated=bool(out.left_out or err.left_out),
        output_bytes=out.total + err.total,
        files={path: base64.b64decode(content) for path, content in report["files"].items()},
    )
    if report["ending"] == "memory":
        result.return_code = 1
        result.stderr += OUT_OF_MEMORY.format(limit=snippet.limits.memory_mb)
    return result
