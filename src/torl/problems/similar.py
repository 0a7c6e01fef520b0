"""How alike two problems are: MinHash signatures of word runs, and the pairs of rows whose signatures agree.

Two problems that differ in a number are different problems, however alike their words: rows are compared only within a
block, which the caller makes of what must be equal. Signatures are those of the library rensa; the bands are sorted
here, one at a time, because an index of a million rows in memory would take more than the rows.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rensa import RMinHash

from torl.problems.text import LAYOUT, OTHER_FRACTIONS, drawings, without_drawings

PERMUTATIONS = 64
"""Numbers in a signature; the estimated similarity has a standard error of at most 0.06."""
BAND_WIDTH = 3
"""Numbers of a band; of the 21 bands a pair of similarity 0.6 shares one with probability 0.994, one of 0.3 with 0.44."""
SHINGLE_TOKENS = 3
NEAR = 0.6
"""Similarity from which problems with the same numbers and the same answer are nearly the same."""
PAIRS_AT_ONCE = 100_000
SIGNATURE_BYTES = 4 * PERMUTATIONS
_SEED = 42

_LABELS = re.compile(
    r"\A(?:\s*(?:"
    r"\*{0,2}(?:example|problem|exercise|question|task|subject)\s*(?:no\.?\s*)?\d+(?:\.\d+)*[.,:)]?\*{0,2}[.,:)]?"
    r"|\d+(?:\.\d+)*[.)、．](?=\s|[A-Z$\\(])"
    r"|[(\[（【](?:\d+(?:\.\d+)?\s*(?:points?|marks?|分)?|(?:this question is worth|full mark|total)[^)\]）】]{0,40})[)\]）】]"
    r"|[(\[（【][^()\[\]（）【】]{0,60}\b(?:19|20)\d\d\b[^()\[\]（）【】]{0,60}[)\]）】]"
    r")\s*)+",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\\?[^\W\d_]+|\d+|[+\-*/=<>^|!]|\\[{}|]")
_DIGIT = re.compile(r"\d")


class Pair(NamedTuple):
    """Two rows that are nearly the same."""

    first: int
    second: int
    similarity: float
    """Share of the signature in which they agree: an estimate of the Jaccard similarity of their word runs."""


def core(text: str) -> str:
    """``text`` without its number in a collection, points, year of the contest, and drawings."""
    return _LABELS.sub("", unicodedata.normalize("NFKC", without_drawings(text)))


def digits(text: str) -> str:
    r"""All digits of ``text`` in order after those of its drawings, so that ``\frac12`` and ``\frac{1}{2}`` are alike."""
    return "".join(_DIGIT.findall("".join(drawings(text)) + core(text)))


def shingles(text: str) -> list[str]:
    """Runs of three words, numbers or operators in the core of ``text``; all of it as one where it is shorter."""
    tokens = _TOKEN.findall(LAYOUT.sub(" ", OTHER_FRACTIONS.sub(r"\\frac", core(text).casefold())))
    starts = range(max(1, len(tokens) - SHINGLE_TOKENS + 1))
    return [" ".join(tokens[start : start + SHINGLE_TOKENS]) for start in starts]


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Share of the word runs of both that both have; 0 where neither has any."""
    union = len(first | second)
    return len(first & second) / union if union else 0.0


def signatures(texts: Sequence[Sequence[str]]) -> np.ndarray:
    """MinHash signatures of shingled texts, ``(texts, PERMUTATIONS)`` of uint32."""
    rows = RMinHash.digests_from_token_sets([list(text) for text in texts], PERMUTATIONS, _SEED)
    return np.array(rows, dtype=np.uint32).reshape(len(texts), PERMUTATIONS)


def hash64(*parts: str) -> int:
    """A 64-bit number that depends on ``parts`` alone, the same in every process."""
    return int.from_bytes(hashlib.blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=8).digest())


def bands(signatures_R_P: np.ndarray) -> Iterator[np.ndarray]:
    """The keys of all rows in each band, one band in memory at a time: ``(rows,)`` of uint64."""
    for start in range(0, PERMUTATIONS - BAND_WIDTH + 1, BAND_WIDTH):
        key_R = np.zeros(len(signatures_R_P), dtype=np.uint64)
        for column in range(start, start + BAND_WIDTH):
            key_R = _mix(key_R ^ signatures_R_P[:, column].astype(np.uint64))
        yield key_R


def near_pairs(signatures_R_P: np.ndarray, block_R: np.ndarray, *, minimum: float = NEAR) -> list[Pair]:
    """Pairs of rows of one block that agree in at least ``minimum`` of the signature, sorted, ``first < second``.

    Of rows that share a band each is compared with the first of them and with the one before it, which keeps the cost
    linear where many are alike.

    Args:
        block_R: hash of what two rows must have in common to be compared at all.
    """
    candidates = [_neighbours(_mix(key_R ^ block_R)) for key_R in bands(signatures_R_P)]
    pair_N = np.unique(np.concatenate(candidates))
    similar: list[Pair] = []
    for start in range(0, len(pair_N), PAIRS_AT_ONCE):
        part_N = pair_N[start : start + PAIRS_AT_ONCE]
        first_N, second_N = part_N >> 32, part_N & 0xFFFFFFFF
        share_N = (signatures_R_P[first_N] == signatures_R_P[second_N]).mean(axis=1)
        same_N = (share_N >= minimum) & (block_R[first_N] == block_R[second_N])
        similar += map(Pair, first_N[same_N].tolist(), second_N[same_N].tolist(), share_N[same_N].tolist())
    return similar


def _neighbours(key_R: np.ndarray) -> np.ndarray:
    """Pairs of rows with one key, the smaller row in the upper half of an int64: each row with the first and the one
    before it of its key.
    """
    order_R = np.argsort(key_R, kind="stable")
    sorted_R = key_R[order_R]
    starts_R = np.r_[True, sorted_R[1:] != sorted_R[:-1]] if len(key_R) else np.zeros(0, dtype=bool)
    later = np.flatnonzero(~starts_R)
    first = np.flatnonzero(starts_R)[np.cumsum(starts_R)[later] - 1]
    return np.concatenate([order_R[first] << 32 | order_R[later], order_R[later - 1] << 32 | order_R[later]])


def _mix(value_R: np.ndarray) -> np.ndarray:
    """Spread the bits of 64-bit numbers (the finaliser of MurmurHash3)."""
    value_R = (value_R ^ (value_R >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    value_R = (value_R ^ (value_R >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return value_R ^ (value_R >> np.uint64(33))
