"""Every scale and experiment composes to a configuration that the real verl accepts, and that means what was asked for."""

from pathlib import Path

import pytest

from tests.conftest import PROJECT
from torl.config import RunConfig, experiment_names, load_settings, resolve, scale_names
from torl.training.overrides import verl_overrides
from torl.training.run_dir import RunDir
from torl.training.verl_main import compose_config

CONFIG = PROJECT / "config"
EVERY = [(scale, name) for scale in scale_names(CONFIG) for name in experiment_names(CONFIG)]


def overrides(config: RunConfig, folder: Path, model: Path) -> list[str]:
    return verl_overrides(
        config,
        model_path=str(model),
        train_file=folder / "a file, with = and spaces.parquet",
        run_dir=RunDir(folder / "run"),
        agent_loops=folder / "agent_loops.yaml",
    )


def compose(scale: str, experiment: str, folder: Path, model: Path) -> tuple[RunConfig, object]:
    config = resolve(load_settings({"scale": scale}, CONFIG), experiment, CONFIG)
    return config, compose_config(overrides(config, folder, model))


@pytest.mark.parametrize(("scale", "experiment"), EVERY)
def test_verl_accepts_every_experiment_at_every_scale(
    scale: str, experiment: str, tmp_path: Path, tiny_model: Path
) -> None:
    config, verl = compose(scale, experiment, tmp_path, tiny_model)
    assert verl.actor_rollout_ref.rollout.n == config.train.responses_per_prompt
    assert verl.trainer.total_training_steps == config.train.steps


def test_one_step_is_one_update_without_kl_or_entropy_bonus(tmp_path: Path, tiny_model: Path) -> None:
    _, verl = compose("torl-1.5b", "torl", tmp_path, tiny_model)
    actor = verl.actor_rollout_ref.actor
    assert actor.ppo_mini_batch_size == verl.data.train_batch_size == 128
    assert actor.ppo_epochs == 1
    assert (actor.use_kl_loss, actor.entropy_coeff, verl.algorithm.use_kl_in_reward) == (False, 0, False)
    assert (verl.algorithm.adv_estimator, actor.optim.lr) == ("grpo", 1e-6)
    assert (actor.optim.lr_scheduler_type, actor.clip_ratio, actor.grad_clip) == ("constant", 0.2, 1.0)


def test_the_paper_s_budgets_reach_the_rollout(tmp_path: Path, tiny_model: Path) -> None:
    _, verl = compose("torl-7b", "torl", tmp_path, tiny_model)
    rollout = verl.actor_rollout_ref.rollout
    assert (rollout.prompt_length, rollout.response_length, rollout.max_model_len) == (400, 3072, 3472)
    assert (rollout.temperature, rollout.top_p, rollout.name) == (1.0, 1.0, "vllm")


def test_paths_with_spaces_and_equals_signs_arrive_whole(tmp_path: Path, tiny_model: Path) -> None:
    _, verl = compose("demo", "torl", tmp_path, tiny_model)
    assert verl.data.train_files == str(tmp_path / "a file, with = and spaces.parquet")
    assert verl.actor_rollout_ref.model.path == str(tiny_model)


def test_the_checkpoints_that_are_evaluated_are_kept_whatever_else_is_removed(tmp_path: Path, tiny_model: Path) -> None:
    config, verl = compose("demo", "torl", tmp_path, tiny_model)
    assert list(verl.trainer.torl_kept_steps) == config.kept_steps
    assert "hf_model" in verl.actor_rollout_ref.actor.checkpoint.save_contents


def test_a_python_whose_path_has_spaces_is_quoted_for_ray(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_model: Path
) -> None:
    monkeypatch.setattr("sys.executable", "/home/me/my clone/.venv/bin/python")
    _, verl = compose("demo", "torl", tmp_path, tiny_model)
    assert verl.ray_kwargs.ray_init.runtime_env.py_executable == "'/home/me/my clone/.venv/bin/python'"
