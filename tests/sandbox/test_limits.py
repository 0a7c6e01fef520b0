"""Whatever a snippet does, it ends within its limits and takes with it what it started."""

import asyncio
import itertools
import time
from collections.abc import Callable

import pytest

from tests.sandbox.conftest import PoolRunner
from tests.sandbox.processes import assert_works, processes_with
from torl.sandbox.isolation import IsolationKind
from torl.sandbox.limits import Limits
from torl.sandbox.probe import isolation_of
from torl.sandbox.snippet import RunResult, RunStatus, Snippet

Run = Callable[..., RunResult]


def test_a_time_out_ends_everything_and_keeps_the_output(run: Run, marker: str) -> None:
    code = (
        "import subprocess, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {marker!r}], start_new_session=True)\n"
        "print('partial')\n"
        "while True:\n    try:\n        time.sleep(60)\n    except BaseException:\n        pass"
    )
    begin = time.monotonic()
    result = run(code, limits=Limits(run_timeout_s=1.0))
    assert time.monotonic() - begin < 10
    assert (result.status, result.return_code, result.stdout) == (RunStatus.TIME_LIMIT, None, "partial\n")
    assert processes_with(marker) == []
    assert_works(run)


def test_the_time_out_counts_from_the_first_instruction(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("import time\ntime.sleep(0.3)", limits=Limits(run_timeout_s=5.0))
    assert 0.3 <= result.seconds < 5.0


def test_a_time_out_of_zero_is_immediate(run: Run) -> None:
    assert run("print(1)", limits=Limits(run_timeout_s=0.0)).status is RunStatus.TIME_LIMIT


def test_background_processes_end_with_the_snippet(run: Run, marker: str) -> None:
    code = (
        "import os, subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {marker!r}], start_new_session=True)\n"
        "print('bg')"
    )
    begin = time.monotonic()
    assert run(code).stdout == "bg\n"
    assert time.monotonic() - begin < 20
    assert processes_with(marker) == []


def test_endless_output_is_cut_and_does_not_block(run: Run) -> None:
    result = run("while True: print('spam' * 1000)", limits=Limits(run_timeout_s=1.0))
    assert result.status is RunStatus.TIME_LIMIT
    assert result.truncated
    assert len(result.stdout) < 70_000
    assert result.stdout.startswith("spam")


def test_memory_is_bounded_and_the_traceback_still_printed(run: Run) -> None:
    result = run("x = []\nwhile True: x.append(bytearray(10**6))", limits=Limits(memory_mb=200))
    assert result.return_code == 1
    assert result.stderr.endswith("MemoryError\n")
    assert_works(run)


def test_numpy_and_sympy_fit_into_the_default_memory(run: Run) -> None:
    result = run(
        "import numpy, sympy\nprint(int(numpy.ones((200, 200)).dot(numpy.ones((200, 200)))[0, 0]), sympy.sqrt(4))"
    )
    assert result.stdout == "200 2\n"


@pytest.mark.parametrize("path", ["big", "/dev/shm/big"])
def test_no_folder_takes_more_than_its_size(run: Run, path: str) -> None:
    code = (
        "n = 0\ntry:\n    while True:\n"
        f"        open(f'{path}{{n}}', 'wb').write(b'0' * 2**20)\n        n += 1\n"
        "except OSError as error:\n    print(n, error.strerror)"
    )
    count, reason = run(code, limits=Limits(memory_mb=200)).stdout.split(" ", 1)
    assert int(count) <= 64
    assert reason == "No space left on device\n"


def test_processes_are_bounded_for_each_snippet(pool: PoolRunner) -> None:
    bomb = (
        "import os, time\nn = 0\ntry:\n    while os.fork():\n        n += 1\n"
        "except OSError:\n    print(n)\ntime.sleep(1)"
    )

    async def two() -> list[RunResult]:
        return [result for result, _ in await asyncio.gather(*(pool.pool.run(Snippet(code=bomb)) for _ in range(2)))]

    counts = [int(result.stdout.split()[0]) for result in pool.wait(two())]
    assert all(40 < count <= 64 for count in counts), counts


def test_several_processes_share_one_memory_limit(run: Run) -> None:
    code = (
        "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        x = bytearray(100 * 2**20)\n"
        "        for i in range(0, len(x), 4096): x[i] = 1\n        import time; time.sleep(60)\n"
        "import time; time.sleep(60)"
    )
    result = run(code, limits=Limits(memory_mb=300, run_timeout_s=20.0))
    assert (result.status, result.return_code) == (RunStatus.FINISHED, 1)
    assert result.stderr.endswith("MemoryError: the snippet's processes together used more than 300 MiB\n")
    assert_works(run)


def test_a_crash_is_none_of_the_machines_business(run: Run) -> None:
    # Below a page, and not 0: the kernel then starts no handler of core dumps either.
    assert run("import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))").stdout == "(1, 1)\n"


def test_a_clock_that_jumps_changes_no_time_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = itertools.cycle((0.0, 1e9, -1e9))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    begin = time.monotonic()
    result = run("import time\nprint(1)\ntime.sleep(60)", limits=Limits(run_timeout_s=0.5))
    assert (result.status, result.stdout) == (RunStatus.TIME_LIMIT, "1\n")
    assert time.monotonic() - begin < 10
    assert_works(run)


def test_limits_alone_bound_time_memory_and_output() -> None:
    runner = PoolRunner(isolation_of(IsolationKind.LIMITS_ONLY))
    try:
        assert runner.run("print(6 * 7)").stdout == "42\n"
        assert runner.run("import numpy\nprint(numpy.ones(2).sum())").stdout == "2.0\n"
        assert runner.run("print(1)\nwhile True: pass", limits=Limits(run_timeout_s=0.5)).status is RunStatus.TIME_LIMIT
        assert runner.run("x = bytearray(10**11)").stderr.endswith("MemoryError\n")
        assert runner.run("open('a', 'w').write('1')", fetch_files=["a"]).files == {"a": b"1"}
        begin = time.monotonic()
        assert runner.run("import os, time\nif os.fork() == 0: time.sleep(60)\nprint(1)").stdout == "1\n"
        generations = "import os, time\nos.fork() or os.fork() or os.fork()\ntime.sleep(60)"
        assert runner.run(generations, limits=Limits(run_timeout_s=0.5)).status is RunStatus.TIME_LIMIT
        assert time.monotonic() - begin < 20
        assert_works(runner.run)
    finally:
        runner.close()
