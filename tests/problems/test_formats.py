import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from torl.errors import DataError
from torl.problems.formats import Rejection, iter_rows

ROWS = [{"problem": "1 + 1?", "answer": "2"}, {"problem": "2 + 2?", "answer": "4"}]


def write(path: Path) -> None:
    """Write ``ROWS`` in the format of the file's name."""
    table = pa.Table.from_pylist(ROWS)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.name == "file.arrow":
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    else:
        texts = {
            "rows.jsonl": "\n".join(json.dumps(row) for row in ROWS) + "\n\n",
            "list.json": json.dumps(ROWS),
            "dict.json": json.dumps({"a": ROWS[0], "b": ROWS[1]}),
            "rows.csv": "problem,answer\n1 + 1?,2\n2 + 2?,4\n",
        }
        path.write_text(texts[path.name])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "name", ["rows.parquet", "rows.jsonl", "list.json", "dict.json", "rows.csv", "stream.arrow", "file.arrow"]
)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str, compressed: bool) -> None:
    path = tmp_path / name
    write(path)
    if compressed:
        data = zstandard.compress(path.read_bytes())
        path = path.with_name(f"{name}.zst")
        path.write_bytes(data)
    assert [{key: row[key] for key in ("problem", "answer")} for row in iter_rows(path)] == ROWS


def test_bytes_that_are_not_utf8_reject_their_row_alone(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b'{"a": "x"}\n{"a": "\xff"}\n{"a": "y"}\n')
    assert list(iter_rows(tmp_path / "r.jsonl")) == [{"a": "x"}, Rejection.NOT_UTF8, {"a": "y"}]
    column = pa.array([b"x", b"\xff", b"y"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"a": column}), tmp_path / "r.parquet")
    assert list(iter_rows(tmp_path / "r.parquet")) == [{"a": "x"}, Rejection.NOT_UTF8, {"a": "y"}]


def test_a_line_that_is_not_an_object_rejects_its_row_alone(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"a": 1}\n{"a": \n[1]\n')
    assert list(iter_rows(tmp_path / "r.jsonl")) == [{"a": 1}, Rejection.NOT_JSON, Rejection.NOT_JSON]


@pytest.mark.parametrize("name", ["rows.parquet", "stream.arrow", "rows.jsonl.zst"])
def test_a_truncated_file_is_a_data_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name.removesuffix(".zst")
    write(path)
    data = path.read_bytes() if path.name == name else zstandard.compress(path.read_bytes() * 50)
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=r"truncated|copy it again"):
        list(iter_rows(tmp_path / name))


def test_missing_empty_and_unknown_files_are_data_errors(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "table.xlsx").write_text("x")
    cases = (("none.jsonl", "does not exist"), ("empty.jsonl", "is empty"), ("table.xlsx", "no known format"))
    for name, what in cases:
        with pytest.raises(DataError, match=what):
            list(iter_rows(tmp_path / name))


def test_every_rejection_has_a_sentence() -> None:
    assert all(rejection.sentence.endswith(".") for rejection in Rejection)
