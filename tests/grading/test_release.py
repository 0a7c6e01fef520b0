r"""The release's grader makes the errors that were measured on it; each is a pair that the sound one decides the other way."""

import pytest

from torl.grading.equality import equal
from torl.grading.extract import extract_answer
from torl.grading.pool import Grader, Method
from torl.grading.release import release_answer, release_equal, release_normal

WRONGLY_ACCEPTED = [(r"8\pi", "8"), (r"70\sqrt{2}", "70"), ("1+2i", "1+3i"), ("3", "a=2, b=3"), ("1,3", "13")]
WRONGLY_REJECTED = [
    ("p - q", "p-q"),
    ("(3, 4]", "(3,4]"),
    ("(6, 31, -1)", "(6,31,-1)"),
    (r"70\sqrt2", r"\sqrt{9800}"),
    (r"1\frac{4}{5}", r"\frac{9}{5}"),
    ("1000", "10^{3}"),
    ("1024", "2^{10}"),
]
SAFE = [
    ("73", "073", True),
    ("204", "204.0", True),
    ("1440", "1,440", True),
    ("204", "204 minutes", True),
    ("5", "6", False),
]


@pytest.mark.parametrize(("gold", "answer"), WRONGLY_ACCEPTED)
def test_the_release_takes_a_number_out_of_the_answer(gold: str, answer: str) -> None:
    assert release_equal(gold, answer)
    assert not equal(gold, answer).correct


@pytest.mark.parametrize(("gold", "answer"), WRONGLY_REJECTED)
def test_the_release_rejects_equal_answers(gold: str, answer: str) -> None:
    assert not release_equal(gold, answer)
    assert equal(gold, answer).correct


@pytest.mark.parametrize(("gold", "answer", "correct"), SAFE)
def test_both_graders_agree_on_integers(gold: str, answer: str, correct: bool) -> None:
    assert release_equal(gold, answer) is correct
    assert equal(gold, answer).correct is correct


def test_the_release_takes_the_last_box_of_the_whole_response() -> None:
    text = "So \\boxed{4}.\n```python\nprint('\\boxed{5}')\n```\n```output\n\\boxed{6}\n```\n"
    assert release_answer(text) == "6"
    assert extract_answer(text) == "4"


def test_the_release_reads_three_levels_of_braces_and_no_more() -> None:
    assert release_answer(r"\boxed{{{{3}}}}") == "{{{3}}}"
    assert release_answer(r"\boxed{{{{{4}}}}}") is None
    assert extract_answer(r"\boxed{{{{{4}}}}}") == "{{{{4}}}}"
    assert release_answer(r"\fbox{1} \boxed 5 \boxed{6") is None


def test_a_run_of_braces_is_read_at_once() -> None:
    assert release_answer("\\boxed{" + "\\{" * 100_000) is None


@pytest.mark.parametrize(
    ("answer", "normal"),
    [
        (r"\$ 5 \text{ dollars}", r"5"),
        (r"\left(1, 2\right)", "(1,2)"),
        (r"\dfrac12", r"\frac{1}{2}"),
        ("1,440", "1440"),
        (r"90^\circ", "90"),
        (r"\text{Even}", "Even"),
    ],
)
def test_answers_are_normalised_as_the_release_does(answer: str, normal: str) -> None:
    assert release_normal(answer) == normal


def test_a_grader_of_the_release_is_a_method_of_the_pool() -> None:
    with Grader(workers=1, method=Method.RELEASE) as grader:
        grades = grader.grade_many([(r"8\pi", "8"), ("5", "6")])
    assert [(grade.correct, grade.rule) for grade in grades] == [(True, "release"), (False, "release")]
