"""Plain numbers are exact, however they are written."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.grading.numbers import read_number
from torl.grading.text import normal_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("073", 73),
        ("204.0", 204),
        ("1,440", 1440),
        ("1{,}440", 1440),
        ("7,425,000.5", Fraction(14850001, 2)),
        ("-0.5", Fraction(-1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("+3", 3),
        ("3/4", Fraction(3, 4)),
        (r"\frac{3}{4}", Fraction(3, 4)),
        (r"\dfrac34", Fraction(3, 4)),
        (r"-\frac{3}{4}", Fraction(-3, 4)),
        (r"2\frac{1}{2}", Fraction(5, 2)),
        (r"-2\frac{1}{2}", Fraction(-5, 2)),
        ("$ 12 $", 12),
        ("−7", -7),
        ("12.", 12),
    ],
)
def test_a_plain_number_is_read_exactly(text: str, value: Fraction) -> None:
    assert read_number(normal_text(text)).value == value


@pytest.mark.parametrize(
    "text", ["", ".", "x", "1e5", "1,22", "0,111", "1/0", r"\frac{1}{0}", "1 2", "8\\pi", "1,2345", "--1"]
)
def test_anything_else_is_no_plain_number(text: str) -> None:
    assert read_number(normal_text(text)) is None


@given(st.integers())
def test_any_integer_is_itself_with_and_without_separators(value: int) -> None:
    assert read_number(str(value)).value == value
    assert read_number(f"{value:,}").value == value


@given(st.fractions(max_denominator=10**6))
def test_any_fraction_is_itself_in_both_spellings(value: Fraction) -> None:
    plain, latex = f"{value.numerator}/{value.denominator}", rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    assert read_number(plain).value == read_number(latex).value == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5))
def test_any_decimal_is_itself(value: object) -> None:
    assert read_number(f"{value:f}").value == Fraction(str(value))


def test_a_number_of_a_million_digits_is_left_alone() -> None:
    assert read_number("9" * 10**6) is None
