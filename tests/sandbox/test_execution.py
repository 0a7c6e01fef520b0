"""The server's side of one run: what the cell printed is complete, and a lost cell is an error."""

import asyncio
import os
import socket

from torl.sandbox.execution import _Drain, run_in
from torl.sandbox.nursery import Cell
from torl.sandbox.snippet import RunResult, RunStatus, Snippet


def test_what_is_still_in_the_pipe_at_the_end_is_read() -> None:
    async def run() -> str:
        read, write = os.pipe()
        os.set_blocking(read, False)
        drain = _Drain(read, 1000)
        os.write(write, b"all of it")
        os.close(write)
        drain.finish()
        os.close(read)
        return drain.capture.text()

    assert asyncio.run(run()) == "all of it"


def run_in_fake_cell(report: bytes) -> RunResult:
    """Run a snippet in a cell that says ``report`` and ends."""

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
        theirs.sendall(report)
        theirs.shutdown(socket.SHUT_WR)
        for descriptor in (out_write, err_write):
            os.close(descriptor)
        cell = Cell(connection=ours, stdout=out_read, stderr=err_read, process=process, folder="")
        try:
            return await run_in(cell, Snippet(code="print(1)"))
        finally:
            cell.close()
            theirs.close()
            os.waitpid(child, 0)

    return asyncio.run(run())


def test_a_cell_that_ends_without_a_report_is_an_error() -> None:
    result = run_in_fake_cell(b"")
    assert (result.status, "without a report" in result.error) == (RunStatus.ERROR, True)


def test_a_report_that_is_none_is_an_error() -> None:
    for report in (b"\0\0\0\x02{", b"\0\0\0\x01{", b"\xff\xff\xff\xff{}", b"\0\0\0\x013"):
        assert run_in_fake_cell(report).status is RunStatus.ERROR


def test_a_report_of_what_could_not_be_done_is_an_error_with_its_words() -> None:
    body = b'{"error": "no room"}'
    result = run_in_fake_cell(len(body).to_bytes(4, "big") + body)
    assert (result.status, result.error) == (RunStatus.ERROR, "the sandbox could not run the snippet: no room")
