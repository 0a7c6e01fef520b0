import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.problems.text import (
    answer_key,
    bare_answer,
    last_box,
    letters_and_digits,
    problem_key,
    text_key,
    without_drawings,
    without_instruction,
    words,
)


def test_layout_does_not_make_a_problem_another_one() -> None:
    first = "Evaluate $\\left(\\dfrac{1}{2}\\right)^2$.  Give  x."
    assert text_key(first) == text_key("Evaluate \\((\\frac{1}{2})^2\\). Give x.")


@pytest.mark.parametrize(("first", "second"), [("x+1", "x-1"), ("$2^3$", "$23$"), ("a < b", "a > b"), ("1.5", "15")])
def test_operators_and_digits_make_a_problem_another_one(first: str, second: str) -> None:
    assert text_key(first) != text_key(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sum $\\frac{n}{n^{4}+4}$.", "Sum $\\frac{n}{n^4+4}$"),
        ("Let $a$, $b$ and $c$ be; find it?", "Let $a,$ $b,$ and $c$ be find it."),
        ("What is it: ____.", "What is it \\_\\_?"),
    ],
)
def test_braces_and_punctuation_do_not_make_a_problem_another_one(first: str, second: str) -> None:
    assert text_key(first) != text_key(second)
    assert problem_key(first) == problem_key(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("1.5", "15"), ("x+1", "x-1"), ("(1,2)", "(12)"), ("a(b+c)", "ab+c"), ("n!", "n"), ("x<y", "x>y")],
)
def test_numbers_brackets_and_operators_make_a_problem_another_one(first: str, second: str) -> None:
    assert problem_key(first) != problem_key(second)


def test_arrow_commands_are_not_layout() -> None:
    assert text_key("x \\leftarrow y") != text_key("x y")


@given(st.text())
def test_text_key_is_stable_under_itself(text: str) -> None:
    assert text_key(text_key(text)).replace(" ", "") == text_key(text_key(text))


def test_exact_overlap_form_has_only_letters_and_digits() -> None:
    assert letters_and_digits("Find $x^2$, if  X = 3!") == "findx2ifx3"


def test_words_are_runs_of_letters_and_digits() -> None:
    assert words("Find $x^2$ now") == ["find", "x", "2", "now"]


def test_the_answer_instruction_is_cut_off() -> None:
    instruction = "Let's think step by step and output the final answer within \\boxed{}."
    assert without_instruction(f"What is 1 + 1? {instruction}") == "What is 1 + 1?"


def test_drawings_are_cut_out_even_when_they_never_end() -> None:
    assert without_drawings("a [asy] draw(A--B); [/asy] b [asy] dot(A);").split() == ["a", "b"]


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ("so \\boxed{1}, no: \\boxed{\\frac{1}{2}} it is", "\\frac{1}{2}"),
        ("thus $\\boxed{\\left\\{1, 2\\right\\}}$", "\\left\\{1, 2\\right\\}"),
        ("an \\fbox{7}", "7"),
        ("thus $\\boxed 5$.", "5"),
        ("cut off \\boxed{3} then \\boxed{4", "3"),
        ("no box", None),
    ],
)
def test_the_last_closed_box_is_the_answer(solution: str, answer: str | None) -> None:
    assert last_box(solution) == answer


@given(st.text(alphabet="\\{}boxed $1"))
def test_last_box_ends_on_any_text(text: str) -> None:
    assert last_box(text) is None or isinstance(last_box(text), str)


@pytest.mark.parametrize(
    ("written", "bare"),
    [
        ("$\\sqrt{6}$", "\\sqrt{6}"),
        ("\\[ 1979 \\]", "1979"),
        ("\\boxed{1700}", "1700"),
        ("$1$, $2$", "$1$, $2$"),
        (" 5 ", "5"),
    ],
)
def test_delimiters_come_off_only_around_the_whole_answer(written: str, bare: str) -> None:
    assert bare_answer(written) == bare


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("0.5", "\\frac{1}{2}"),
        ("\\dfrac12", "\\frac{2}{4}"),
        ("907,200", "907200"),
        ("12 \\text{ inches}", "12"),
        ("50^\\circ", "50"),
        ("k = 2012", "2012"),
        ("\\left(1, 2\\right)", "(1,2)"),
        ("\\text{Friday}", "Friday"),
    ],
)
def test_spelling_does_not_make_an_answer_another_one(first: str, second: str) -> None:
    assert answer_key(first) == answer_key(second)


@pytest.mark.parametrize(
    ("first", "second"), [("1,2", "12"), ("x+1", "x-1"), ("-3", "3"), ("1/3", "0.33"), ("\\text{even}", "\\text{odd}")]
)
def test_answers_that_differ_keep_different_keys(first: str, second: str) -> None:
    assert answer_key(first) != answer_key(second)


@pytest.mark.parametrize("text", ["So \\boxed ", "So \\boxed $", "\\boxed{"])
def test_a_box_that_was_never_filled_is_no_answer(text: str) -> None:
    assert last_box(text) is None
