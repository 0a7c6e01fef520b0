"""What decides a run, and what its processes inherit."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT
from torl.config import RunConfig, load_settings, resolve
from torl.errors import TrainerError
from torl.training.launch import run_dir_for, run_fingerprint, sized, training_cost, training_environment

CONFIG = PROJECT / "config"


def config(scale: str = "demo", experiment: str = "torl", **overrides: Any) -> RunConfig:
    return resolve(load_settings({"scale": scale, "overrides": overrides}, CONFIG), experiment, CONFIG)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "train.parquet"
    path.write_bytes(b"some problems")
    return path


def folder(settings: RunConfig, model: Path, problems: Path) -> Path:
    return run_dir_for(Path("runs"), run_fingerprint(settings, str(model), problems)).root


@pytest.mark.parametrize(
    "overrides",
    [{"train": {"learning_rate": 1e-5}}, {"rollout": {"max_tool_calls": 2}}, {"reward": {"penalty": "paper"}}],
)
def test_another_value_that_decides_what_is_learned_is_another_run(
    overrides: dict[str, Any], tiny_model: Path, problems: Path
) -> None:
    assert folder(config(**overrides), tiny_model, problems) != folder(config(), tiny_model, problems)


@pytest.mark.parametrize(
    "overrides", [{"compute": {"threads": 2}}, {"sandbox": {"workers": 3}}, {"evaluation": {"limit": 3}}]
)
def test_where_and_how_fast_is_the_same_run(overrides: dict[str, Any], tiny_model: Path, problems: Path) -> None:
    assert folder(config(**overrides), tiny_model, problems) == folder(config(), tiny_model, problems)


def test_other_problems_or_another_base_are_another_run(tiny_model: Path, problems: Path, tmp_path: Path) -> None:
    before = folder(config(), tiny_model, problems)
    assert folder(config(), Path("Qwen/Qwen2.5-Math-1.5B"), problems) != before
    problems.write_bytes(b"other problems")
    assert folder(config(), tiny_model, problems) != before


SLURM = {"CUDA_VISIBLE_DEVICES": "0,1", "ROCR_VISIBLE_DEVICES": "0,1", "GPU_DEVICE_ORDINAL": "0,1", "HOME": "/home/me"}


def test_on_gpus_slurm_s_devices_of_other_vendors_are_dropped(tmp_path: Path) -> None:
    environment = training_environment(config("torl-1.5b"), tmp_path, SLURM)
    assert environment["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert environment["HOME"] == "/home/me"
    assert "ROCR_VISIBLE_DEVICES" not in environment
    assert "VERL_PLATFORM" not in environment


def test_on_cpus_no_device_is_named(tmp_path: Path) -> None:
    environment = training_environment(config("demo"), tmp_path, SLURM)
    assert not [name for name in environment if name in SLURM and name != "HOME"]
    assert environment["VERL_PLATFORM"] == "cpu"


def test_on_cpus_no_compiler_is_needed(tmp_path: Path) -> None:
    assert training_environment(config("demo"), tmp_path, {})["TORCHDYNAMO_DISABLE"] == "1"
    assert "TORCHDYNAMO_DISABLE" not in training_environment(config("torl-1.5b"), tmp_path, {})


def test_the_cost_of_a_run_is_said_in_responses_passes_and_tokens() -> None:
    probe = sized(config(experiment="probe", train={"epochs": 2, "prompts_per_step": 10}), 105)
    assert probe.train.steps == 20
    assert training_cost(probe, 105) == (
        "probe: 20 steps of 10 problems x 8 responses = 1,600 responses, 1.9 passes over 105 problems, at most 192,000 tokens"
    )


def test_a_run_by_epochs_over_less_than_a_batch_is_refused_with_the_cure() -> None:
    with pytest.raises(TrainerError, match=r"3 problems make no batch of train\.prompts_per_step 8; lower that"):
        sized(config(experiment="probe"), 3)
