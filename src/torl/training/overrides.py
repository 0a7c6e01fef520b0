"""From a ``RunConfig`` to the configuration of verl, as Hydra overrides on its own defaults.

Differs from ToRL's script: the mini-batch equals the batch (the release writes 1024 with a batch of 128, which amounts to one
update a step as well), and there is no KL loss at all (the release has one with coefficient 0).
"""

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torl.config.models import RunConfig
from torl.training.run_dir import RunDir

ROWS_PER_SERVER = 64  # rows of one batch of the transformers server
CPUS_PER_TRAINER = 12  # logical CPUs that Ray must believe in for one trainer and its helpers


def verl_overrides(
    config: RunConfig, *, model_path: str, train_file: Path, run_dir: RunDir, agent_loops: Path
) -> list[str]:
    """The overrides, in Hydra's syntax."""
    values = _algorithm(config) | _data(config, train_file) | _actor(config, model_path) | _rollout(config, agent_loops)
    values |= _trainer(config, run_dir) | _ray(sys.executable)
    values |= _cpu(config) if config.compute.platform == "cpu" else _cuda(config)
    return [f"{key}={_hydra(value)}" for key, value in values.items()]


def _hydra(value: Any) -> str:
    """A value in Hydra's grammar; strings are quoted, so that paths may hold spaces and equals signs."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_hydra(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_hydra(item) for item in value) + "]"
    return json.dumps(str(value) if isinstance(value, Path) else value)


def _algorithm(config: RunConfig) -> dict[str, Any]:
    return {
        "algorithm.adv_estimator": "grpo",
        "algorithm.norm_adv_by_std_in_grpo": True,
        "algorithm.use_kl_in_reward": False,
        "algorithm.kl_ctrl.kl_coef": 0.0,
        # the agent loop brings its reward along; this one is for whatever verl scores by itself
        "reward.custom_reward_function.path": "pkg://torl.training.verl_reward",
        "reward.custom_reward_function.name": "compute_score",
    }


def _data(config: RunConfig, train_file: Path) -> dict[str, Any]:
    return {
        "data.train_files": train_file,
        "data.val_files": train_file,  # verl needs a file; its own validation is off, evaluate_policy does that
        "data.val_max_samples": 1,
        "data.train_batch_size": config.train.prompts_per_step,
        "data.max_prompt_length": config.rollout.max_prompt_tokens,
        "data.max_response_length": config.rollout.max_response_tokens,
        "data.custom_cls.path": "pkg://torl.training.dataset",
        "data.custom_cls.name": "ToolProblems",
        "+data.torl_prompt": config.rollout.prompt,
        "data.seed": config.seed,
        "data.dataloader_num_workers": 0,
    }


def _actor(config: RunConfig, model_path: str) -> dict[str, Any]:
    actor = "actor_rollout_ref.actor"
    return {
        "actor_rollout_ref.model.path": model_path,
        "actor_rollout_ref.model.use_remove_padding": True,
        "actor_rollout_ref.model.enable_gradient_checkpointing": config.compute.platform == "cuda",
        f"{actor}.strategy": "fsdp2",
        f"{actor}.optim.lr": config.train.learning_rate,
        f"{actor}.optim.lr_scheduler_type": "constant" if config.train.learning_rate_end == 1.0 else "cosine",
        f"{actor}.optim.min_lr_ratio": config.train.learning_rate_end,
        f"{actor}.ppo_mini_batch_size": config.train.prompts_per_step,
        f"{actor}.ppo_max_token_len_per_gpu": config.compute.max_tokens_per_gpu,
        f"{actor}.use_dynamic_bsz": True,
        f"{actor}.use_kl_loss": False,
        f"{actor}.entropy_coeff": 0,
        f"{actor}.checkpoint.save_contents": ["model", "optimizer", "extra", "hf_model"],
    }


def _rollout(config: RunConfig, agent_loops: Path) -> dict[str, Any]:
    rollout = "actor_rollout_ref.rollout"
    return {
        f"{rollout}.name": config.compute.engine,
        f"{rollout}.n": config.train.responses_per_prompt,
        f"{rollout}.temperature": config.rollout.temperature,
        f"{rollout}.top_p": config.rollout.top_p,
        f"{rollout}.calculate_log_probs": True,
        f"{rollout}.tensor_model_parallel_size": config.compute.tensor_parallel,
        f"{rollout}.max_model_len": config.rollout.max_prompt_tokens + config.rollout.max_response_tokens,
        f"{rollout}.log_prob_use_dynamic_bsz": True,
        f"{rollout}.log_prob_max_token_len_per_gpu": config.compute.max_tokens_per_gpu,
        f"{rollout}.agent.num_workers": config.compute.agent_workers,
        f"{rollout}.agent.default_agent_loop": "torl",
        f"{rollout}.agent.agent_loop_config_path": agent_loops,
    }


def _trainer(config: RunConfig, run_dir: RunDir) -> dict[str, Any]:
    return {
        "trainer.project_name": "torl-workflow",
        "trainer.experiment_name": f"{config.scale}-{config.experiment}",
        "trainer.logger": ["console", "file"],
        "trainer.nnodes": config.compute.nodes,
        "trainer.n_gpus_per_node": config.compute.gpus_per_node,
        "trainer.total_training_steps": config.train.steps,
        "trainer.total_epochs": 1_000_000,  # the number of steps ends the run
        "trainer.save_freq": config.train.save_every,
        "trainer.test_freq": -1,
        "trainer.val_before_train": False,
        "trainer.max_actor_ckpt_to_keep": config.train.keep_checkpoints,
        "trainer.resume_mode": "auto",
        "+trainer.torl_kept_steps": config.kept_steps,
        "trainer.default_local_dir": run_dir.checkpoints,
    }


def _ray(python: str) -> dict[str, Any]:
    """Ray starts its workers through a shell and does not quote the path of Python itself."""
    return {"+ray_kwargs.ray_init.runtime_env.py_executable": shlex.quote(python)} if " " in python else {}


def _cpu(config: RunConfig) -> dict[str, Any]:
    fp32 = {"param_dtype": "fp32", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    trainers = config.compute.gpus_per_node
    return {
        "trainer.device": "cpu",
        "actor_rollout_ref.rollout.dtype": "float32",
        "actor_rollout_ref.rollout.max_num_seqs": ROWS_PER_SERVER,
        "actor_rollout_ref.rollout.free_cache_engine": False,
        "+actor_rollout_ref.rollout.enable_sleep_mode": False,
        "+actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "actor_rollout_ref.actor.use_torch_compile": False,
        "actor_rollout_ref.actor.fsdp_config.use_torch_compile": False,
        "actor_rollout_ref.actor.fsdp_config.model_dtype": "fp32",
        "+actor_rollout_ref.actor.fsdp_config.mixed_precision": fp32,
        "reward.num_workers": 1,
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
        "ray_kwargs.ray_init.num_cpus": CPUS_PER_TRAINER * trainers,
        "+ray_kwargs.ray_init.num_gpus": trainers,
        "+ray_kwargs.ray_init.include_dashboard": False,
    }


def _cuda(config: RunConfig) -> dict[str, Any]:
    return {
        "trainer.device": "cuda",
        "actor_rollout_ref.rollout.gpu_memory_utilization": config.compute.rollout_memory,
        "actor_rollout_ref.rollout.max_num_seqs": 1024,
        "actor_rollout_ref.actor.fsdp_config.param_offload": True,
        "actor_rollout_ref.actor.fsdp_config.optimizer_offload": True,
    }
