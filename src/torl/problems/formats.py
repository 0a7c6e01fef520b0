"""Rows of a local file as dictionaries, whatever the format: parquet, jsonl, json, csv, arrow; each also as ``.zst``.

A row that cannot be decoded is yielded as a ``Rejection`` so that it is counted; a file that cannot be read is an
error.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from torl.enums import ExplainedEnum
from torl.errors import DataError

BATCH_ROWS = 2_000
CSV_FIELD_LIMIT = 16 * 1024 * 1024
"""Characters in one csv field; Python's own limit of 128 KiB is below the longest solutions."""


class Rejection(ExplainedEnum):
    """Why a row of a source file became no problem. Counted in the manifest."""

    NOT_UTF8 = "not_utf8", "The row holds bytes that are not UTF-8 text."
    NOT_JSON = "not_json", "The line is not a JSON object."
    MISSING_FIELD = "missing_field", "A field that the reader needs is absent or null."
    WRONG_TYPE = "wrong_type", "A field has a type that the reader does not know."
    EMPTY_TEXT = "empty_text", "The problem has no text."
    FLAGGED_INVALID = "flagged_invalid", "The source itself flags the problem as not valid."


Row = dict[str, Any] | Rejection


def iter_rows(path: Path | str) -> Iterator[Row]:
    """Yield the rows of ``path`` in order; a row that cannot be decoded is a ``Rejection`` in its place.

    Raises:
        DataError: the file is missing, truncated, empty, or of a format that is not known.
    """
    path = Path(path)
    parts = [suffix.lower() for suffix in path.suffixes]
    compressed = parts[-1:] == [".zst"]
    kind = parts[-2:-1] if compressed else parts[-1:]
    read = _FORMATS.get(kind[0] if kind else "")
    if read is None:
        raise DataError(
            f"{path} has no known format; accepted are {', '.join(sorted(_FORMATS))}, each also with .zst after it: "
            "rename or convert the file."
        )
    if not path.is_file():
        raise DataError(f"{path} does not exist; check data_dir and the path in the sources file.")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty (0 bytes); fetch or copy it again.")
    try:
        with path.open("rb") as raw:
            yield from read(decompressed(raw) if compressed else raw)
    except (pa.ArrowInvalid, zstandard.ZstdError, OSError, EOFError, csv.Error) as error:
        raise DataError(f"{path} is truncated or not a {kind[0]} file ({error}); fetch or copy it again.") from error


def decompressed(raw: BinaryIO) -> BinaryIO:
    """The whole zstd content of ``raw`` in memory, because parquet and arrow need to seek.

    Raises:
        zstandard.ZstdError: it is not zstd, or is cut off (where zstandard's own reader ends in silence).
    """
    data, content = raw.read(), io.BytesIO()
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        content.write(frame.decompress(data))
        if not frame.eof:
            raise zstandard.ZstdError("the last frame is cut off")
        data = frame.unused_data
    content.seek(0)
    return content


def _parquet(data: BinaryIO) -> Iterator[Row]:
    for batch in pq.ParquetFile(data).iter_batches(BATCH_ROWS):
        yield from _batch_rows(batch)


def _arrow(data: BinaryIO) -> Iterator[Row]:
    """An IPC stream (what the ``datasets`` library saves) or an IPC file; the latter starts with a magic word."""
    is_file = data.read(6) == b"ARROW1"
    data.seek(0)
    reader = pa.ipc.open_file(data) if is_file else pa.ipc.open_stream(data)
    batches = (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else reader
    for batch in batches:
        yield from _batch_rows(batch)


def _batch_rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """Rows of a batch; when one of them is not UTF-8, each is decoded alone so that only that one is rejected."""
    try:
        yield from batch.to_pylist()
        return
    except UnicodeDecodeError:
        pass
    for index in range(batch.num_rows):
        try:
            yield batch.slice(index, 1).to_pylist()[0]
        except UnicodeDecodeError:
            yield Rejection.NOT_UTF8


def _jsonl(data: BinaryIO) -> Iterator[Row]:
    for line in data:
        if line.strip():
            yield _json_line(line)


def _json_line(line: bytes) -> Row:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return Rejection.NOT_UTF8
    except (ValueError, RecursionError):
        return Rejection.NOT_JSON
    return row if isinstance(row, dict) else Rejection.NOT_JSON


def _json(data: BinaryIO) -> Iterator[Row]:
    """A list of rows, or an object whose values are rows (its keys are then the field ``key``)."""
    try:
        value = json.loads(data.read().decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise pa.ArrowInvalid(f"not JSON: {error}") from error
    if isinstance(value, dict):
        value = [{"key": key} | row if isinstance(row, dict) else row for key, row in value.items()]
    if not isinstance(value, list):
        raise pa.ArrowInvalid("neither a list nor an object of rows")
    for row in value:
        yield (row if isinstance(row, dict) else Rejection.NOT_JSON)


def _csv(data: BinaryIO) -> Iterator[Row]:
    csv.field_size_limit(CSV_FIELD_LIMIT)
    text = io.TextIOWrapper(data, encoding="utf-8-sig", errors="surrogateescape", newline="")
    for row in csv.DictReader(text):
        row.pop(None, None)
        yield row


_FORMATS: dict[str, Callable[[BinaryIO], Iterator[Row]]] = {
    ".parquet": _parquet,
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".arrow": _arrow,
}
