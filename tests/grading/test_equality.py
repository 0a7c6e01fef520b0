"""Which answers are equal, and by which rule; each rule also has pairs that it must not accept."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.grading.equality import by_reading, equal, explain, quick, readable
from torl.grading.rules import Policy, Rule
from torl.grading.spelling import LONGEST

EQUAL = [
    ("5", "5", "same_text"),
    ("1440", "1,440", "value"),
    ("73", "073", "value"),
    ("0.5", r"\frac{1}{2}", "value"),
    ("10", r"10\%", "percent"),
    (r"62.5\%", r"\frac{5}{8}", "percent"),
    ("180.67", "180.6667", "rounded_gold"),
    (r"\frac{1}{12}", "0.083333", "rounded_answer"),
    ("1000.99", "1000,99", "decimal_comma"),
    (r"\text{Evelyn}", "evelyn", "words"),
    ("line segment, circle", r"\text{line segment and circle}", "words"),
    ("p - q", "p-q", "same_text"),
    ("(3,4]", "(3, 4]", "same_text"),
    (r"\sqrt{9800}", r"70\sqrt{2}", "value"),
    (r"\frac{9}{5}", r"1\frac{4}{5}", "value"),
    ("10^{3}", "1000", "value"),
    ("x^2+2x+1", "(x+1)^2", "value"),
    ("12.55", r"\frac{640}{51}", "rounded_gold"),
    ("3.14", r"\pi", "rounded_gold"),
    ("1, 2, 3", r"\{3, 2, 1\}", "any_order"),
    ("-2,-2", "a = -2, b = -2", "named_value"),
    (r"(1,2),(3,\frac{1}{2})", "(3, 0.5), (1, 2)", "any_order"),
    ("k=3", "3", None),
    (r"m_{\max}=n^{2}-n-1", "n^2-n-1", "named_value"),
    (r"\frac{\pi}{6}", r"30^\circ", "degrees_and_radians"),
    (r"45^{\circ}", "45", None),
    (r"\begin{pmatrix} -7 \\ 16 \\ 5 \end{pmatrix}", "(-7,16,5)", "vector_and_tuple"),
    (r"\{x|-1 < x < 1\}", "(-1, 1)", "set_by_condition"),
    (r"\left\{x \;|\; x \geqslant 1 \right\}", r"[1, \infty)", "set_by_condition"),
    (r"1 \pm \sqrt{19}", r"1 + \sqrt{19}, 1 - \sqrt{19}", "plus_minus"),
    ("204", r"204 \text{ minutes}", None),
    ("[7, +∞)", r"[7,\infty)", "value"),
    (r"\frac{\pi}{2}", "90°", "degrees_and_radians"),
    ("x = 1,\ny = 2x", "x=1, y=2x", None),
    (r"\frac{1}{3}", "0.333333...", "rounded_answer"),
    (r"\frac{ij}{10}\%", r"\frac{ji}{10}", "percent"),
]
UNEQUAL = [
    ("8", r"8\pi"),
    (r"8\pi", "8"),
    ("70", r"70\sqrt{2}"),
    ("1+2i", "1+3i"),
    ("3", "a=2, b=3"),
    ("1,3", "13"),
    ("5", "5.001"),
    ("0.5", "0.46"),
    ("0.3", r"\frac{1}{3}"),
    (r"\frac{1}{3}", "0.333"),
    ("12.55", "12.56"),
    ("10", r"11\%"),
    ("1.22", "122"),
    ("odd", r"\text{oddd}"),
    ("1, 2, 3", "1, 2, 4"),
    ("1, 2, 2", "1, 1, 2"),
    ("(1, 2)", "(2, 1)"),
    ("[0,1)", "[0,1]"),
    (r"\frac{\pi}{6}", r"60^\circ"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", "(2,1)"),
    ("x=3", "y=4"),
    (r"\{x|x \geq 1\}", "1"),
    (r"\{x|x \geq 1\}", r"(1, \infty)"),
    ("40, 60, 10", r"40 \text{ a}, 50 \text{ b}, 20 \text{ c}"),
    ("5", ""),
    ("", ""),
    ("2^{100}", "1267650600228229401496703205377"),
    ("x+1", "x-1"),
    (r"\sqrt{2}", "1.4142"),
    (r"\text{Evelyn}", r"\text{Eve}"),
    ("204_5", "204"),
    ("100,000,000", r"100,000,000 \pi"),
    ("-\x0crac{1}{6}", "-\x0crac{3}{2}"),
    ("e^{-200}", "e^{-201}"),
    ("(2,251,252)", "2251252"),
    ("A", "B"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \\ 3 & 5 \end{pmatrix}"),
]
READABLE = [
    "5",
    r"5\%",
    "x+1",
    r"\sqrt{40}",
    "90°",
    "[7, +∞)",
    r"\{x|0<x<1\}",
    r"\left\{x \;|\; x \geqslant 1 \right\}",
    "\\begin{pmatrix} \n0 & 0 \\\\ \n0 & 1 \n\\end{pmatrix}.",
    r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}",
    r"x = \frac{a}{2},\; " + "\n" + r"y = \frac{b}{2}",
    r"\left[\frac{\pi}{4} + k\pi, \frac{\pi}{2} + k\pi\right), k \in \mathbb{Z}",
    r"\left(i+j+\frac{ij}{100}\right)\%",
    r"\$5 x",
    "5 cm",
    "2n - m",
    r"0.\overline{5833}",
    r"10^{\frac{\lg a}{a}}",
    r"±($\frac {5}{13}$, $\frac {12}{13}$)",
    r"\text{even}",
    r"\text{Friday}",
    r"\text{A, D}",
]
NOT_READABLE = [
    "",
    "①③",
    "4:40 a.m.",
    r"3 \mid n",
    r"0, 1, 2, \ldots, 45",
    r"\exists x \in \mathbb{R}, x^{2} < 0",
    "10.8666...",
    "1" * (LONGEST + 1),
]


FRAGMENTS = [
    r"\frac",
    "{1}",
    "{2}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    r"\{",
    r"\}",
    r"\sqrt",
    r"\pi",
    "x",
    "2",
    "^",
    "_",
    "|",
    r"\mid",
    r"\left",
    r"\begin{pmatrix}",
    r"\end{pmatrix}",
    r"\\",
    "&",
    r"\text{ cm}",
    r"\text{ and }",
    "or",
    "for",
    r"\pm",
    "=",
    "<",
    r"\in",
    r"\cup",
    r"\circ",
    r"\%",
    "!",
    ",",
    ";",
    ":",
    r"\sum",
    r"\sin",
    r"\log",
    r"\infty",
    r"\boxed",
    "$",
    " ",
    "th",
    "and",
    r"\lfloor",
    r"\rfloor",
]


def operations(part: st.SearchStrategy[tuple[str, Fraction]]) -> st.SearchStrategy[tuple[str, Fraction]]:
    """Sums, differences, products and squares of parts, as text and as value."""

    def joined(sides: tuple[tuple[str, Fraction], tuple[str, Fraction]], sign: str) -> tuple[str, Fraction]:
        (left, a), (right, b) = sides
        return {
            "+": (f"({left}+{right})", a + b),
            "-": (f"({left}-{right})", a - b),
            "*": (rf"{left} \cdot {right}", a * b),
            "": (f"{left}{right}", a * b),
            "^": (f"({left})^2", a * a),
        }[sign]

    return st.builds(joined, st.tuples(part, part), st.sampled_from(["+", "-", "*", "^", ""]))


@pytest.mark.parametrize(("gold", "answer", "rule"), EQUAL)
def test_equal_answers_are_accepted_by_the_rule_meant_for_them(gold: str, answer: str, rule: str | None) -> None:
    verdict = equal(gold, answer)
    assert verdict.correct, verdict.rule
    assert rule is None or verdict.rule == rule


@pytest.mark.parametrize(("gold", "answer"), UNEQUAL)
def test_unequal_answers_are_rejected(gold: str, answer: str) -> None:
    verdict = equal(gold, answer)
    assert not verdict.correct, verdict.rule


@pytest.mark.parametrize("answer", READABLE)
def test_an_answer_with_a_value_is_readable(answer: str) -> None:
    assert readable(answer)


@pytest.mark.parametrize("answer", NOT_READABLE)
def test_a_string_that_is_only_copied_or_has_only_a_number_in_it_is_not_readable(answer: str) -> None:
    assert not readable(answer)


def test_an_answer_within_the_stated_tolerance_is_equal_and_one_outside_is_not() -> None:
    assert equal("4.2", "4.28", tolerance=0.1).correct
    assert not equal("4.2", "4.31", tolerance=0.1).correct
    assert not equal("4.2", "4.28").correct
    assert equal("(1, 4.2)", "(1, 4.28)", tolerance=0.1).correct


def test_the_explanation_says_what_was_read_and_which_rules_decided() -> None:
    text = explain("1, 0.67", r"\{\frac{2}{3}, 1\}")
    assert "verdict  equal by rounded_gold+any_order" in text
    assert Rule.ORDER.sentence in text
    assert "not read" in explain("1", r"\frac{1}{")


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_integers_are_decided_without_algebra_and_exactly(gold: int, answer: int) -> None:
    verdict = quick(str(gold), str(answer))
    assert verdict is not None
    assert verdict.correct == (gold == answer)


@given(st.fractions(max_denominator=999), st.fractions(max_denominator=999))
def test_fractions_are_decided_without_algebra_and_exactly(gold: object, answer: object) -> None:
    verdict = quick(f"{gold.numerator}/{gold.denominator}", rf"\dfrac{{{answer.numerator}}}{{{answer.denominator}}}")
    assert verdict is not None
    assert verdict.correct == (gold == answer)


@given(st.text(max_size=30))
def test_any_answer_that_is_not_blank_equals_itself(text: str) -> None:
    verdict = quick(text, text)
    assert verdict is not None


@given(
    st.integers(1, 10**6), st.sampled_from(["{}", " {} ", "${}$", "\\({}\\)", "{}.", "{:,}", "\\text{{{}}}", "{}.0"])
)
def test_an_integer_survives_its_spellings(value: int, spelling: str) -> None:
    assert quick(str(value), spelling.format(value)).correct


def test_an_endless_answer_is_not_read() -> None:
    assert equal("1", "(" * 10**5).rule == "too_long_to_read"


@given(st.text("0123456789xyk+-*/^_=<>()[]{}|,;:.!%$&' \\\n", max_size=60))
def test_no_string_of_signs_breaks_the_reader(text: str) -> None:
    verdict = by_reading("5", text, Policy(), None)
    assert verdict is None or verdict.correct in (True, False)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join))
def test_no_string_of_commands_breaks_the_reader(text: str) -> None:
    verdict = by_reading("x", text, Policy(), None)
    assert verdict is None or verdict.correct in (True, False)


@given(st.recursive(st.integers(-9, 9).map(lambda n: (f"({n}+0)", Fraction(n))), operations, max_leaves=12))
def test_arithmetic_is_what_exact_fractions_say(expression: tuple[str, Fraction]) -> None:
    text, value = expression
    assert quick(rf"\frac{{{value.numerator}}}{{{value.denominator}}}", text).correct
    assert not quick(rf"\frac{{{value.numerator + 1}}}{{{value.denominator}}}", text).correct
