"""The grader never hangs, never takes trouble for a wrong answer, and works in any thread."""

import asyncio
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
from torl.grading.equality import QUICK_CHARACTERS
from torl.grading.pool import Grade, Grader, Pair
from torl.grading.rules import Policy

HANG = (r"\int_{0}^{1} 10^{10^{10^{10}}} dx", r"\int_{0}^{1} 10^{10^{10^{9}}} dx")


def integral(value: int) -> tuple[str, str]:
    """An equal pair that needs math-verify, hence a process."""
    return rf"\int_{{0}}^{{1}} {value} dx", str(value)


SLOW = integral(5)


@pytest.fixture
def grader() -> Iterator[Grader]:
    with Grader(workers=1, deadline_s=20.0) as made:
        yield made


def children() -> set[str]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return set(" ".join(path.read_text() for path in tasks).split())


def test_numbers_need_no_process() -> None:
    before = children()
    with Grader() as grader:
        grades = grader.grade_many([("5", "5"), ("5", "6"), ("1,440", "1440.0")])
        assert [grade.correct for grade in grades] == [True, False, True]
        assert children() == before


def test_grades_come_in_the_order_of_the_pairs(grader: Grader) -> None:
    pairs = [SLOW, ("1", "2"), (r"\int_{0}^{1} 2 dx", "3"), ("3", "3")]
    assert [grade.correct for grade in grader.grade_many(pairs)] == [True, False, False, True]


def test_an_endless_comparison_is_undecided_and_the_next_one_works() -> None:
    with Grader(workers=1, deadline_s=2.0) as grader:
        begin = time.monotonic()
        hung, *_ = grader.grade_many([HANG])
        assert (hung.correct, hung.rule) == (None, "grader_timeout")
        assert 2.0 <= hung.seconds < 20
        assert time.monotonic() - begin < 60
        grader.deadline_s = 20.0
        assert grader.grade_many([SLOW])[0].correct


def test_the_deadline_does_not_count_waiting_for_a_process() -> None:
    pairs = [integral(number) for number in range(1, 41)]
    with Grader(workers=1, deadline_s=5.0) as grader:
        assert all(grade.correct for grade in grader.grade_many(pairs))


def test_a_killed_process_is_undecided_and_replaced(grader: Grader) -> None:
    before = children()
    grader.grade_many([SLOW])
    for pid in children() - before:
        os.kill(int(pid), signal.SIGKILL)
    dead, *_ = grader.grade_many([integral(6)])
    assert (dead.correct, dead.rule) == (None, "grader_crashed")
    assert grader.grade_many([integral(6)])[0].correct


def test_a_decided_pair_is_not_computed_again(grader: Grader) -> None:
    first, *_ = grader.grade_many([SLOW])
    assert first.seconds > 0
    assert grader.grade_many([SLOW]) == [Grade(correct=True, rule=first.rule, seconds=0.0)]


def test_the_process_outlives_short_threads_and_event_loops(grader: Grader) -> None:
    results: list[bool | None] = []
    started: list[set[str]] = []
    before = children()

    async def grade(number: int) -> None:
        grades = await asyncio.gather(grader.grade(*integral(number + 1)), grader.grade("2", "3"))
        results.extend(grade.correct for grade in grades)

    for number in range(3):
        thread = threading.Thread(target=lambda: asyncio.run(grade(number)))  # noqa: B023 -- ends in its round
        thread.start()
        thread.join()
        started.append(children() - before)
    assert results == [True, False] * 3
    assert started[0] == started[1] == started[2] != set()


def test_whether_answers_have_a_value_is_asked_with_a_deadline_too() -> None:
    with Grader(workers=1, deadline_s=30.0) as grader:
        assert grader.readable_many(["x+1", "①③", SLOW[0]]) == [True, False, True]
        grader.deadline_s = 1.0
        assert grader.readable_many([r"\int_{0}^{1} x dx + \binom{99999999}{4999999}"]) == [None]


def test_the_event_loop_goes_on_while_a_process_computes(grader: Grader) -> None:
    async def run() -> int:
        task = asyncio.create_task(grader.grade(*SLOW))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert (await task).correct
        return ticks

    assert asyncio.run(run()) > 5


def test_the_policy_and_the_tolerance_are_those_of_the_process_too() -> None:
    long = "0" * QUICK_CHARACTERS  # so that a process decides
    with Grader(workers=1, policy=Policy.from_names(["any_order"])) as grader:
        order, near, far = grader.grade_many(
            [("1, 2", f"{long}2, 1"), Pair("4.2", f"{long}4.25", 0.1), ("4.2", f"{long}4.25")]
        )
    assert [order.correct, near.correct, far.correct] == [False, True, False]


def test_nothing_is_left_after_closing() -> None:
    before = children()
    with Grader(workers=2) as grader:
        grader.grade_many([SLOW, integral(6)])
    assert children() == before


def test_processes_end_with_an_owner_that_is_killed() -> None:
    code = (
        "import os, time\nfrom torl.grading import Grader\ngrader = Grader(workers=1)\n"
        f"grader.grade_many([{SLOW!r}])\nprint('ready', flush=True)\n"
        f"grader.grade_many([{HANG!r}])"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout.readline() == "ready\n"
    tasks = Path(f"/proc/{owner.pid}/task").glob("*/children")
    workers = " ".join(path.read_text() for path in tasks).split()
    assert workers
    owner.kill()
    owner.wait()
    owner.stdout.close()
    deadline = time.monotonic() + 20
    while any(is_running(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(is_running(pid) for pid in workers)


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_grader_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(killable.sys, "executable", "/bin/false")
    with Grader(workers=1) as grader, pytest.raises(GraderError, match="did not start"):
        grader.grade_many([SLOW])
