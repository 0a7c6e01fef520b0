import json
from pathlib import Path

import pytest

from torl.files import read_json, read_table
from torl.problems.__main__ import main


def test_filter_prints_the_funnel_and_writes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"problem": "What is 1 + 1?", "answer": "2"}, {"problem": "Is it 2?", "answer": "yes"}, {"problem": 3}]
    (tmp_path / "my rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert main(["filter", str(tmp_path / "my rows.jsonl"), "--reader", "plain", "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr()
    assert "yes_or_no" in output.out
    assert '"wrong_type": 1' in output.err
    assert read_json(tmp_path / "out/funnel.json")["kept"] == 1
    assert len(read_table(tmp_path / "out/pool.parquet")) == 1
    assert read_table(tmp_path / "out/overlap.parquet") == []


def test_an_error_is_one_line_and_a_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["filter", str(tmp_path / "none.parquet"), "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
