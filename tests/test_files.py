"""Rows of a JSONL file, or the line that is none."""

from pathlib import Path

import pytest

from torl.errors import DataError
from torl.files import read_jsonl


def test_rows_come_line_by_line_and_blank_lines_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": "é"}\n\n{"a": "\\ud800"}\n', encoding="utf-8")
    assert [row["a"] for row in read_jsonl(tmp_path / "rows.jsonl")] == ["é", "\ud800"]


@pytest.mark.parametrize("line", [b"{", b'{"a": "\xff"}', b"[1]", b"\xff"])
def test_a_line_that_is_no_object_in_utf_8_is_named_by_its_number(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"a": 1}\n' + line + b"\n")
    with pytest.raises(DataError, match=r"rows.jsonl line 2 "):
        list(read_jsonl(tmp_path / "rows.jsonl"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no file"):
        list(read_jsonl(tmp_path))


def test_a_last_line_that_was_cut_off_is_left_out_where_it_may_be(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n{"a": 2', encoding="utf-8")
    assert list(read_jsonl(tmp_path / "rows.jsonl", may_be_cut=True)) == [{"a": 1}]
    with pytest.raises(DataError, match=r"line 2 is not JSON"):
        list(read_jsonl(tmp_path / "rows.jsonl"))
