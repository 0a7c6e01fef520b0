"""Expressions that would keep a grader busy for ever are decided at once, or undecided at the deadline, never awaited."""

import pytest

from torl.grading.equality import QUICK_CHARACTERS, equal, quick, readable
from torl.grading.pool import Grader

DECIDED = {
    "tower of powers": "10^{10^{10^{10}}}",
    "tower of factorials": "((9!)!)!",
    "a million digits": "7" * 10**6,
    "power of a million digits": "3^{" + "9" * 900 + "}",
    "deep nesting": "(" * 2000 + "1" + ")" * 2000,
    "deep fractions": r"\frac{1}{" * 400 + "2" + "}" * 400,
    "deep roots": r"\sqrt{" * 70 + "2" + "}" * 70,
    "huge interval": r"[-10^{10^{10}}, 10^{10^{10}}]",
    "huge binomial": r"\binom{99999999}{4999999}",
    "open brackets": "(" * 3000,
    "many signs": r"\pm 1" * 400,
    "many parts": ", ".join(rf"x^{{{index}}}+\pi" for index in range(300)),
    "sine of a tower": r"\sin(10^{10^{8}})",
    "exponent of an exponent": "1e999999999",
    "sets within sets": r"\{" * 300 + "1" + r"\}" * 300,
    "bars": "|" * 500,
    "open ends": r"x_",
    "an array without an end": r"\begin{array}{cc} 1 & 2",
}


@pytest.mark.parametrize("answer", DECIDED.values(), ids=DECIDED)
def test_it_is_wrong_against_a_number_and_right_against_itself_without_a_process(answer: str) -> None:
    assert not equal("5", answer).correct
    assert not equal(answer, "5").correct
    assert equal(answer, answer).correct


@pytest.mark.parametrize("answer", DECIDED.values(), ids=DECIDED)
def test_it_has_an_answer_to_whether_it_can_be_read(answer: str) -> None:
    assert readable(answer) in (True, False)


def test_what_is_long_is_left_to_a_process() -> None:
    long = "+".join(f"x_{index}" for index in range(100))
    assert len(long) > QUICK_CHARACTERS
    assert quick(long, "5") is None


def test_what_computer_algebra_hangs_on_is_undecided_at_the_deadline_and_counted() -> None:
    hang = r"\int_{0}^{1} 10^{10^{10^{10}}} dx"
    with Grader(workers=1, deadline_s=2.0) as grader:
        grade, *_ = grader.grade_many([(hang, r"\int_{0}^{1} 10^{10^{10^{9}}} dx")])
    assert (grade.correct, grade.rule) == (None, "grader_timeout")
