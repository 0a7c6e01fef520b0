"""Rule export_policy: the weights of a step in a folder of their own, whole or absent."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from torl.files import read_json, sha256_of, write_json


def export(folder: Path, base: Path, step: int) -> subprocess.CompletedProcess[str]:
    script = PROJECT / "workflow" / "scripts" / "export_policy.py"
    command = [sys.executable, str(script), "--done", str(folder / "done.json"), "--base", str(base)]
    command += ["--step", str(step), "--out", str(folder / f"step_{step}" / "export.json")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path, tiny_model: Path) -> Path:
    run_dir = tmp_path / "a run"
    shutil.copytree(tiny_model, run_dir / "weights" / "step_10")
    write_json(tmp_path / "done.json", {"experiment": "torl", "run_dir": str(run_dir)})
    return tmp_path


@pytest.mark.parametrize("step", [0, 10])
def test_a_step_is_exported_with_the_hash_of_its_weights(folder: Path, tiny_model: Path, step: int) -> None:
    assert export(folder, tiny_model, step).returncode == 0
    manifest = read_json(folder / f"step_{step}" / "export.json")
    weights = folder / f"step_{step}" / "model.safetensors"
    assert manifest["sha256"] == {"model.safetensors": sha256_of(weights)}
    assert (manifest["experiment"], manifest["step"]) == ("torl", step)
    from transformers import AutoModelForCausalLM

    AutoModelForCausalLM.from_pretrained(folder / f"step_{step}")


def test_exporting_again_replaces_what_is_there(folder: Path, tiny_model: Path) -> None:
    (folder / "step_10").mkdir()
    (folder / "step_10" / "left over").touch()
    assert export(folder, tiny_model, 10).returncode == 0
    assert not (folder / "step_10" / "left over").exists()


def test_a_step_that_was_not_kept_is_named_and_leaves_nothing(folder: Path, tiny_model: Path) -> None:
    result = export(folder, tiny_model, 20)
    assert result.returncode == 1
    assert "step_20 holds no whole model" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "step_20").exists()


def test_weights_without_a_tokenizer_are_refused(folder: Path, tiny_model: Path) -> None:
    (folder / "a run" / "weights" / "step_10" / "tokenizer_config.json").unlink()
    assert "tokenizer_config.json" in export(folder, tiny_model, 10).stderr


def test_a_broken_done_file_is_named(folder: Path, tiny_model: Path) -> None:
    (folder / "done.json").write_text(json.dumps({"experiment": "torl"})[:-3])
    assert "is not JSON" in export(folder, tiny_model, 10).stderr
