from collections.abc import Sequence
from pathlib import Path

import pytest

from torl import killable
from torl.errors import GraderError
from torl.grading.equality import readable
from torl.problems.answers import AnswerJudge, KillableGrader, is_plain_number, is_simple_value, respelled
from torl.problems.readers import ReadCounts, read_file


@pytest.mark.parametrize(
    "answer", ["5", "-2.5", "\\frac{1}{2}", "3\\sqrt{2}+1", "(1, 2)", "50^\\circ", "2^{100}", "907,200"]
)
def test_plain_numbers_need_no_parser(answer: str) -> None:
    assert is_plain_number(answer)
    assert readable(answer)


@pytest.mark.parametrize(
    "answer", ["x+1", "10^{10^{10}}", "2^{99999}", "\\frac{1}{2", "\\text{Friday}", "", "=2", "..."]
)
def test_letters_towers_open_braces_and_answers_without_digits_go_to_the_parser(answer: str) -> None:
    assert not is_plain_number(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "x^2 - x - 1",
        "(-\\infty, 2) \\cup [3, 4)",
        "\\{1,4,5\\}",
        "12 \\text{ cm}",
        "x = \\frac{1}{2}",
        "3 \\text{ or } 5",
        "\\$4.50",
        "\\begin{pmatrix} -4/9 \\\\ 1/9 \\end{pmatrix}",
        "-1 < x \\leq 2",
        "3(\\log 2 + \\log 3)",
        "44\\%",
    ],
)
def test_simple_values_need_no_parser(answer: str) -> None:
    assert is_simple_value(answer)
    assert readable(answer)


@pytest.mark.parametrize(
    "answer",
    ["10^{10^{10}}", "2^{99999}", "\\frac{1}{2", "\\text{Friday}", "", "=2", "\\binom{99999999}{4999999}", "20!!!!"],
)
def test_what_may_be_slow_or_no_value_is_not_simple(answer: str) -> None:
    assert not is_simple_value(answer)


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        ("\\frac{1}{2}", "$ \\dfrac{1}{2} $"),
        ("\\dfrac{x_1}{2}", "$ \\frac{x_{1}}{2} $"),
        ("(1,2)", "$ \\left( 1,2 \\right) $"),
        ("\\left[ 1, 2 \\right)", "$ [ 1, 2 ) $"),
        ("\\text{(odd)}x", "$ \\text{(odd)}x $"),
        ("x+1", "$ x + 1 $"),
        ("x^{2} \\leq \\sqrt3", "$ x^2 \\le \\sqrt{3} $"),
        ("2^{x}3 + A^79", "$ 2^{x}3 + A^{79} $"),
        ("\\log_23 + x_1", "$ \\log_23 + x_{1} $"),
        ("90^\\circ", "$ 90^{\\circ} $"),
        (".5", "$ 0.5 $"),
        ("1,\\!860,\\!480", "$ 1860480 $"),
        ("(20,100)", "$ \\left( 20,100 \\right) $"),
        ("640 \\text{ km}", "$ 640\\,\\mathrm{km} $"),
        ("4 \\text{ or } 6", "$ 4 \\text{ or } 6 $"),
        ("\\text{odd}", "$ odd $"),
        ("$1", "$1"),
    ],
)
def test_an_answer_is_respelled_as_another_writer_would(answer: str, other: str) -> None:
    assert respelled(answer) == other


def test_real_answers_are_equal_to_themselves_in_another_spelling() -> None:
    with KillableGrader() as grader:
        judge = AnswerJudge(grader)
        odd = ["\\max x", "①③", "\\binom{50}{19}\\cdot 8", "136.\\overline{1}", "\\text{odd}", "\\mbox{Saturday}"]
        assert set(judge.unusable(odd)) == {"\\max x", "①③"}


def test_an_answer_that_the_grader_knows_in_one_spelling_alone_is_unusable() -> None:
    class OneSpelling:
        def parse(self, answers: Sequence[str]) -> list[bool]:
            return [True] * len(answers)

        def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
            return [first.count("\\frac") == second.count("\\frac") for first, second in pairs]

    judge = AnswerJudge(OneSpelling())
    assert judge.unusable(["\\frac{n!}{2}", "n!"]) == {
        "\\frac{n!}{2}": "'\\\\frac{n!}{2}' is not equal to '$ \\\\dfrac{n!}{2} $'"
    }


def test_answers_are_parsed_and_compared_in_order_by_several_workers() -> None:
    with KillableGrader(workers=2) as grader:
        assert grader.parse(["x+1", "\\{x|0<x<1\\}", "5\\%", "①③", "\\sqrt{40}"]) == [True, True, True, False, True]
        assert grader.same([("2\\sqrt{10}", "\\sqrt{40}"), ("3", "4")]) == [True, False]
        assert grader.parse([]) == []


def test_which_of_two_answers_is_rounded_does_not_matter() -> None:
    with KillableGrader() as grader:
        assert grader.same([("12.55", r"\frac{640}{51}"), (r"\frac{640}{51}", "12.55"), ("12.55", "12.56")]) == [
            True,
            True,
            False,
        ]


def test_an_answer_on_which_the_grader_hangs_is_lost_alone() -> None:
    hang = "\\binom{99999999}{4999999}"
    with KillableGrader(timeout_s=1.0) as grader:
        assert grader.parse(["x", hang, "y"]) == [True, False, True]
        assert grader.same([(hang, "x"), ("2x", "x+x")]) == [False, True]


def test_no_process_is_left_behind() -> None:
    before = set(children())  # other tests may have started some
    with KillableGrader() as grader:
        grader.parse(["x"])
        assert set(children()) - before
    assert set(children()) == before


def children() -> list[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return " ".join(path.read_text() for path in tasks).split()


def test_a_worker_that_does_not_start_is_a_grader_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(killable.sys, "executable", "/bin/true")
    with KillableGrader() as grader, pytest.raises(GraderError, match="did not start"):
        grader.parse(["x"])


def test_real_plain_numbers_are_parsed(shared_data: Path) -> None:
    file = shared_data / "sources/fastcurl_train_L3.parquet"
    problems = read_file(file, reader="verl", source="s", counts=ReadCounts())
    answers = {row.answer for row in problems if not row.answer.isdigit()}
    plain = sorted(filter(is_plain_number, answers))[::20]
    simple = sorted(filter(is_simple_value, answers - set(plain)))[::10]
    assert min(len(plain), len(simple)) > 50
    assert [answer for answer in plain + simple if not readable(answer)] == []
