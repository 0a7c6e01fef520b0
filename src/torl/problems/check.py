"""The first half of the filter: each row by itself, so that any number of jobs can share the rows.

A shard is a range of the rows of all files, in order. For each row its file has the problem, the rule that it breaks if
any, and what the second half (``torl.problems.sieve``) needs to compare rows: keys, a MinHash signature, overlap with
benchmarks, the length of the prompt. Rows pass in chunks, so memory does not grow with their number.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from torl.errors import ConfigError
from torl.files import atomic_path
from torl.problems.answers import AnswerGrader, AnswerJudge, KillableGrader
from torl.problems.overlap import OVERLAP_FIELDS, BenchmarkIndex, Hit
from torl.problems.reasons import DropReason
from torl.problems.schema import PROBLEM_SCHEMA, Problem, count_problems, iter_problems, problem_id
from torl.problems.similar import SIGNATURE_BYTES, digits, hash64, shingles, signatures
from torl.problems.text import answer_key
from torl.problems.verifiable import first_reason

CHUNK_ROWS = 1_000
"""Rows in work at once, and rows of a group of the shard's file."""

CHECKED_SCHEMA = pa.schema(
    [
        *PROBLEM_SCHEMA,
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("tokens", pa.int32()),
        ("rank", pa.int8()),
        ("answer_key", pa.uint64()),
        ("numbers_key", pa.uint64()),
        ("signature", pa.binary(SIGNATURE_BYTES)),
        ("overlap", pa.list_(pa.struct(OVERLAP_FIELDS))),
    ]
)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A row after the checks that need no other row of the pool."""

    problem: Problem
    reason: DropReason | None
    """The rule that the row breaks; ``None`` where text and answer are sound. The fields below are then set."""
    detail: str | None
    tokens: int | None = None
    """Length of the prompt; ``None`` without a tokenizer."""
    answer_key: int | None = None
    """Hash of the answer without spelling."""
    numbers_key: int | None = None
    """Hash of the digits of the text, its drawings included."""
    signature: bytes | None = None
    hits: Sequence[Hit] = ()

    @property
    def rank(self) -> int:
        """0 is the best provenance: a solution counts more than a level."""
        return 2 * (self.problem.solution is None) + (self.problem.level is None)

    def row(self) -> dict[str, Any]:
        """The row of ``CHECKED_SCHEMA``."""
        return asdict(self.problem) | {
            "reason": self.reason and str(self.reason),
            "detail": self.detail,
            "tokens": self.tokens,
            "rank": self.rank,
            "answer_key": self.answer_key,
            "numbers_key": self.numbers_key,
            "signature": self.signature,
            "overlap": [hit._asdict() for hit in self.hits],
        }


class Checker:
    """Checks rows in chunks."""

    def __init__(
        self,
        benchmarks: Sequence[Problem],
        grader: AnswerGrader,
        count_tokens: Callable[[Sequence[str]], list[int]] | None = None,
    ) -> None:
        """Args:
        grader: asked once about each distinct answer that is not a plain number.
        count_tokens: lengths of the prompts that texts become; without it no row is too long.
        """
        self._index = BenchmarkIndex(benchmarks)
        self._judge = AnswerJudge(grader)
        self._count_tokens = count_tokens

    def check(self, problems: Iterable[Problem]) -> Iterator[Checked]:
        """The checked row of each of ``problems``, in order."""
        remaining = iter(problems)
        while chunk := list(islice(remaining, CHUNK_ROWS)):
            # Ids of a file that others made may be anything; copies are found by those of the text.
            yield from self._chunk([replace(problem, id=problem_id(problem.text)) for problem in chunk])

    def _chunk(self, problems: list[Problem]) -> list[Checked]:
        found = [first_reason(problem) for problem in problems]
        unusable = self._judge.unusable(
            problem.answer for problem, reason in zip(problems, found, strict=True) if reason is None
        )
        for index, problem in enumerate(problems):
            if found[index] is None and problem.answer in unusable:
                found[index] = DropReason.UNPARSED_ANSWER, unusable[problem.answer]
        sound = iter(self._sound([problem for problem, reason in zip(problems, found, strict=True) if reason is None]))
        return [
            next(sound) if reason is None else Checked(problem=problem, reason=reason[0], detail=reason[1])
            for problem, reason in zip(problems, found, strict=True)
        ]

    def _sound(self, problems: list[Problem]) -> list[Checked]:
        """Rows that break no rule, with all that the second half compares."""
        runs = [shingles(problem.text) for problem in problems]
        signatures_R_P = signatures(runs)
        hits = self._index.hits(problems, runs, signatures_R_P)
        texts = [problem.text for problem in problems]
        tokens = self._count_tokens(texts) if self._count_tokens and texts else [None] * len(texts)
        return [
            Checked(
                problem=problem,
                reason=None,
                detail=None,
                tokens=length,
                answer_key=hash64(answer_key(problem.answer)),
                numbers_key=hash64(digits(problem.text)),
                signature=signature.tobytes(),
                hits=found,
            )
            for problem, length, signature, found in zip(problems, tokens, signatures_R_P, hits, strict=True)
        ]


def write_checked(path: Path | str, rows: Iterable[Checked]) -> int:
    """Write checked rows as parquet, atomically, one chunk in memory at a time; return their number."""
    written, remaining = 0, iter(rows)
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, CHECKED_SCHEMA, compression="zstd") as writer:
        while chunk := [row.row() for row in islice(remaining, CHUNK_ROWS)]:
            writer.write_table(pa.Table.from_pylist(chunk, schema=CHECKED_SCHEMA))
            written += len(chunk)
    return written


def shard_rows(files: Sequence[Path | str], shard: int, shards: int) -> Iterator[Problem]:
    """The rows of shard ``shard`` (from 1) of ``shards``: the files as one sequence, cut into equal ranges.

    Raises:
        ConfigError: there is no such shard.
    """
    if not 1 <= shard <= shards:
        raise ConfigError(f"shard is {shard} of {shards}; give a number from 1 to {shards}.")
    sizes = [count_problems(file) for file in files]
    start, stop = (int(np.ceil(part * sum(sizes) / shards)) for part in (shard - 1, shard))
    for file, size in zip(files, sizes, strict=True):
        if start < size and stop > 0:
            yield from iter_problems(file, start=max(start, 0), stop=min(stop, size))
        start, stop = start - size, stop - size


def check_shard(
    files: Sequence[Path | str],
    benchmarks: Sequence[Path | str],
    *,
    shard: int,
    shards: int,
    out: Path | str,
    count_tokens: Callable[[Sequence[str]], list[int]] | None = None,
    graders: int = 1,
) -> int:
    """Check the rows of one shard of problem ``files`` and write them to ``out``; return their number.

    Args:
        benchmarks: problem files that overlap is looked for with.
        graders: processes that parse answers.

    Raises:
        ConfigError: there is no such shard.
        DataError: a file is missing, damaged or no problem file.
    """
    total = sum(count_problems(file) for file in files) // shards
    known = [problem for file in benchmarks for problem in iter_problems(file)]
    with KillableGrader(workers=graders) as grader:
        checker = Checker(known, grader, count_tokens)
        rows = checker.check(shard_rows(files, shard, shards))
        what = f"check {shard} of {shards}"
        return write_checked(out, tqdm(rows, desc=what, total=total, unit=" rows", file=sys.stderr, mininterval=2.0))
