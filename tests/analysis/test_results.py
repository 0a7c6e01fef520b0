"""Evaluation files are told apart by what they hold."""

from pathlib import Path

import pytest

from tests.analysis.factory import make_row
from torl.analysis.results import experiments_of, last_step, read_evaluations, result_step, scores_at
from torl.errors import DataError
from torl.files import write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA


def write(path: Path, *rows: dict) -> Path:
    write_table(path, list(rows), TRAJECTORY_SCHEMA)
    return path


def test_a_benchmark_that_lacks_the_last_step_is_absent_from_it(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a", make_row(step=10, benchmark="easy")),
        write(tmp_path / "b", make_row(step=10, benchmark="hard")),
        write(tmp_path / "c", make_row(step=20, benchmark="easy")),
    ]
    found = read_evaluations(files)
    assert last_step(found, "torl") == 20
    assert scores_at(found, "torl", 20).keys() == {"easy"}


def test_the_untrained_model_is_the_result_of_no_training(tmp_path: Path) -> None:
    found = read_evaluations([write(tmp_path / "a", make_row(step=0))])
    trained = [{"experiment": "torl", "benchmark": "train", "step": step} for step in range(9)]
    assert result_step([], found, "torl") == 0
    assert result_step(trained, found, "torl") == 9
    assert scores_at(found, "torl", 9) == {}
    found = read_evaluations([write(tmp_path / "b", make_row(step=4))])
    assert result_step(trained, found, "torl") == 4


def test_an_empty_file_is_no_evaluation(tmp_path: Path) -> None:
    found = read_evaluations([write(tmp_path / "a")])
    assert (found, last_step(found, "torl")) == ([], None)


def test_a_file_of_two_policies_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a", make_row(step=1), make_row(step=2))
    with pytest.raises(DataError, match="one file a policy and benchmark"):
        read_evaluations([path])


def test_two_files_of_the_same_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="both hold"):
        read_evaluations([write(tmp_path / "a", make_row()), write(tmp_path / "b", make_row())])


def test_experiments_come_with_the_tool_first_then_by_name() -> None:
    table = [{"experiment": name} for name in ("penalty", "no_tool", "C2", "torl")]
    assert experiments_of(table, []) == ["torl", "no_tool", "C2", "penalty"]
