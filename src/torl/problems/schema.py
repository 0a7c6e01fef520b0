"""One problem, whatever source it came from, and the parquet form in which problems pass between rules."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from torl.errors import DataError
from torl.files import atomic_path
from torl.problems.text import problem_key

ROWS_A_GROUP = 5_000
"""Rows held in memory at once while a file is written or read."""
_CURE = "make it again with workflow/scripts/fetch_problems.py."

PROBLEM_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("subset", pa.string()),
        ("text", pa.string()),
        ("answer", pa.string()),
        ("solution", pa.string()),
        ("level", pa.string()),
        ("origin", pa.string()),
        ("tolerance", pa.float64()),
    ]
)
_REQUIRED = ("id", "source", "subset", "text", "answer", "origin")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A question with its gold answer."""

    id: str
    """Hash of the text without layout and punctuation: the same problem has the same id in every source."""
    source: str
    """Name of the entry of ``config/sources.yaml``, or of the benchmark."""
    subset: str
    """What the source calls the collection or subject of the row; empty where it says nothing."""
    text: str
    """The question alone, without an instruction on how to answer."""
    answer: str
    """The gold answer without delimiters; empty where the source has none."""
    solution: str | None
    """The worked solution, where the source has one."""
    level: str | None
    """Difficulty or kind as the source words it, for example ``Level 5`` or ``proof``."""
    origin: str
    """Where the row was read: ``file:row``, rows counted from 0."""
    tolerance: float | None = None
    """The largest difference from the answer that still counts as right, where the problem states one (OlympiadBench)."""


def problem_id(text: str) -> str:
    """16 hexadecimal digits that depend on the normalised ``text`` alone."""
    return hashlib.sha256(problem_key(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_problems(path: Path | str, problems: Iterable[Problem]) -> int:
    """Write ``problems`` as parquet, atomically, one row group in memory at a time; return their number."""
    rows = 0
    remaining = iter(problems)
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, PROBLEM_SCHEMA, compression="zstd") as writer:
        while group := list(islice(remaining, ROWS_A_GROUP)):
            writer.write_table(pa.Table.from_pylist([asdict(problem) for problem in group], schema=PROBLEM_SCHEMA))
            rows += len(group)
    return rows


def count_problems(path: Path | str) -> int:
    """Rows of a problem file, from its footer alone.

    Raises:
        DataError: the file is missing or damaged.
    """
    with open_parquet(path) as file:
        return file.metadata.num_rows


def iter_problems(path: Path | str, *, start: int = 0, stop: int | None = None) -> Iterator[Problem]:
    """Yield the problems of a file that ``write_problems`` made, one row group in memory at a time.

    Args:
        start, stop: rows to yield, as in a slice; row groups outside are not read.

    Raises:
        DataError: the file is missing or damaged, lacks a column of ``PROBLEM_SCHEMA``, or has one of another type.
    """
    with open_parquet(path) as file:
        _require_columns(path, file.schema_arrow)
        first = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            low, high = max(start - first, 0), rows if stop is None else min(stop - first, rows)
            first += rows
            if low < high:
                table = file.read_row_group(group, columns=PROBLEM_SCHEMA.names).slice(low, high - low)
                _require_values(path, table)
                for row in table.to_pylist():
                    yield Problem(**row)


@contextmanager
def open_parquet(path: Path | str, *, cure: str = _CURE) -> Iterator[pq.ParquetFile]:
    """The parquet file, open until the block ends.

    Raises:
        DataError: it is missing or damaged, also when that shows only inside the block.
    """
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; {cure}") from error
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as parquet ({error}); {cure}") from error


def _require_columns(path: Path | str, found: pa.Schema) -> None:
    missing = sorted(set(PROBLEM_SCHEMA.names) - set(found.names))
    if missing:
        raise DataError(f"{path} lacks the column(s) {', '.join(missing)} of a problem file; {_CURE}")
    for field in PROBLEM_SCHEMA:
        kind = found.field(field.name).type
        if kind not in (field.type, pa.null()) and (kind, field.type) != (pa.large_string(), pa.string()):
            raise DataError(
                f"{path} has {kind} in the column {field.name} of a problem file, not {field.type}; {_CURE}"
            )


def _require_values(path: Path | str, table: pa.Table) -> None:
    empty = [name for name in _REQUIRED if table.column(name).null_count]
    if empty:
        raise DataError(f"{path} has rows without a value in the column(s) {', '.join(empty)}; {_CURE}")


def read_problems(path: Path | str) -> list[Problem]:
    """All problems of a file; see ``iter_problems``."""
    return list(iter_problems(path))
