"""The program writes one tidy table for training and evaluation."""

import subprocess
from pathlib import Path

from tests.analysis.factory import Run, run_script
from torl.files import read_table


def analyse(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_script("analyse_run", *arguments)


def test_metrics_hold_training_and_every_evaluation(tmp_path: Path) -> None:
    run = Run(tmp_path, "torl", ("heldout", "hard"))
    out = tmp_path / "metrics.parquet"
    done = analyse("--done", run.done, "--evaluations", *run.evaluations, "--experiment", "torl", "--out", out)
    assert done.returncode == 0, done.stderr
    table = read_table(out)
    assert {row["benchmark"] for row in table} == {"train", "heldout", "hard"}
    assert len({row["step"] for row in table if row["benchmark"] == "train"}) == Run.STEPS
    assert {row["step"] for row in table if row["benchmark"] == "hard"} == {0, 10, 20, 30}


def test_an_untrained_model_has_evaluations_only(tmp_path: Path) -> None:
    run = Run(tmp_path, "torl")
    out = tmp_path / "metrics.parquet"
    assert analyse("--evaluations", *run.evaluations, "--experiment", "torl", "--out", out).returncode == 0
    assert {row["benchmark"] for row in read_table(out)} == {"heldout"}


def test_a_second_run_writes_the_same_bytes(tmp_path: Path) -> None:
    run = Run(tmp_path, "torl")
    outs = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for out in outs:
        analyse("--done", run.done, "--evaluations", *run.evaluations, "--experiment", "torl", "--out", out)
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_the_wrong_experiment_fails_with_the_cure(tmp_path: Path) -> None:
    run = Run(tmp_path, "torl")
    done = analyse("--done", run.done, "--experiment", "no_tool", "--out", tmp_path / "out.parquet")
    assert done.returncode == 1
    assert done.stderr.startswith("DataError: ")
    assert "pass its own files" in done.stderr
