"""The server's side of one run: what the cell printed is complete, and a lost cell is an error."""

import asyncio
import os
import socket
from types import SimpleNamespace

import pytest

from torl.sandbox import execution
from torl.sandbox.drain import Drain
from torl.sandbox.execution import run_in
from torl.sandbox.inside.wire import framed
from torl.sandbox.nursery import Cell
from torl.sandbox.snippet import RunResult, RunStatus, Snippet


def test_what_is_still_in_the_pipe_at_the_end_is_read() -> None:
    async def run() -> str:
        read, write = os.pipe()
        os.set_blocking(read, False)
        drain = Drain(read, 1000)
        os.write(write, b"all of it")
        os.close(write)
        drain.finish()
        os.close(read)
        return drain.capture.text()

    assert asyncio.run(run()) == "all of it"


def run_in_fake_cell(words: bytes) -> RunResult:
    """Run a snippet in a cell that says ``words`` and ends."""

    async def run() -> RunResult:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe()
        for descriptor in (out_read, err_read):
            os.set_blocking(descriptor, False)
        child = os.fork()
        if child == 0:
            os._exit(0)
        process = os.pidfd_open(child)
        theirs.sendall(words)
        theirs.shutdown(socket.SHUT_WR)
        for descriptor in (out_write, err_write):
            os.close(descriptor)
        cell = Cell(connection=ours, stdout=out_read, stderr=err_read, root=process, process=os.dup(process), folder="")
        try:
            return await run_in(cell, Snippet(code="print(1)"))
        finally:
            cell.close()
            theirs.close()
            os.waitpid(child, 0)

    return asyncio.run(run())


def words(*messages: dict[str, object]) -> bytes:
    return b"".join(framed(message) for message in messages)


BEGUN = {"at": 10.0, "cpu": 0.5}
ENDED = {"at": 12.0, "cpu": 0.75, "return_code": 3, "killed_from_outside": False}


def test_a_run_is_told_by_two_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution.time, "monotonic", lambda: 11.0)
    result = run_in_fake_cell(words(BEGUN, ENDED))
    assert (result.status, result.return_code) == (RunStatus.FINISHED, 3)
    assert (result.seconds, result.cpu_seconds) == (2.0, 0.25)


@pytest.mark.parametrize(
    "said", [words(), words(BEGUN), words(BEGUN, ENDED | {"killed_from_outside": True})], ids=["none", "one", "killed"]
)
def test_a_cell_that_is_lost_is_an_error(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution.time, "monotonic", lambda: 11.0)
    result = run_in_fake_cell(said)
    assert (result.status, "without a word" in result.error) == (RunStatus.ERROR, True)


@pytest.mark.parametrize("said", [b"\0\0\0\x02{", b"\0\0\0\x01{", b"\xff\xff\xff\xff{}", b"\0\0\0\x013"])
def test_a_word_that_is_none_is_an_error(said: bytes) -> None:
    assert run_in_fake_cell(said).status is RunStatus.ERROR


def test_a_cell_that_cannot_make_itself_ready_is_an_error_with_its_words() -> None:
    result = run_in_fake_cell(words({"error": "no room"}))
    assert (result.status, result.error) == (RunStatus.ERROR, "the sandbox could not run the snippet: no room")


def test_an_end_that_the_server_saw_too_late_is_no_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution.time, "monotonic", lambda: 21.0)  # the time-out is ten seconds
    in_time, late = (run_in_fake_cell(words(BEGUN, ENDED | {"at": at})) for at in (12.0, 20.5))
    assert (in_time.status, in_time.return_code) == (RunStatus.FINISHED, 3)
    assert (late.status, late.return_code) == (RunStatus.TIME_LIMIT, None)


def test_a_snippet_that_had_all_its_time_has_timed_out_whatever_becomes_of_its_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execution.time, "monotonic", lambda: 21.0)
    result = run_in_fake_cell(words(BEGUN))
    assert (result.status, result.seconds, result.error) == (RunStatus.TIME_LIMIT, 10.0, "")


def test_memory_that_cannot_be_looked_at_costs_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise OSError("no descriptor is left")

    async def no_thread(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    assert asyncio.run(execution._memory_used(SimpleNamespace(process=-1, root=-1))) == 0
    own = os.pidfd_open(os.getpid())
    cell = SimpleNamespace(process=own, root=own)
    monkeypatch.setattr(execution.memory, "used_by_several", broken)
    assert asyncio.run(execution._memory_used(cell)) == 0
    monkeypatch.setattr(execution.memory, "used_by_several", lambda *_: 5)
    monkeypatch.setattr(execution.asyncio, "to_thread", no_thread)
    assert asyncio.run(execution._memory_used(cell)) == 5
    os.close(own)
