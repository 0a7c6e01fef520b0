"""Which training problems are benchmark problems: exactly, in part, or nearly.

* ``exact``: the same letters and digits.
* ``13-gram``: 13 words in a row in common and all numbers of the shorter problem in the longer one; besides, the same
  answer and three tenths of the shorter one's word runs, or the very same numbers and 85% of them.
* ``near``: word runs of Jaccard similarity 0.6 or more with the same numbers and the same answer, 0.8 or more with the
  same numbers, or 0.9 or more with the same answer.

Thirteen words alone say little: competitions repeat their phrasing ("relatively prime positive integers, find m + n")
and their templates, and a sibling with other numbers has another answer. Drawings do not count.

Differs from ToRL: the paper does not say whether benchmark problems were removed from its training set.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from torl.problems.schema import Problem
from torl.problems.similar import NEAR, bands, core, jaccard, shingles, signatures
from torl.problems.text import answer_key, letters_and_digits, words

NGRAM_WORDS = 13
"""Words in a row that count as overlap, the length that GPT-3's contamination study made customary."""
SHARED_WITH_ANSWER = 0.3
"""Share of the shorter problem's word runs in the longer one from which a 13-gram hit with the same answer counts."""
SHARED_WITH_NUMBERS = 0.85
"""The same where the answers differ (one may ask for m + n, the other for m/n) and the numbers do not."""
NEAR_WITH_NUMBERS = 0.8
"""Similarity from which the answers may differ, provided that the numbers do not."""
NEAR_IDENTICAL = 0.9
"""Similarity from which a number may differ, provided that the answer does not: a misprint, or another spelling."""

_NUMBER = re.compile(r"\d+")


class OverlapKind(StrEnum):
    """How a training problem overlaps with a benchmark problem."""

    EXACT = "exact"
    """The same letters and digits."""
    NGRAM = "13-gram"
    """Thirteen words in a row, the numbers, and the answer or nearly all other words."""
    NEAR = "near"
    """Nearly all word runs, and the same numbers or the same answer."""


OVERLAP_FIELDS = [
    ("benchmark", pa.string()),
    ("benchmark_id", pa.string()),
    ("kind", pa.string()),
    ("similarity", pa.float32()),
]
OVERLAP_SCHEMA = pa.schema([("problem_id", pa.string()), *OVERLAP_FIELDS])


class Hit(NamedTuple):
    """A benchmark problem that a training problem overlaps with."""

    benchmark: str
    benchmark_id: str
    kind: OverlapKind
    similarity: float
    """Jaccard similarity of the word runs, 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Prints:
    """What of a problem is compared."""

    letters: str
    grams: frozenset[tuple[str, ...]]
    runs: frozenset[str]
    numbers: Counter[str]
    answer: str


def prints_of(problem: Problem, runs: Sequence[str]) -> Prints:
    """The prints of ``problem``, whose word runs are ``runs``."""
    text = core(problem.text)
    return Prints(
        letters=letters_and_digits(text),
        grams=frozenset(_ngrams(words(text))),
        runs=frozenset(runs),
        numbers=Counter(_NUMBER.findall(text)),
        answer=answer_key(problem.answer),
    )


class BenchmarkIndex:
    """Finds the benchmark problems that a training problem overlaps with."""

    def __init__(self, benchmarks: Sequence[Problem]) -> None:
        self._benchmarks = benchmarks
        texts = [shingles(benchmark.text) for benchmark in benchmarks]
        self._prints = [prints_of(*pair) for pair in zip(benchmarks, texts, strict=True)]
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._grams: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._bands: dict[tuple[int, int], list[int]] = defaultdict(list)
        for index, prints in enumerate(self._prints):
            self._exact[prints.letters].append(index)
            for gram in prints.grams:
                self._grams[gram].append(index)
        for band, key_B in enumerate(bands(signatures(texts))):
            for index, key in enumerate(key_B.tolist()):
                self._bands[band, key].append(index)

    def hits(
        self, problems: Sequence[Problem], runs: Sequence[Sequence[str]], signatures_R_P: np.ndarray
    ) -> list[list[Hit]]:
        """The hits of each problem, exact before 13-gram before near.

        Args:
            runs: the word runs of each problem (``similar.shingles``).
            signatures_R_P: their signatures (``similar.signatures``).
        """
        if not self._benchmarks:
            return [[] for _ in problems]
        keys_R_K = np.stack(list(bands(signatures_R_P)), axis=1).tolist()
        return [self._hits(prints_of(*row), keys_K) for *row, keys_K in zip(problems, runs, keys_R_K, strict=True)]

    def _hits(self, prints: Prints, keys_K: list[int]) -> list[Hit]:
        exact = self._exact.get(prints.letters, ())
        by_gram = {index for gram in prints.grams & self._grams.keys() for index in self._grams[gram]}
        by_band = {index for band, key in enumerate(keys_K) for index in self._bands.get((band, key), ())}
        found = []
        for index in {*exact, *by_gram, *by_band}:
            other = self._prints[index]
            similarity = jaccard(prints.runs, other.runs)
            kind = OverlapKind.EXACT if index in exact else _kind(prints, other, similarity, index in by_gram)
            if kind:
                benchmark = self._benchmarks[index]
                found.append(Hit(benchmark.source, benchmark.id, kind, round(similarity, 3)))
        return sorted(found, key=lambda hit: (list(OverlapKind).index(hit.kind), -hit.similarity, hit))


def _kind(prints: Prints, other: Prints, similarity: float, share_gram: bool) -> OverlapKind | None:
    """How two problems overlap that are not exactly the same."""
    same_numbers = prints.numbers == other.numbers
    some_numbers = same_numbers and bool(prints.numbers)  # without any, a sibling may differ in a name or a word
    same_answer = bool(prints.answer) and prints.answer == other.answer
    if share_gram and _contains(prints, other, some_numbers, same_answer):
        return OverlapKind.NGRAM
    enough = (same_answer and similarity >= (NEAR if same_numbers else NEAR_IDENTICAL)) or (
        some_numbers and similarity >= NEAR_WITH_NUMBERS
    )
    return OverlapKind.NEAR if enough else None


def _contains(first: Prints, second: Prints, same_numbers: bool, same_answer: bool) -> bool:
    """Whether the shorter problem is in the longer one, with all its numbers."""
    shorter, longer = sorted((first, second), key=lambda prints: len(prints.runs))
    shared = len(shorter.runs & longer.runs) / len(shorter.runs)
    enough = (same_answer and shared >= SHARED_WITH_ANSWER) or (same_numbers and shared >= SHARED_WITH_NUMBERS)
    return enough and shorter.numbers <= longer.numbers


def _ngrams(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(tokens[start : start + NGRAM_WORDS]) for start in range(len(tokens) - NGRAM_WORDS + 1))
