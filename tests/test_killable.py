"""Children answer in order, are killed at their deadline, outlive the thread that asked, and never outlive the owner."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from torl import killable
from torl.errors import GraderError
from torl.killable import Children, Reply, Trouble

ECHO = """
import os, sys, threading
from torl.killable import serve
def answer(question):
    if question == "hang":
        threading.Event().wait()
    if question == "compute":
        9 ** 9 ** 9 ** 9  # never leaves C, so no Python code can notice that the owner is gone
    if question == "exit":
        os._exit(1)
    if question == "raise":
        raise ValueError
    print("noise", flush=True)
    os.system("echo noise")
    return os.getpid() if question == "pid" else question
serve(answer, prepare=lambda: print("noise"))
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules for children, with ``echo_child`` in it."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "echo_child.py").write_text(ECHO)
    return tmp_path


@pytest.fixture
def children(modules: Path) -> Iterator[Children]:
    made = Children("echo_child", workers=1)
    yield made
    made.close()


def ask(children: Children, question: object, deadline_s: float = 30.0) -> Reply:
    return children.ask(question, deadline_s=deadline_s).result()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(pid: int, within_s: float = 20.0) -> bool:
    deadline = time.monotonic() + within_s
    while is_running(pid) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return not is_running(pid)


def test_answers_come_back_as_json_whatever_else_the_child_prints(children: Children) -> None:
    questions = [1, "é", ["a", None], {"b": True}, "x" * 500_000]
    replies = [children.ask(question, deadline_s=30.0) for question in questions]
    assert [reply.result().value for reply in replies] == questions
    assert all(reply.result().trouble is None for reply in replies)


@pytest.mark.parametrize(
    ("question", "trouble"), [("hang", Trouble.TIMEOUT), ("exit", Trouble.CRASHED), ("raise", Trouble.CRASHED)]
)
def test_trouble_is_reported_the_child_is_gone_and_the_next_question_has_another(
    children: Children, question: str, trouble: Trouble
) -> None:
    pid = ask(children, "pid").value
    reply = ask(children, question, deadline_s=1.0 if trouble is Trouble.TIMEOUT else 30.0)
    assert (reply.value, reply.trouble) == (None, trouble)
    assert not is_running(pid)
    assert ask(children, "after").value == "after"


def test_a_child_that_stopped_reading_is_killed_at_the_deadline_of_a_long_question(children: Children) -> None:
    pid = ask(children, "pid").value
    os.kill(pid, signal.SIGSTOP)
    assert ask(children, "x" * 500_000, deadline_s=1.0).trouble is Trouble.TIMEOUT
    assert not is_running(pid)


def test_a_child_that_was_killed_between_questions_is_a_crash(children: Children) -> None:
    os.kill(ask(children, "pid").value, signal.SIGKILL)
    assert ask(children, "x").trouble is Trouble.CRASHED


def test_a_child_outlives_the_thread_whose_question_started_it(children: Children) -> None:
    pids: list[int] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: pids.append(ask(children, "pid").value))
        thread.start()
        thread.join()
    assert len(pids) == 3
    assert len(set(pids)) == 1


def test_closing_ends_the_children(modules: Path) -> None:
    children = Children("echo_child", workers=2)
    replies = [children.ask("pid", deadline_s=30.0) for _ in range(4)]
    pids = {reply.result().value for reply in replies}
    children.close()
    assert not any(is_running(pid) for pid in pids)


@pytest.mark.parametrize("question", ["compute", None])
def test_no_child_survives_a_killed_owner(modules: Path, question: str | None) -> None:
    code = (
        "import threading\nfrom torl.killable import Children\nchildren = Children('echo_child', workers=1)\n"
        "ask = lambda question: children.ask(question, deadline_s=600.0)\n"
        "print(ask('pid').result().value, flush=True)\n"
        f"{question!r} and ask({question!r})\nthreading.Event().wait()"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(owner.stdout.readline())
    assert is_running(pid)
    if question:
        wait_until_it_computes(pid)
    owner.kill()
    owner.communicate()
    assert ends(pid)


def wait_until_it_computes(pid: int) -> None:
    """Until the process has used a quarter of a second more than now."""

    def ticks() -> int:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])

    begin, deadline = ticks(), time.monotonic() + 60
    while ticks() < begin + os.sysconf("SC_CLK_TCK") / 4 and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    assert ticks() > begin


def test_a_child_whose_owner_ended_before_the_kernel_was_asked_ends_at_once(modules: Path) -> None:
    command = [sys.executable, "-m", "echo_child", "1"]  # not the process that starts it
    done = subprocess.run(command, input='"x"\n', capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("raise SystemExit('no algebra here')", "it ended, and wrote .*no algebra here.*install the package"),
        ("print('hello')", "it said b'hello.n' instead of"),
        ("import threading; threading.Event().wait()", "it was not ready within 1 s, and wrote no message"),
    ],
)
def test_a_child_that_does_not_start_says_why(
    modules: Path, monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    monkeypatch.setattr(killable, "START_TIMEOUT_S", 1.0 if "Event" in program else 60.0)
    (modules / "broken_child.py").write_text(program)
    children = Children("broken_child", workers=1)
    try:
        with pytest.raises(GraderError, match=f"-m broken_child` did not start: {message}"):
            ask(children, "x")
    finally:
        children.close()
