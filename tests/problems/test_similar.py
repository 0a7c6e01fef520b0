import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torl.problems.similar import NEAR, PERMUTATIONS, core, digits, jaccard, near_pairs, shingles, signatures

WORDS = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300)]


def blocks(*names: int) -> np.ndarray:
    return np.array(names, dtype=np.uint64)


@pytest.mark.parametrize(
    "label",
    [
        "Example 3. ",
        "12. ",
        "12. (20 points) ",
        "(15 points) ",
        "[4] ",
        "Problem 4: ",
        "(2003 AIME I) ",
        "(3) ",
        "**Task 3.** ",
    ],
)
def test_labels_of_a_collection_are_no_part_of_the_problem(label: str) -> None:
    text = "Find all $x$ with $x^2 = 9$."
    assert core(label + text) == core(text)
    assert digits(label + text) == "29"


@pytest.mark.parametrize(
    "text", ["2.5 kg of flour cost 3 euros.", "$3x + 4 = 10$. Find $x$.", "(2, 3) is a point of $f$."]
)
def test_numbers_that_begin_a_problem_are_no_labels(text: str) -> None:
    assert core(text) == text


def test_digits_do_not_depend_on_how_numbers_are_spelled_but_on_those_of_a_drawing() -> None:
    assert digits("$\\frac12$ of 1,000") == digits("$\\dfrac{1}{2}$ of $1000$")
    assert digits("Find it. [asy] draw((0,0)--(1,2)); [/asy]") == "0012"


def test_operators_count_in_word_runs_and_layout_does_not() -> None:
    assert shingles("$x+1$") != shingles("$x-1$")
    assert shingles("Let $\\left(\\dfrac{1}{2}\\right)$ be") == shingles("Let $(\\frac{1}{2})$ be")
    assert len(shingles("x")) == 1


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 100), st.integers(1, 100))
def test_the_estimate_is_near_the_jaccard_similarity(shared: int, own: int) -> None:
    first, second = WORDS[: shared + own], WORDS[own : shared + 2 * own]
    estimate = (np.diff(signatures([first, second]).astype(np.int64), axis=0) == 0).mean()
    assert abs(estimate - jaccard(frozenset(first), frozenset(second))) < 5 * 0.5 / PERMUTATIONS**0.5


def test_pairs_are_found_within_their_block_alone() -> None:
    texts = [WORDS[:40], WORDS[1:41], WORDS[:40], WORDS[100:140]]
    found = near_pairs(signatures(texts), blocks(1, 1, 2, 1))
    assert [(pair.first, pair.second) for pair in found] == [(0, 1)]
    assert NEAR <= found[0].similarity < 1


def test_many_equal_rows_cost_a_pair_or_two_each() -> None:
    same = signatures([WORDS[:40]] * 2_000)
    found = near_pairs(same, np.ones(2_000, dtype=np.uint64))
    assert {pair.second for pair in found} == set(range(1, 2_000))
    assert len(found) < 2 * 2_000


def test_no_rows_and_one_row_have_no_pairs() -> None:
    assert near_pairs(signatures([]), blocks()) == []
    assert near_pairs(signatures([["a"]]), blocks(1)) == []
