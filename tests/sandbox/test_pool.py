"""Real snippets in real processes: each has a result, and sees and shares nothing but what it was given."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox.processes import assert_works
from torl.sandbox.limits import Limits
from torl.sandbox.snippet import RunResult, RunStatus

Run = Callable[..., RunResult]


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
        ("import os; os.abort()", -6),
        ("import ctypes; ctypes.string_at(0)", -11),
        # a stack without end
        (
            "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __getattr__(s, n): return getattr(s, n)\nA().x",
            -11,
        ),
        ("raise SystemExit", 0),
    ],
)
def test_return_codes_are_those_of_the_contract(run: Run, code: str, return_code: int) -> None:
    assert run(code).return_code == return_code


def test_an_interrupt_of_its_own_is_one(run: Run) -> None:
    result = run(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept KeyboardInterrupt: print('yes')"
    )
    assert result.stdout == "yes\n"


def test_calls_nest_as_deep_as_in_a_script(run: Run) -> None:
    code = (
        "import sys\nsys.setrecursionlimit(10**6)\nclass A:\n    depth = 0\n"
        "    def __getattr__(self, name):\n        self.depth += 1\n"
        "        return self.depth if self.depth == 10000 else getattr(self, name)\nprint(A().x)"
    )
    assert run(code).stdout == "10000\n"


def test_the_snippet_is_main(run: Run) -> None:
    code = "import sys\nprint(__name__, sys.modules['__main__'].__dict__ is globals(), sys.argv)"
    assert run(code).stdout == "__main__ True ['/tmp/snippet.py']\n"


def test_no_output_is_lost_however_soon_the_end_comes(run: Run) -> None:
    for _ in range(20):
        assert run("import os\nos.write(1, b'x' * 60_000)\nos._exit(0)").stdout == "x" * 60_000


@pytest.mark.parametrize(
    "path",
    ["/x", "/dev/x", "/opt/x", "/opt/packages/0/x", "/usr/x", "/proc/sys/kernel/core_pattern", "/proc/self/oom_adj"],
)
def test_nothing_else_can_be_written(run: Run, path: str) -> None:
    assert "Error" in run(f"open({path!r}, 'w')").stderr.splitlines()[-1]


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


def test_a_snippet_that_cannot_be_set_up_is_an_error_of_the_sandbox(run: Run) -> None:
    result = run("print(1)", limits=Limits(open_files=10**9))
    assert result.status is RunStatus.ERROR
    assert "could not run" in result.error
    assert_works(run)
