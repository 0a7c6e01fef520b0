"""Which training problems are benchmark problems: exact after normalisation, or with 13 words in a row in common.

Drawings do not count, and word runs that many training problems share ("relatively prime positive integers, find m +
n") are phrasing, not overlap.

Differs from ToRL: the paper does not say whether benchmark problems were removed from its training set.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from torl.problems.schema import Problem
from torl.problems.text import letters_and_digits, without_drawings, words

NGRAM_WORDS = 13
"""Words in a row that count as overlap, the length that GPT-3's contamination study made customary."""
COMMON_NGRAM = 10
"""Training problems from which a shared run of words is taken for phrasing; the same study's bound."""

OVERLAP_SCHEMA = pa.schema(
    [("problem_id", pa.string()), ("benchmark", pa.string()), ("benchmark_id", pa.string()), ("kind", pa.string())]
)


class Hit(NamedTuple):
    """A training problem that overlaps with a benchmark problem."""

    problem_id: str
    benchmark: str
    benchmark_id: str
    kind: str
    """``exact`` (the same letters and digits) or ``13-gram``."""


def find_overlap(problems: Iterable[Problem], benchmarks: Sequence[Problem]) -> list[Hit]:
    """One hit for each pair of a training problem and a benchmark problem that overlap, exact before 13-gram."""
    exact = defaultdict(list)
    grams = defaultdict(set)
    for index, benchmark in enumerate(benchmarks):
        exact[letters_and_digits(benchmark.text)].append(index)
        for gram in _ngrams(benchmark.text):
            grams[gram].add(index)
    kinds: dict[tuple[str, int], str] = {}
    shared: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for problem in problems:
        for index in exact.get(letters_and_digits(problem.text), ()):
            kinds[problem.id, index] = "exact"
        for gram in set(_ngrams(problem.text)) & grams.keys():
            shared[gram].append(problem.id)
    for gram, ids in shared.items():
        if len(ids) <= COMMON_NGRAM:
            for index in grams[gram]:
                for problem_id in ids:
                    kinds.setdefault((problem_id, index), f"{NGRAM_WORDS}-gram")
    pairs = [Hit(name, benchmarks[i].source, benchmarks[i].id, kind) for (name, i), kind in kinds.items()]
    return sorted(set(pairs), key=lambda hit: (hit.kind != "exact", hit))


def _ngrams(text: str) -> Iterator[tuple[str, ...]]:
    tokens = words(without_drawings(text))
    return (tuple(tokens[start : start + NGRAM_WORDS]) for start in range(len(tokens) - NGRAM_WORDS + 1))
