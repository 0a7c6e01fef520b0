"""Files that are either whole or absent.

Every writer makes a sibling temporary file, syncs it and renames it, so that a killed job leaves nothing half-written behind
under the final name.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from torl.errors import DataError


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it to ``path`` when the block ends without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as indented JSON with sorted keys, atomically."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON file.

    Raises:
        DataError: the file is missing or is not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; run the rule that makes it.") from error
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error}); delete it and run the rule that makes it again.") from error


def json_line(row: dict[str, Any]) -> str:
    """``row`` as one line of a JSONL file; in ASCII, because a model may write half a character."""
    return json.dumps(row, sort_keys=True) + "\n"


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object a line, atomically."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json_line(row))


def read_jsonl(path: Path | str, *, may_be_cut: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file; with ``may_be_cut`` a last line that a kill cut off is left out.

    Raises:
        DataError: the file is missing, or a line is not a JSON object (the message has its number).
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist; run the rule that makes it.")
    if not path.is_file():
        raise DataError(f"{path} is no file; give the path of a JSONL file.")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip() or (may_be_cut and not line.endswith(b"\n")):
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{path} line {number} is not JSON ({error}); mend or remove that line.") from error
            if not isinstance(row, dict):
                raise DataError(f"{path} line {number} is {type(row).__name__}, not an object; mend that line.")
            yield row


def write_table(path: Path | str, rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> None:
    """Write rows as parquet, atomically. Without rows a schema is required, so that an empty table keeps its columns."""
    if not rows and schema is None:
        raise DataError(f"{path} would be a table without rows and columns; pass its schema.")
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), temporary, compression="zstd")


def read_table(path: Path | str, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """Read a parquet file as a list of rows.

    Raises:
        DataError: the file is missing, truncated, or lacks one of ``columns``.
    """
    try:
        return pq.read_table(path, columns=columns).to_pylist()
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; run the rule that makes it.") from error
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        raise DataError(f"{path} cannot be read as parquet ({error}); delete it and make it again.") from error


def sha256_of(path: Path | str) -> str:
    """Hexadecimal sha256 of a file's bytes, read in blocks."""
    with Path(path).open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def stable_seed(*parts: object) -> int:
    """A 63-bit seed that depends on ``parts`` alone: the same in every process and on every machine."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
