"""Values are exact where they are rational, sharp to forty digits elsewhere, bounded in size, and safe among threads."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.grading.commands import read_answer
from torl.grading.expressions import TooLargeError, UnreadError
from torl.grading.scalars import same_value
from torl.grading.values import MP, close, constant, point

IDENTITIES = [
    (r"\sin^2 x + \cos^2 x", "1"),
    (r"\frac{x^2-1}{x-1}", "x+1"),
    (r"\binom{n}{2}", r"\frac{n(n-1)}{2}"),
    (r"\lfloor \frac{n}{2} \rfloor + \lceil \frac{n}{2} \rceil", "n"),
    (r"2 \arctan 1", r"\frac{\pi}{2}"),
    (r"\sqrt{2}\sqrt{3} - \sqrt{6}", "0"),
    (r"\sqrt[3]{-8}", "-2"),
]
DIFFERENT = [
    (r"\binom{n}{2}", r"\frac{n(n+1)}{2}"),
    (r"\lfloor \frac{n}{2} \rfloor", r"\frac{n}{2}"),
    (r"\sqrt{x^2}", "x"),
    ("2^{300}", "2^{300}+1"),
    (r"\frac{1}{3}", "0." + "3" * 50),
    (r"\sqrt{2}", "1.41421356237309504880168872421"),
    ("e^{-200}", "0"),
]


@pytest.mark.parametrize(("first", "second"), IDENTITIES)
def test_an_identity_holds(first: str, second: str) -> None:
    assert same_value(read_answer(first), read_answer(second))


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_what_differs_in_one_unit_or_for_some_values_is_different(first: str, second: str) -> None:
    assert not same_value(read_answer(first), read_answer(second))


@pytest.mark.parametrize("text", ["10^{10^{10}}", "(10^9)!", r"\binom{10^9}{5}", "1e99999", "9" * 2000, r"e^{10^{9}}"])
def test_what_is_astronomically_large_is_not_computed(text: str) -> None:
    with pytest.raises(TooLargeError):
        constant(read_answer(text))


@pytest.mark.parametrize("text", [r"\frac{1}{0}", r"\ln 0", "x", "204_5", r"\max(i, 1)"])
def test_what_has_no_value_says_so(text: str) -> None:
    with pytest.raises(UnreadError):
        constant(read_answer(text))


@given(st.fractions(max_denominator=10**6), st.fractions(max_denominator=10**6))
def test_fractions_are_compared_exactly(first: Fraction, second: Fraction) -> None:
    assert close(first, second) is (first == second)


def test_a_variable_has_the_same_values_everywhere_and_others_than_another_one() -> None:
    values = [point(frozenset({"x", "y"}), index, integers=False) for index in range(8)]
    assert values == [point(frozenset({"y", "x"}), index, integers=False) for index in range(8)]
    assert all(value["x"] != value["y"] for value in values)
    assert {value["x"] > 0 for value in values} == {True, False}


def test_threads_leave_the_precision_as_it_is() -> None:
    before = MP.prec
    first, second = (
        read_answer(r"\sin(x)^2 + \log_3(x+10) + \sqrt[5]{x}"),
        read_answer(r"1-\cos(x)^2 + \log_3(x+10) + x^{1/5}"),
    )
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: same_value(first, second), range(64)))
    assert MP.prec == before
    assert len(set(results)) == 1
