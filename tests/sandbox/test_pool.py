"""Real snippets in real processes: whatever a snippet does, its run has an end, a result, and leaves nothing behind."""

import asyncio
import itertools
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.sandbox.conftest import PoolRunner
from torl.sandbox.isolation import Isolation, IsolationKind
from torl.sandbox.limits import Limits
from torl.sandbox.probe import isolation_of
from torl.sandbox.snippet import RunResult, RunStatus, Snippet

Run = Callable[..., RunResult]


@pytest.fixture
def marker() -> str:
    """A word in the command line of a test's processes, to find survivors by."""
    return f"torl-survivor-{time.monotonic_ns()}"


def processes_with(word: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it ended meanwhile
        if word.encode() in command and int(folder.name) != os.getpid():
            found.append(folder.name)
    return found


def assert_works(run: Run) -> None:
    assert run("print(6 * 7)").stdout == "42\n"


def test_a_snippet_returns_what_it_printed(run: Run) -> None:
    result = run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (result.status, result.return_code, result.stdout, result.stderr) == (
        RunStatus.FINISHED,
        0,
        "out\n",
        "err\n",
    )


def test_a_traceback_shows_the_snippet_alone(run: Run) -> None:
    result = run("def f():\n    return 1 / 0\nf()")
    assert result.return_code == 1
    assert result.stderr.count("File ") == 2
    assert "boot" not in result.stderr
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_chained_exceptions_are_printed_as_python_prints_them(run: Run) -> None:
    result = run("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('x') from error")
    assert "direct cause" in result.stderr
    assert "boot" not in result.stderr


@pytest.mark.parametrize(
    ("code", "return_code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('text')", 1),
        ("import os; os._exit(0)", 0),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import ctypes; ctypes.string_at(0)", -11),
        ("raise SystemExit", 0),
    ],
)
def test_return_codes_are_those_of_the_contract(run: Run, code: str, return_code: int) -> None:
    assert run(code).return_code == return_code


def test_the_snippet_is_main(run: Run) -> None:
    code = "import sys\nprint(__name__, sys.modules['__main__'].__dict__ is globals(), sys.argv)"
    assert run(code).stdout == "__main__ True ['/tmp/snippet.py']\n"


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


def processes_below(pid: int) -> list[int]:
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            found += [child, *processes_below(child)]
    return found


def test_no_dead_process_is_left_either(pool: PoolRunner, run: Run) -> None:
    assert_works(run)
    before = len(processes_below(os.getpid()))
    for code in ("print(1)", "import os\nos.fork()", "while True: pass"):
        run(code, limits=Limits(run_timeout_s=0.5))
    deadline = time.monotonic() + 10
    while len(processes_below(os.getpid())) != before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(processes_below(os.getpid())) == before


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


def test_endless_output_is_cut_and_does_not_block(run: Run) -> None:
    result = run("while True: print('spam' * 1000)", limits=Limits(run_timeout_s=1.0))
    assert result.status is RunStatus.TIME_LIMIT
    assert result.truncated
    assert len(result.stdout) < 70_000
    assert result.stdout.startswith("spam")


def test_no_output_is_lost_however_soon_the_end_comes(run: Run) -> None:
    for _ in range(20):
        assert run("import os\nos.write(1, b'x' * 60_000)\nos._exit(0)").stdout == "x" * 60_000


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


@pytest.mark.parametrize(
    "path",
    ["/x", "/dev/x", "/opt/x", "/opt/packages/0/x", "/usr/x", "/proc/sys/kernel/core_pattern", "/proc/self/oom_adj"],
)
def test_nothing_else_can_be_written(run: Run, path: str) -> None:
    assert "Error" in run(f"open({path!r}, 'w')").stderr.splitlines()[-1]


def test_processes_are_bounded_for_each_snippet(pool: PoolRunner) -> None:
    bomb = (
        "import os, time\nn = 0\ntry:\n    while os.fork():\n        n += 1\n"
        "except OSError:\n    print(n)\ntime.sleep(1)"
    )

    async def two() -> list[RunResult]:
        return [result for result, _ in await asyncio.gather(*(pool.pool.run(Snippet(code=bomb)) for _ in range(2)))]

    counts = [int(result.stdout.split()[0]) for result in pool.wait(two())]
    assert all(40 < count <= 64 for count in counts), counts


def test_a_snippet_sees_nothing_of_the_machine(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = tmp_path / "answers.jsonl"
    canary.write_text("secret-of-the-machine")
    monkeypatch.setenv("TORL_CANARY", "secret-of-the-machine")
    code = (
        "import os\n"
        "print(sorted(os.environ), os.listdir('/tmp'), [p for p in os.listdir('/proc') if p.isdigit()])\n"
        f"for path in ({str(canary)!r}, '/etc/passwd', '/proc/1/environ', {str(Path(__file__))!r}):\n"
        "    try:\n        print(open(path).read())\n"
        "    except OSError as error:\n        print(type(error).__name__)\n"
        "print([fd for fd in os.listdir('/proc/self/fd') if int(fd) > 3])"
    )
    result = run(code)
    assert "secret" not in result.stdout
    seen, *reads, descriptors = result.stdout.splitlines()
    assert set(reads) <= {"FileNotFoundError", "PermissionError", ""}  # the environment of process 1 is empty
    assert "TORL_CANARY" not in seen
    assert "['snippet.py'] ['1', '2']" in seen
    assert descriptors == "[]"


def test_there_is_no_network(run: Run) -> None:
    assert run("import os\nprint(os.listdir('/sys/class/net') if os.path.exists('/sys') else [])").stdout == "[]\n"
    assert "PermissionError" in run("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)").stderr


def test_standard_input_is_what_was_given_and_then_ends(run: Run) -> None:
    assert run("print(input())", stdin="hello\n").stdout == "hello\n"
    assert "EOFError" in run("input()").stderr


def test_files_go_in_and_come_out_below_the_working_folder_only(run: Run) -> None:
    code = (
        "import os\nopen('out/b.txt', 'w').write(open('in/a.txt').read() + '!')\n"
        "os.symlink('/etc/hostname', 'link')\nos.symlink('/etc', 'folder')"
    )
    wanted = ["out/b.txt", "link", "folder/hostname", "/etc/hostname", "../../etc/hostname", "missing", "out"]
    result = run(code, files={"in/a.txt": b"hi", "out/empty": b""}, fetch_files=wanted)
    assert result.stderr == ""
    assert result.files == {"out/b.txt": b"hi!"}


def test_snippets_share_no_state(run: Run) -> None:
    run("import builtins\nbuiltins.print = None\nopen('/tmp/random.py', 'w').write('1 / 0')")
    result = run("import random\nprint(random.random())")
    assert result.return_code == 0
    assert run("import random\nprint(random.random())").stdout != result.stdout
    numpy = "import numpy\nprint(numpy.random.rand())"
    assert run(numpy).stdout != run(numpy).stdout


def test_odd_text_passes_through(run: Run) -> None:
    assert run("print('äß€😀')").stdout == "äß€😀\n"
    assert "surrogates not allowed" in run('print("\ud800")').stderr
    assert run("import sys\nsys.stdout.buffer.write(b'ok\\xff end')").stdout == "ok� end"
    assert run("").return_code == 0


def test_a_long_source_runs(run: Run) -> None:
    assert run("x = 1\n" * 200_000 + "print(x)").stdout == "1\n"


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


def test_a_snippet_that_cannot_be_set_up_is_an_error_of_the_sandbox(run: Run) -> None:
    result = run("print(1)", limits=Limits(open_files=10**9))
    assert result.status is RunStatus.ERROR
    assert "could not run" in result.error
    assert_works(run)


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
                signal.pidfd_send_signal(killed.process, signal.SIGKILL)
                while not killed.ended:
                    runner.wait(asyncio.sleep(0.01))
            results = [runner.run("print(6 * 7)") for _ in range(6)]
            lost = 2 if whom.startswith("maker") else 0  # what runs at that moment
            assert sum(result.stdout == "42\n" for result in results) >= 6 - lost
    finally:
        runner.close()


def test_a_run_whose_first_process_is_killed_is_an_error_and_leaves_nothing(pool: PoolRunner, run: Run) -> None:
    assert_works(run)
    before = len(processes_below(os.getpid()))

    async def kill_while_running() -> RunResult:
        slow = Snippet(code="import time\ntime.sleep(60)", limits=Limits(run_timeout_s=60.0))
        running = asyncio.create_task(pool.pool.run(slow))
        while not (first := [pid for pid in processes_below(os.getpid()) if is_first_of_a_running_cell(pid)]):
            await asyncio.sleep(0.01)
        os.kill(first[0], signal.SIGKILL)
        return (await running)[0]

    result = pool.wait(kill_while_running())
    assert (result.status, "without a report" in result.error) == (RunStatus.ERROR, True)
    assert_works(run)
    deadline = time.monotonic() + 10
    while len(processes_below(os.getpid())) != before and time.monotonic() < deadline:
        pool.wait(asyncio.sleep(0.01))
    assert len(processes_below(os.getpid())) == before


def is_first_of_a_running_cell(pid: int) -> bool:
    """Whether the process is number 1 of the innermost of at least two namespaces, and has a child."""
    try:
        numbers = Path(f"/proc/{pid}/status").read_text().partition("NSpid:")[2].split("\n")[0].split()
        return len(numbers) > 2 and numbers[-1] == "1" and bool(processes_below(pid))
    except OSError:
        return False


def test_a_clock_that_jumps_changes_no_time_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = itertools.cycle((0.0, 1e9, -1e9))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    begin = time.monotonic()
    result = run("import time\nprint(1)\ntime.sleep(60)", limits=Limits(run_timeout_s=0.5))
    assert (result.status, result.stdout) == (RunStatus.TIME_LIMIT, "1\n")
    assert time.monotonic() - begin < 10
    assert_works(run)


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
