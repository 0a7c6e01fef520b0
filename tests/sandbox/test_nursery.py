"""What dies is made again, and what has ended leaves nothing behind."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.conftest import PoolRunner
from tests.sandbox.processes import assert_works, processes_below, processes_with, settled
from torl.sandbox import nursery
from torl.sandbox.isolation import Isolation, IsolationKind
from torl.sandbox.limits import Limits
from torl.sandbox.memory import process_of
from torl.sandbox.probe import isolation_of
from torl.sandbox.snippet import RunResult, RunStatus, Snippet

Run = Callable[..., RunResult]


def test_no_dead_process_is_left_either(pool: PoolRunner, run: Run) -> None:
    assert_works(run)
    before = settled(lambda: len(processes_below(os.getpid())))
    for code in ("print(1)", "import os\nos.fork()", "while True: pass"):
        run(code, limits=Limits(run_timeout_s=0.5))
    assert settled(lambda: len(processes_below(os.getpid()))) == before


def test_no_file_descriptor_is_left_open(pool: PoolRunner, run: Run) -> None:
    def settled() -> int:
        while len(pool.pool._nursery._ready) < 3:
            pool.wait(asyncio.sleep(0.01))
        return len(os.listdir("/proc/self/fd"))

    run("print(1)")
    before = settled()
    for code in ("print(1)", "1 / 0", "while True: pass"):
        run(code, limits=Limits(run_timeout_s=0.3), fetch_files=["x"])
    assert settled() == before


def test_closing_the_pool_ends_what_is_running(isolation: Isolation) -> None:
    runner = PoolRunner(isolation)
    snippet = Snippet(code="import time\ntime.sleep(60)", limits=Limits(run_timeout_s=60.0))

    async def close_while_running() -> RunResult:
        running = asyncio.create_task(runner.pool.run(snippet))
        while not runner.pool.queue.busy:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        runner.pool.close()
        return (await running)[0]

    begin = time.monotonic()
    assert runner.wait(close_while_running()).status is RunStatus.ERROR
    assert time.monotonic() - begin < 20


def test_without_namespaces_nothing_outlives_the_server_either(marker: str) -> None:
    code = (
        "import subprocess, sys, time\n"
        "for _ in range(2): subprocess.Popen([sys.executable, '-c', 'import os, time; os.fork() or os.setsid(); "
        f"time.sleep(60)', {marker!r}], start_new_session=True)\n"
        "time.sleep(60)"
    )
    runner = PoolRunner(isolation_of(IsolationKind.LIMITS_ONLY))

    async def close_while_running() -> None:
        running = asyncio.create_task(runner.pool.run(Snippet(code=code, limits=Limits(run_timeout_s=60.0))))
        while len(processes_with(marker)) < 4:
            await asyncio.sleep(0.05)
        runner.pool._nursery._control.shutdown(socket.SHUT_RDWR)  # as when the server dies
        while processes_with(marker):
            await asyncio.sleep(0.05)
        await running

    runner.wait(asyncio.wait_for(close_while_running(), 30))
    runner.close()
    assert not Path(runner.pool._nursery._scratch).exists()


@pytest.mark.parametrize("whom", ["maker", "maker's namespace", "first process of a waiting cell"])
def test_the_pool_recovers_from_the_death_of(isolation: Isolation, whom: str) -> None:
    runner = PoolRunner(isolation)
    try:
        for _ in range(3):
            if whom == "maker":
                bubblewrap = runner.pool._nursery._process.pid
                _inner, maker, *_ = processes_below(bubblewrap)
                os.kill(maker, signal.SIGKILL)
            elif whom == "maker's namespace":
                runner.pool._nursery._process.kill()
            else:
                killed = runner.pool._nursery._ready[0]
                killed.kill()
                while killed.usable:
                    runner.wait(asyncio.sleep(0.01))
            results = [runner.run("print(6 * 7)") for _ in range(6)]
            lost = 2 if whom.startswith("maker") else 0  # what runs at that moment
            assert sum(result.stdout == "42\n" for result in results) >= 6 - lost
    finally:
        runner.close()


def test_a_run_whose_first_process_is_killed_is_an_error_and_leaves_nothing(pool: PoolRunner, run: Run) -> None:
    assert_works(run)
    before = settled(lambda: len(processes_below(os.getpid())))

    async def kill_while_running() -> RunResult:
        while not pool.pool._nursery._ready:
            await asyncio.sleep(0.01)
        cell = pool.pool._nursery._ready[0]
        slow = Snippet(code="import os, time\nos.fork()\ntime.sleep(60)", limits=Limits(run_timeout_s=60.0))
        running = asyncio.create_task(pool.pool.run(slow))
        while not processes_below(process_of(cell.process)):
            await asyncio.sleep(0.01)
        cell.kill()
        return (await running)[0]

    result = pool.wait(kill_while_running())
    assert (result.status, "without a word" in result.error) == (RunStatus.ERROR, True)
    assert_works(run)
    assert settled(lambda: len(processes_below(os.getpid()))) == before


def test_a_maker_that_cannot_be_started_again_is_tried_until_it_can(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen, refusals = subprocess.Popen, [True, True]

    def refuse_twice(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        if refusals:
            refusals.pop()
            raise BlockingIOError(11, "no process is left")
        return popen(*arguments, **options)

    runner = PoolRunner(isolation)
    try:
        monkeypatch.setattr(nursery, "RESTART_AFTER_S", 0.05)
        monkeypatch.setattr(subprocess, "Popen", refuse_twice)
        runner.pool._nursery._process.kill()
        runner.wait(asyncio.wait_for(_until(lambda: not refusals and not runner.pool._nursery._problem), 30))
        assert [runner.run("print(6 * 7)").stdout for _ in range(3)][-1] == "42\n"
    finally:
        runner.close()


def test_those_who_stop_waiting_for_a_cell_leave_none_behind(isolation: Isolation) -> None:
    runner = PoolRunner(isolation)
    cells = runner.pool._nursery

    async def stop_waiting() -> None:
        waiting = [asyncio.create_task(cells.take()) for _ in range(12)]
        await asyncio.sleep(0)
        for one in waiting:
            one.cancel()
        for taken in await asyncio.gather(*waiting, return_exceptions=True):
            if not isinstance(taken, asyncio.CancelledError):
                taken.close()

    try:
        runner.wait(stop_waiting())
        maker = cells._process.pid
        settled(lambda: runner.wait(asyncio.sleep(0.02)) or len(processes_below(maker)))
        assert len(cells._ready) == 3
    finally:
        runner.close()


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def test_a_cell_whose_descriptors_do_not_all_arrive_is_given_up(pool: PoolRunner, run: Run) -> None:
    cells = pool.pool._nursery
    while len(cells._ready) < 3:
        pool.wait(asyncio.sleep(0.01))
    ends = os.pipe()

    async def put() -> None:
        cells._put(list(ends), "")

    pool.wait(put())
    assert len(cells._ready) == 3
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(ends[0])
    assert_works(run)


def test_more_workers_than_there_may_be_open_files_are_refused_with_the_cure() -> None:
    command = f"ulimit -n 128; exec {sys.executable} -m torl.sandbox serve --workers 64 --until-stdin-closes"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 1
    assert "ulimit -n 832" in done.stderr


def test_a_low_soft_limit_of_open_files_is_raised() -> None:
    command = f"ulimit -Sn 64; exec {sys.executable} -m torl.sandbox serve --workers 16 --until-stdin-closes"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False
    )
    assert "16 workers" in done.stdout, done.stderr


def test_a_full_disk_stops_nothing(isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", tmp_path], check=True)
    try:
        with suppress(OSError):
            (tmp_path / "all of it").write_bytes(b"x" * 8192)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        runner = PoolRunner(isolation)
        assert_works(runner.run)
        runner.close()
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)
