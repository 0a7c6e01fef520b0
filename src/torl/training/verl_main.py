"""The training process: verl's configuration and Ray start-up with this project's task runner.

``python -m torl.training.verl_main FILE`` reads a JSON list of Hydra overrides.
"""

import json
import sys
from pathlib import Path

from hydra import compose, initialize_config_module
from omegaconf import DictConfig
from verl.trainer.main_ppo import run_ppo
from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.utils.config import validate_config

from torl.training.run_dir import STOPPED
from torl.training.trainer import TaskRunner, run_dir_of


def compose_config(overrides: list[str]) -> DictConfig:
    """verl's configuration with ``overrides``, checked by verl itself.

    Raises:
        ValueError, AssertionError: verl does not accept the combination.
    """
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=overrides)
    validate_config(config=config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    return config


def main(path: str) -> int:
    """Train with the overrides in ``path``; returns the exit code."""
    config = compose_config(json.loads(Path(path).read_text(encoding="utf-8")))
    run_ppo(config, task_runner_class=TaskRunner)
    return STOPPED if run_dir_of(config).stop_request.exists() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
