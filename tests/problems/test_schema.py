from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.problems.factory import problem
from torl.errors import DataError
from torl.problems import schema
from torl.problems.schema import PROBLEM_SCHEMA, problem_id, read_problems, write_problems


def test_problems_come_back_as_they_were_written(tmp_path: Path) -> None:
    problems = [problem(), problem("Spaß: 2 + 2?", "4", solution="easy", level="Level 1", subset="sums")]
    assert write_problems(tmp_path / "p.parquet", problems) == 2
    assert read_problems(tmp_path / "p.parquet") == problems
    assert pq.read_schema(tmp_path / "p.parquet") == PROBLEM_SCHEMA


def test_problems_are_written_group_by_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "ROWS_A_GROUP", 2)
    write_problems(tmp_path / "p.parquet", (problem(f"What is {n}?", str(n)) for n in range(5)))
    assert pq.ParquetFile(tmp_path / "p.parquet").num_row_groups == 3
    assert [row.answer for row in read_problems(tmp_path / "p.parquet")] == ["0", "1", "2", "3", "4"]


def test_an_id_depends_on_the_text_without_layout() -> None:
    assert problem_id("What is $1 + 1$?") == problem_id("What is  1+1?")
    assert problem_id("What is $1 + 1$?") != problem_id("What is $1 - 1$?")


def test_a_missing_file_a_damaged_file_and_a_missing_column_are_data_errors(tmp_path: Path) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 nothing")
    pq.write_table(pa.table({"id": ["a"], "text": ["b"]}), tmp_path / "narrow.parquet")
    for name, what in (("none", "does not exist"), ("cut", "cannot be read"), ("narrow", "answer, level, origin")):
        with pytest.raises(DataError, match=what):
            read_problems(tmp_path / f"{name}.parquet")
