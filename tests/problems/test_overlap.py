from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.problems.factory import problem
from torl.problems.overlap import BenchmarkIndex, Hit, OverlapKind
from torl.problems.readers import ReadCounts, read_file
from torl.problems.schema import Problem
from torl.problems.similar import shingles, signatures

TEXT = (
    "A rectangular box has integer edges of lengths $a$, $b$ and $c$ with volume 240. What is the least sum that its "
    "three edges can have?"
)
THIRTEEN = "box has integer edges of lengths $a$, $b$ and $c$ with volume 240"


def hits(train: Sequence[Problem], benchmarks: Sequence[Problem]) -> list[list[Hit]]:
    runs = [shingles(row.text) for row in train]
    return BenchmarkIndex(benchmarks).hits(train, runs, signatures(runs))


def kinds(text: str, *, answer: str = "19", benchmark: str = TEXT) -> list[OverlapKind]:
    [found] = hits([problem(text, answer)], [problem(benchmark, "19", source="amc")])
    return [hit.kind for hit in found]


def test_the_same_letters_and_digits_are_an_exact_hit() -> None:
    train, other = problem("Find $X^2$, if x = 3!"), problem("Find $x^2$ if x = 4.")
    benchmark = problem("find x 2 if X=3", source="amc")
    [[hit], others] = hits([train, other], [benchmark])
    assert (hit.benchmark, hit.benchmark_id, hit.kind) == ("amc", benchmark.id, "exact")
    assert others == []


def test_thirteen_words_the_numbers_and_the_answer_in_common_are_a_hit_and_twelve_words_are_not() -> None:
    shares_13 = f"Wooden: a {THIRTEEN}. For what is the sum of its edges least?"
    shares_12 = shares_13.replace("box has", "crate has")
    assert kinds(shares_13) == [OverlapKind.NGRAM]
    assert kinds(shares_13, answer="20") == []
    assert kinds(shares_12) == []


def test_where_only_the_form_of_the_answer_is_another_the_numbers_decide() -> None:
    other = f"{TEXT} Give the sum plus one thousand."
    assert kinds(other, answer="1019") == [OverlapKind.NGRAM]
    assert kinds(other.replace("240", "360"), answer="1022") == []


def test_a_sibling_with_another_number_is_no_overlap() -> None:
    assert kinds(TEXT.replace("240", "360"), answer="22") == []


# Joined by signs, so that there are no thirteen words in a row that a changed number leaves alone.
SHORT = "Find least $n$ with " + " & ".join(f"$n^{n} > {n}50$" for n in range(2, 14)) + "."
REWORDED = SHORT.replace("least", "a natural").replace("with", "so that")


@pytest.mark.parametrize(
    ("text", "answer", "found"),
    [
        (REWORDED, "19", True),
        (REWORDED, "20", True),
        (SHORT.replace("750", "7500"), "19", True),
        (SHORT.replace("750", "7500"), "20", False),
        (SHORT.replace("350", "3500").replace("750", "7500").replace("1050", "100"), "19", False),
    ],
)
def test_nearly_the_same_words_are_a_hit_where_numbers_or_answer_are_the_same(
    text: str, answer: str, found: bool
) -> None:
    assert bool(kinds(text, answer=answer, benchmark=SHORT)) is found


def test_without_numbers_a_sibling_that_differs_in_a_word_is_no_overlap() -> None:
    text = "Determine the number of ways to arrange the letters of the word {}."
    assert kinds(text.format("TEPEE"), answer="20", benchmark=text.format("ELLIPSE")) == []


def test_a_hit_has_its_similarity() -> None:
    [[hit]] = hits([problem(SHORT.replace("750", "7500"), "19")], [problem(SHORT, "19", source="amc")])
    assert hit.kind is OverlapKind.NEAR
    assert 0.9 <= hit.similarity < 1


def test_a_phrase_that_competitions_repeat_is_no_overlap() -> None:
    phrase = "can be written as $m/n$ where $m$ and $n$ are relatively prime positive integers. Find $m + n$."
    benchmark = f"Two dice are rolled once. The probability that their sum is prime {phrase}"
    train = f"Ann runs home in the rain. The expected number of puddles she meets {phrase}"
    assert kinds(train, answer="20", benchmark=benchmark) == []


def test_drawing_code_is_no_overlap() -> None:
    drawing = f"[asy] {TEXT} [/asy]"
    assert kinds(f"What is one? {drawing}", benchmark=f"What is two then? {drawing}") == []


def test_without_benchmarks_nothing_overlaps() -> None:
    assert hits([problem()], []) == [[]]


def test_known_overlap_of_deepscaler_with_the_benchmarks_is_found(shared_data: Path) -> None:
    train = []
    for part in ("L1", "L3"):
        file = shared_data / f"sources/fastcurl_train_{part}.parquet"
        train += read_file(file, reader="verl", source="deepscaler", counts=ReadCounts())
    benchmarks = []
    files = {"math500": "math500_oneshot", "olympiadbench": "olympiadbench_qwen", "aime24": "aime24_qwen"}
    for name, path in files.items():
        file = shared_data / f"benchmarks/{path}.jsonl"
        benchmarks += read_file(file, reader="plain", source=name, counts=ReadCounts())
    exact = {hit[:2] for found in hits(train, benchmarks) for hit in found if hit.kind is OverlapKind.EXACT}
    found = {name: len([hit for hit in exact if hit[0] == name]) for name in files}
    assert found["math500"] >= 8
    assert found["olympiadbench"] >= 1
    assert found["aime24"] == 0


@pytest.mark.parametrize("kind", OverlapKind)
def test_every_kind_is_a_text_for_the_table(kind: OverlapKind) -> None:
    assert str(kind) in {"exact", "13-gram", "near"}
