"""Bad input through the whole filter: each has its outcome, and none a traceback or an empty pool."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.problems.factory import problem
from torl.files import read_json, read_table
from torl.problems.__main__ import main
from torl.problems.schema import PROBLEM_SCHEMA, problem_id, write_problems

GOOD = {"problem": "What is 6 times 7?", "answer": "42"}


def run(folder: Path, file: str, *reader: str) -> int:
    return main(["filter", str(folder / file), "--out", str(folder / "out"), *reader])


def lines(folder: Path, *rows: Any) -> None:
    """Write ``rows`` as jsonl; bytes as they are."""
    parts = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    (folder / "rows.jsonl").write_bytes(b"\n".join(parts))


def kept(folder: Path) -> list[str]:
    return [row["answer"] for row in read_table(folder / "out" / "pool.parquet")]


def test_an_empty_file_is_an_error_that_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.jsonl").touch()
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 1
    assert "rows.jsonl is empty (0 bytes); fetch or copy it again" in capsys.readouterr().err
    write_problems(tmp_path / "none.parquet", [])
    assert run(tmp_path, "none.parquet") == 1
    assert "no problem is left after the filter" in capsys.readouterr().err


def test_a_missing_column_is_an_error_that_names_the_columns_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines(tmp_path, {"text": "What is 6 times 7?", "answer": "42"})
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 1
    assert "missing_field 1; the last row has the fields answer, text" in capsys.readouterr().err
    pq.write_table(pa.table({"id": ["a"], "text": ["What?"]}), tmp_path / "rows.parquet")
    assert run(tmp_path, "rows.parquet") == 1
    assert "lacks the column(s) answer, level, origin" in capsys.readouterr().err


def test_a_column_of_another_type_rejects_its_rows_or_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines(tmp_path, GOOD, {"problem": 7, "answer": "42"}, {"problem": "What is 1 + 1?", "answer": {"value": 2}})
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 0
    assert kept(tmp_path) == ["42"]
    assert '"wrong_type": 2' in capsys.readouterr().err
    table = pa.Table.from_pylist([vars(problem())], schema=PROBLEM_SCHEMA)
    wrong = table.set_column(table.schema.get_field_index("answer"), "answer", pa.array([42]))
    pq.write_table(wrong, tmp_path / "rows.parquet")
    assert run(tmp_path, "rows.parquet") == 1
    assert "has int64 in the column answer of a problem file, not string" in capsys.readouterr().err


def test_nulls_at_any_depth_reject_their_rows_or_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat = [{"role": "user", "content": "What is 6 times 7?"}]
    good = {"prompt": chat, "reward_model": {"ground_truth": "42"}}
    bad = [
        {"prompt": None, "reward_model": {"ground_truth": "1"}},
        {"prompt": [None], "reward_model": {"ground_truth": "1"}},
        {"prompt": [{"role": "user", "content": None}], "reward_model": {"ground_truth": "1"}},
        {"prompt": chat, "reward_model": None},
        {"prompt": [{"role": None, "content": "Why?"}], "reward_model": {"ground_truth": "1"}},
    ]
    lines(tmp_path, good, *bad, {"prompt": chat, "reward_model": {"ground_truth": None}})
    assert run(tmp_path, "rows.jsonl", "--reader", "verl") == 0
    assert kept(tmp_path) == ["42"]
    counts = capsys.readouterr().err.split("rows not read ")[1].splitlines()[0]
    assert json.loads(counts) == {"missing_field": 4, "wrong_type": 1}
    assert [row["reason"] for row in read_table(tmp_path / "out" / "dropped.parquet")] == ["empty_answer"]
    row = vars(problem()) | {"text": None}
    pq.write_table(pa.Table.from_pylist([row], schema=PROBLEM_SCHEMA), tmp_path / "rows.parquet")
    assert run(tmp_path, "rows.parquet") == 1
    assert "has rows without a value in the column(s) text" in capsys.readouterr().err


def test_bytes_that_are_not_utf8_reject_their_row_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines(tmp_path, GOOD, b'{"problem": "What is \xff?", "answer": "1"}')
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 0
    assert kept(tmp_path) == ["42"]
    assert '"not_utf8": 1' in capsys.readouterr().err
    table = pa.Table.from_pylist([vars(problem())], schema=PROBLEM_SCHEMA)
    broken = pa.array([b"What is \xff?"], pa.binary()).view(pa.string())
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", broken), tmp_path / "rows.parquet")
    assert run(tmp_path, "rows.parquet") == 1
    assert "cannot be read as parquet" in capsys.readouterr().err


def test_ids_that_occur_twice_are_made_again_from_the_texts(tmp_path: Path) -> None:
    rows = [problem("What is 6 times 7?", "42"), problem("What is 6 plus 7?", "13")]
    table = pa.Table.from_pylist([vars(row) | {"id": "1"} for row in rows], schema=PROBLEM_SCHEMA)
    pq.write_table(table, tmp_path / "rows.parquet")
    assert run(tmp_path, "rows.parquet") == 0
    pool = read_table(tmp_path / "out" / "pool.parquet")
    assert [(row["id"], row["answer"]) for row in pool] == [(problem_id(row.text), row.answer) for row in rows]


def test_a_truncated_parquet_is_an_error_with_the_cure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problems(tmp_path / "whole.parquet", [problem()])
    data = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "rows.parquet").write_bytes(data[: len(data) // 2])
    for reader in ((), ("--reader", "plain")):
        assert run(tmp_path, "rows.parquet", *reader) == 1
        message = capsys.readouterr().err
        assert "rows.parquet" in message
        assert "make it again" in message or "fetch or copy it again" in message
    assert not (tmp_path / "out" / "pool.parquet").exists()


@pytest.mark.parametrize(
    "filler", [lambda n: "a " * n, lambda n: "(1) find " * n, lambda n: "\\frac{" * n, lambda n: "[asy]" * n]
)
def test_a_problem_of_a_megabyte_is_dropped_at_once(tmp_path: Path, filler: Callable[[int], str]) -> None:
    bomb = filler(200_000)[:1_000_000]
    lines(tmp_path, GOOD, {"problem": bomb, "answer": "1"}, {"problem": "What is it?", "answer": bomb})
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 0
    assert kept(tmp_path) == ["42"]
    reasons = [row["reason"] for row in read_table(tmp_path / "out" / "dropped.parquet")]
    assert reasons == ["too_long", "unparsed_answer"]


def test_no_row_after_the_filter_is_an_error_that_shows_the_funnel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines(tmp_path, {"problem": "Is it?", "answer": "yes"}, {"problem": "Prove that it is.", "answer": ""})
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 1
    message = capsys.readouterr().err
    assert all(part in message for part in ("rows read", "proof", "yes_or_no", "kept"))
    assert not (tmp_path / "out" / "pool.parquet").exists()
    assert not (tmp_path / "out" / "funnel.json").exists()


def test_nothing_is_left_in_the_folder_but_the_four_files(tmp_path: Path) -> None:
    lines(tmp_path, GOOD)
    assert run(tmp_path, "rows.jsonl", "--reader", "plain") == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["dropped.parquet", "funnel.json", "overlap.parquet", "pool.parquet"]
    assert read_json(tmp_path / "out" / "funnel.json")["rows"] == 1
