"""The run folder: one owner, and nothing of work that will be done again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from torl.errors import TrainerError
from torl.files import write_json
from torl.training.run_dir import RunDir


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    return RunDir(tmp_path / "a run")


def metrics(*steps: int, value: int = 0) -> str:
    return "".join(json.dumps({"step": step, "data": {"v": value}}) + "\n" for step in steps)


def test_a_second_process_is_refused_while_the_first_has_the_run(run_dir: RunDir) -> None:
    code = f"from torl.training.run_dir import RunDir\nwith RunDir({str(run_dir.root)!r}).locked(): pass"
    with run_dir.locked():
        held = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    free = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "in use by another training process" in held.stderr
    assert free.returncode == 0


def test_a_lock_of_a_dead_process_does_not_hold(run_dir: RunDir) -> None:
    code = (
        f"import os\nfrom torl.training.run_dir import RunDir\nwith RunDir({str(run_dir.root)!r}).locked(): os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with run_dir.locked():
        pass


def test_a_run_is_found_where_its_folder_and_done_json_were_moved_together(tmp_path: Path) -> None:
    (tmp_path / "old" / "runs" / "a").mkdir(parents=True)
    write_json(tmp_path / "old" / "torl" / "done.json", {"run_dir": "../runs/a"})
    (tmp_path / "old").rename(tmp_path / "new")
    assert RunDir.named_by(tmp_path / "new" / "torl" / "done.json").root == tmp_path / "new" / "runs" / "a"


def test_a_run_that_is_gone_is_an_error_with_its_cure(tmp_path: Path) -> None:
    write_json(tmp_path / "done.json", {"run_dir": "runs/a"})
    with pytest.raises(TrainerError, match=r"runs/a, which is not there; move it back"):
        RunDir.named_by(tmp_path / "done.json")


def test_rewinding_forgets_trajectories_and_metrics_after_the_checkpoint(run_dir: RunDir) -> None:
    run_dir.trajectories.mkdir(parents=True)
    for step in range(4):
        run_dir.trajectory_file(step, "w").write_text("{}\n")
    (run_dir.new_attempt() / "metrics.jsonl").write_text(metrics(1, 2, 3, 4))
    run_dir.rewind(2)
    # the policy after 2 updates answers in step 3, which will be done again
    assert sorted(path.name for path in run_dir.trajectories.iterdir()) == [
        "step_000000.w.jsonl",
        "step_000001.w.jsonl",
    ]
    assert [json.loads(line)["step"] for line in run_dir.metrics.read_text().splitlines()] == [1, 2]


def test_a_later_attempt_wins_and_a_cut_line_is_dropped(run_dir: RunDir) -> None:
    (run_dir.new_attempt() / "metrics.jsonl").write_text(metrics(1, 2, 3) + '{"step": 4, "da')
    (run_dir.new_attempt() / "metrics.jsonl").write_text(metrics(3, 4, value=1))
    run_dir.collect_metrics(4)
    rows = [json.loads(line) for line in run_dir.metrics.read_text().splitlines()]
    assert [(row["step"], row["data"]["v"]) for row in rows] == [(1, 0), (2, 0), (3, 1), (4, 1)]


def test_a_run_without_checkpoints_is_at_step_0(run_dir: RunDir) -> None:
    assert run_dir.latest_step() == 0


def test_weights_of_a_step_that_was_not_saved_are_an_error(run_dir: RunDir) -> None:
    with pytest.raises(TrainerError, match="no whole model"):
        run_dir.keep_weights(10)


def test_kept_weights_outlive_the_checkpoint(run_dir: RunDir, tiny_model: Path) -> None:
    import shutil

    shutil.copytree(tiny_model, run_dir.checkpoint(10) / "actor" / "huggingface")
    run_dir.keep_weights(10)
    shutil.rmtree(run_dir.checkpoint(10))
    assert (run_dir.weights(10) / "model.safetensors").stat().st_size > 0
