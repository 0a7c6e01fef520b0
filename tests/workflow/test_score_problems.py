"""Rule score_problems: learning-impact scores from the trajectories of a probe run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from torl.config import load_settings, resolve
from torl.errors import DataError
from torl.files import read_table, write_json, write_jsonl, write_table
from torl.training.probe import learning_curves
from torl.training.run_dir import RunDir


def row(step: int, problem: str, correct: bool | None) -> dict[str, object]:
    return {"step": step, "problem_id": problem, "correct": correct}


def test_a_curve_has_the_share_of_right_answers_of_each_pass() -> None:
    rows = [row(0, "a", True), row(0, "a", False), row(1, "b", True), row(2, "a", True), row(2, "a", True)]
    curves = learning_curves(rows, steps_per_epoch=2, epochs=2)
    assert curves == {"a": [0.5, 1.0], "b": [1.0, None]}


def test_steps_after_the_last_whole_pass_do_not_count() -> None:
    rows = [row(0, "a", False), row(1, "a", True)]
    assert learning_curves(rows, steps_per_epoch=1, epochs=1) == {"a": [0.0]}


def test_an_answer_that_was_not_judged_does_not_count() -> None:
    assert learning_curves([row(0, "a", None)], steps_per_epoch=1, epochs=1) == {}


def test_a_run_of_less_than_one_pass_is_an_error() -> None:
    with pytest.raises(DataError, match="no whole pass"):
        learning_curves([], steps_per_epoch=10, epochs=0)


def test_the_program_writes_a_score_for_every_problem(tmp_path: Path) -> None:
    overrides = {"train": {"steps": 4, "prompts_per_step": 2, "save_every": 2}, "evaluation": {"every": 2}}
    config = resolve(load_settings({"overrides": overrides}, PROJECT / "config"), "probe", PROJECT / "config")
    run_dir = RunDir(tmp_path / "run")
    write_json(run_dir.root / "config.json", config.model_dump(mode="json"))
    write_json(tmp_path / "done.json", {"run_dir": str(run_dir.root)})
    write_table(tmp_path / "train.parquet", [{"x": i} for i in range(4)])  # 2 steps a pass, 2 passes
    solved = {"never": [False, False], "later": [False, True], "always": [True, True], "also": [False, True]}
    for step in range(4):
        names = list(solved)[:2] if step % 2 == 0 else list(solved)[2:]
        rows = [row(step, name, solved[name][step // 2]) for name in names]
        write_jsonl(run_dir.trajectory_file(step, "w"), rows)
    script = PROJECT / "workflow" / "scripts" / "score_problems.py"
    command = [sys.executable, str(script), "--done", str(tmp_path / "done.json")]
    command += ["--problems", str(tmp_path / "train.parquet"), "--out", str(tmp_path / "scores.parquet")]
    subprocess.run(command, check=True)
    scores = {row["problem_id"]: row["score"] for row in read_table(tmp_path / "scores.parquet")}
    # the mean curve is 1/4, 3/4, so the room above it is 10/16; the curves are at distance 10/16, 2/16, 10/16, 2/16
    assert scores == {"never": 0.0, "later": 0.8, "always": 0.0, "also": 0.8}
