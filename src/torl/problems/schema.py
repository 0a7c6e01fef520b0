"""One problem, whatever source it came from, and the parquet form in which problems pass between rules."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from torl.errors import DataError
from torl.files import atomic_path
from torl.problems.text import text_key

ROWS_A_GROUP = 20_000
"""Rows held in memory at once while a file is written."""

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
    ]
)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A question with its gold answer."""

    id: str
    """Hash of the text without layout: the same problem has the same id in every source."""
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


def problem_id(text: str) -> str:
    """16 hexadecimal digits that depend on the normalised ``text`` alone."""
    return hashlib.sha256(text_key(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_problems(path: Path | str, problems: Iterable[Problem]) -> int:
    """Write ``problems`` as parquet, atomically, one row group in memory at a time; return their number."""
    rows = 0
    remaining = iter(problems)
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, PROBLEM_SCHEMA, compression="zstd") as writer:
        while group := list(islice(remaining, ROWS_A_GROUP)):
            writer.write_table(pa.Table.from_pylist([asdict(problem) for problem in group], schema=PROBLEM_SCHEMA))
            rows += len(group)
    return rows


def iter_problems(path: Path | str) -> Iterator[Problem]:
    """Yield the problems of a file that ``write_problems`` made, one row group in memory at a time.

    Raises:
        DataError: the file is missing or damaged, or lacks a column of ``PROBLEM_SCHEMA``.
    """
    cure = "make it again with workflow/scripts/fetch_problems.py."
    try:
        with pq.ParquetFile(path) as file:
            missing = set(PROBLEM_SCHEMA.names) - set(file.schema_arrow.names)
            if missing:
                raise DataError(f"{path} lacks the column(s) {', '.join(sorted(missing))} of a problem file; {cure}")
            for group in range(file.num_row_groups):
                for row in file.read_row_group(group, columns=PROBLEM_SCHEMA.names).to_pylist():
                    yield Problem(**row)
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; {cure}") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path} cannot be read as parquet ({error}); {cure}") from error


def read_problems(path: Path | str) -> list[Problem]:
    """All problems of a file; see ``iter_problems``."""
    return list(iter_problems(path))
