"""The second half of the filter: rows against each other, over all shards, and the files that come out.

Order: copies that disagree, copies, near duplicates, overlap with benchmarks, prompt budget. The row of the best
provenance stays: one with a solution, then one with a level, then the first, in the order of the sources. Only numbers
and signatures of the rows are in memory (about 350 bytes each); texts are read and written a row group at a time.

Differs from ToRL: the paper gives only the totals (75,149 verifiable problems); here each row has its reason.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from torl.errors import DataError
from torl.files import atomic_path, write_json
from torl.problems.answers import AnswerGrader
from torl.problems.check import CHECKED_SCHEMA
from torl.problems.funnel import FilterSettings, Funnel
from torl.problems.overlap import OVERLAP_SCHEMA
from torl.problems.reasons import DropReason
from torl.problems.schema import PROBLEM_SCHEMA, open_parquet
from torl.problems.similar import PERMUTATIONS, near_pairs

RESERVED_TOKENS = 10
"""Tokens below the prompt budget that ToRL's own length filter leaves free."""

DROPPED_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("origin", pa.string()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)
_REASONS = tuple(DropReason)
_KEPT = -1
_NOT_COUNTED = -1
_CURE = "make it again with workflow/scripts/check_problems.py."


@dataclass(kw_only=True)
class Rows:
    """All rows as numbers, by position: shards in order, rows in order."""

    source: np.ndarray
    id: np.ndarray
    rank: np.ndarray
    answer_key: np.ndarray
    numbers_key: np.ndarray
    tokens: np.ndarray
    signature_R_P: np.ndarray
    """Signatures of the sound rows alone; ``signature_of`` has the place of each row's, -1 without one."""
    signature_of: np.ndarray
    reason: np.ndarray
    """Index in ``DropReason``, or -1 while the row is in."""
    detail: dict[int, str] = field(default_factory=dict)
    """Details of the rows that are dropped here; those of the first half stay in their files."""

    def drop(self, position: int, reason: DropReason, detail: str) -> None:
        """Take a row out; its first reason stays."""
        if self.reason[position] == _KEPT:
            self.reason[position] = _REASONS.index(reason)
            self.detail[position] = detail

    @property
    def left(self) -> np.ndarray:
        """Positions of the rows that are in, the best provenance first."""
        inside = np.flatnonzero(self.reason == _KEPT)
        return inside[np.argsort(self.rank[inside], kind="stable")]


class Sieve:
    """Decides on the rows of checked shards."""

    def __init__(self, shards: Sequence[Path | str], settings: FilterSettings) -> None:
        """Raises:
        DataError: a shard is missing, damaged or not one.
        """
        self._shards = shards
        self._settings = settings
        self.sources: list[str] = []
        self.rows = self._read()
        self._hits: list[dict[str, object]] = []

    def run(self, grader: AnswerGrader) -> Funnel:
        """Decide on each row.

        Args:
            grader: compares answers of copies that are spelled differently.

        Raises:
            DataError: no row came in, or none is left; the message has the funnel.
        """
        self._drop_copies(grader)
        self._drop_near()
        self._drop_overlap()
        self._drop_long()
        funnel = self._funnel()
        if not funnel.kept:
            raise DataError(
                f"no problem is left after the filter:\n{funnel.text()}\n"
                "Look at the rows of the largest reason, and at the reader that config/sources.yaml names for their source."
            )
        return funnel

    def write(self, funnel: Funnel, *, pool: Path, dropped: Path, overlap: Path, funnel_file: Path) -> None:
        """Write the kept problems, a row for each dropped one, the overlap with benchmarks, and the funnel."""
        with ExitStack() as stack:
            writers = [
                stack.enter_context(
                    pq.ParquetWriter(stack.enter_context(atomic_path(path)), schema, compression="zstd")
                )
                for path, schema in ((pool, PROBLEM_SCHEMA), (dropped, DROPPED_SCHEMA))
            ]
            for start, table in self._tables([*PROBLEM_SCHEMA.names, "detail"]):
                reasons = self.rows.reason[start : start + table.num_rows]
                writers[0].write_table(table.filter(pa.array(reasons == _KEPT)).select(PROBLEM_SCHEMA.names))
                writers[1].write_table(self._dropped(start, table, reasons))
            table = pa.Table.from_pylist(self._hits, schema=OVERLAP_SCHEMA)
            pq.write_table(table, stack.enter_context(atomic_path(overlap)), compression="zstd")
        write_json(funnel_file, funnel.to_json())

    def _read(self) -> Rows:
        """The numbers of all rows; memory is taken once, as the footers say how many there are."""
        total = sum(self._sizes())
        rows = Rows(
            source=np.zeros(total, np.int16),
            id=np.zeros(total, np.uint64),
            rank=np.zeros(total, np.int8),
            answer_key=np.zeros(total, np.uint64),
            numbers_key=np.zeros(total, np.uint64),
            tokens=np.zeros(total, np.int32),
            signature_R_P=np.zeros((total, PERMUTATIONS), np.uint32),
            signature_of=np.full(total, -1, np.int64),
            reason=np.full(total, _KEPT, np.int8),
        )
        codes: dict[str, int] = {}
        signed = 0
        names = ["id", "source", "reason", "tokens", "rank", "answer_key", "numbers_key", "signature"]
        for start, table in self._tables(names):
            part = slice(start, start + table.num_rows)
            columns = {name: table.column(name).combine_chunks() for name in names}
            rows.source[part] = [codes.setdefault(name, len(codes)) for name in columns["source"].to_pylist()]
            rows.id[part] = [int(name, 16) for name in columns["id"].to_pylist()]
            rows.reason[part] = [
                _KEPT if name is None else _REASONS.index(name) for name in columns["reason"].to_pylist()
            ]
            rows.tokens[part] = columns["tokens"].fill_null(_NOT_COUNTED).to_numpy(zero_copy_only=False)
            for name in ("rank", "answer_key", "numbers_key"):
                getattr(rows, name)[part] = columns[name].fill_null(0).to_numpy(zero_copy_only=False)
            sound = np.flatnonzero(rows.reason[part] == _KEPT)
            found = np.frombuffer(b"".join(columns["signature"].drop_null().to_pylist()), np.uint32)
            rows.signature_R_P[signed : signed + len(sound)] = found.reshape(-1, PERMUTATIONS)
            rows.signature_of[start + sound] = np.arange(signed, signed + len(sound))
            signed += len(sound)
        self.sources = list(codes)
        return rows

    def _drop_copies(self, grader: AnswerGrader) -> None:
        groups = self._copies()
        conflicts = self._conflicts(groups, grader)
        names = self._names({int(group[0]) for group in groups})
        for group in groups:
            best = int(group[0])
            for position in group.tolist():
                if best in conflicts:
                    self.rows.drop(position, DropReason.CONFLICTING_ANSWERS, conflicts[best])
                elif position != best:
                    self.rows.drop(position, DropReason.DUPLICATE, f"kept {names[best]}")

    def _copies(self) -> list[np.ndarray]:
        """Positions of the rows of each problem that occurs more than once, the best first."""
        left = self.rows.left
        order = left[np.argsort(self.rows.id[left], kind="stable")]
        ids = self.rows.id[order]
        starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]]) if len(ids) else np.zeros(0, np.int64)
        stops = np.r_[starts[1:], len(ids)]
        several = stops - starts > 1
        return [order[start:stop] for start, stop in zip(starts[several], stops[several], strict=True)]

    def _conflicts(self, groups: list[np.ndarray], grader: AnswerGrader) -> dict[int, str]:
        """The groups, by their first position, whose answers the grader takes for different, with the answers."""
        unlike = {}
        for group in groups:
            _, firsts = np.unique(self.rows.answer_key[group], return_index=True)
            if len(firsts) > 1:
                unlike[int(group[0])] = group[np.sort(firsts)].tolist()
        answers = self._values("answer", {position for positions in unlike.values() for position in positions})
        pairs = [(first, (answers[first], answers[other])) for first, same in unlike.items() for other in same[1:]]
        equal = grader.same([pair for _, pair in pairs])
        different = {first for (first, _), agree in zip(pairs, equal, strict=True) if not agree}
        return {first: " / ".join(repr(answers[place][:60]) for place in unlike[first]) for first in different}

    def _drop_near(self) -> None:
        """Drop rows that are near to one of better provenance that stays; so no chain of small changes is followed."""
        left = self.rows.left
        block = self.rows.numbers_key[left] ^ (self.rows.answer_key[left] * np.uint64(31))
        pairs = near_pairs(self.rows.signature_R_P[self.rows.signature_of[left]], block)
        names = self._names({int(left[pair.first]) for pair in pairs})
        for first, second, similarity in pairs:
            best, other = int(left[first]), int(left[second])
            if self.rows.reason[best] == _KEPT:
                self.rows.drop(other, DropReason.NEAR_DUPLICATE, f"{similarity:.2f} like {names[best]}")

    def _drop_overlap(self) -> None:
        for start, table in self._tables(["id", "overlap"]):
            for offset, (name, hits) in enumerate(zip(*(c.to_pylist() for c in table.columns), strict=True)):
                if not hits or self.rows.reason[start + offset] != _KEPT:
                    continue
                self._hits += [{"problem_id": name} | hit for hit in hits]
                if not self._settings.keep_overlap:
                    first = hits[0]
                    detail = f"{first['kind']}: {first['benchmark']} {first['benchmark_id']}"
                    self.rows.drop(start + offset, DropReason.BENCHMARK_OVERLAP, detail)

    def _drop_long(self) -> None:
        if self._settings.max_prompt_tokens is None:
            return
        budget = self._settings.max_prompt_tokens - RESERVED_TOKENS
        inside = self.rows.left
        if (self.rows.tokens[inside] == _NOT_COUNTED).any():
            raise DataError(
                f"max_prompt_tokens is {self._settings.max_prompt_tokens}, but rows were checked without a tokenizer; give "
                "check_problems one, or leave the budget out."
            )
        for position in inside[self.rows.tokens[inside] > budget].tolist():
            detail = f"{self.rows.tokens[position]} tokens, at most {budget}"
            self.rows.drop(position, DropReason.TOO_LONG, detail)

    def _funnel(self) -> Funnel:
        counts = np.zeros((len(_REASONS) + 1, len(self.sources)), dtype=np.int64)
        np.add.at(counts, (self.rows.reason, self.rows.source), 1)  # -1, kept, is the last line
        return Funnel(counts_N_S=counts, sources=self.sources, hits=self._hits, settings=self._settings)

    def _dropped(self, start: int, table: pa.Table, reasons: np.ndarray) -> pa.Table:
        """Rows of ``DROPPED_SCHEMA``: the detail is the shard's, or that of the second half."""
        out = np.flatnonzero(reasons != _KEPT)
        rows = table.take(pa.array(out))
        details = [
            self.rows.detail.get(start + place, detail)
            for place, detail in zip(out.tolist(), rows.column("detail").to_pylist(), strict=True)
        ]
        names = pa.array([str(_REASONS[index]) for index in reasons[out]], pa.string())
        columns = [rows.column(name) for name in ("id", "source", "origin")]
        return pa.table([*columns, names, pa.array(details, pa.string())], schema=DROPPED_SCHEMA)

    def _names(self, positions: set[int]) -> dict[int, str]:
        """How details call the rows that are kept in place of others."""
        origins = self._values("origin", positions)
        return {place: f"{self.sources[self.rows.source[place]]} {origin}" for place, origin in origins.items()}

    def _values(self, column: str, positions: set[int]) -> dict[int, str]:
        """The values of a text column at some positions."""
        if not positions:
            return {}
        return {
            start + offset: value
            for start, table in self._tables([column])
            for offset, value in enumerate(table.column(column).to_pylist())
            if start + offset in positions
        }

    def _sizes(self) -> list[int]:
        """Rows of each shard."""
        sizes = []
        for shard in self._shards:
            with open_parquet(shard, cure=_CURE) as file:
                missing = sorted(set(CHECKED_SCHEMA.names) - set(file.schema_arrow.names))
                if missing:
                    raise DataError(f"{shard} lacks the column(s) {', '.join(missing)} of checked rows; {_CURE}")
                sizes.append(file.metadata.num_rows)
        return sizes

    def _tables(self, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
        """Each row group of all shards with the position of its first row."""
        start = 0
        for shard in self._shards:
            with open_parquet(shard, cure=_CURE) as file:
                for group in range(file.num_row_groups):
                    table = file.read_row_group(group, columns=columns)
                    yield start, table
                    start += table.num_rows
