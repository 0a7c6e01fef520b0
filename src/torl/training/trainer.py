"""verl's synchronous trainer, which can be asked to stop between two steps and never trains on a broken batch.

The rows of a batch are put into an order of their own before the update: verl keeps them as they became ready, and sums of floats
in another order are other sums, so that two runs with one seed would drift apart.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
import torch
import transfer_queue as tq
from omegaconf import DictConfig
from verl.trainer.main_ppo import TaskRunnerV1
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

from torl.errors import TrainerError
from torl.training.run_dir import RunDir

POLL_S = 0.05  # how often the trainer looks for finished trajectories; verl's 2 s is long against a step of the demo


class StopRequested(Exception):
    """The trainer has saved its state because it was asked to stop."""


class StoppableTrainer(PPOTrainerSync):
    """Looks into the run folder before each step (stop request) and before each update (failure)."""

    def __init__(self, config: DictConfig) -> None:
        super().__init__(config)
        self.replay_buffer.poll_interval = POLL_S
        self._run_dir = run_dir_of(config)
        self._kept_steps = set(config.trainer.torl_kept_steps)
        self._started_at: int | None = None

    def on_step_begin(self) -> None:
        """``global_steps`` is already that of the new step; weights and metrics are those of the one before."""
        super().on_step_begin()
        self._started_at = self._started_at or self.global_steps
        if self._run_dir.stop_request.exists():
            if self.global_steps > self._started_at:
                self.global_steps -= 1
                self._save_checkpoint()
            raise StopRequested

    def _save_checkpoint(self) -> None:
        super()._save_checkpoint()
        if self.global_steps in self._kept_steps:
            self._run_dir.keep_weights(self.global_steps)

    def on_sample_end(self) -> None:
        """No update on a batch in which a trajectory failed for a reason that is not the model's."""
        super().on_sample_end()
        if self._run_dir.failure.exists():
            raise TrainerError(self._run_dir.failure.read_text(encoding="utf-8"))

    def _balance_batch(self, batch: tq.KVBatchMeta, metrics: dict[str, Any], **options: Any) -> tq.KVBatchMeta:
        rows = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=["input_ids"])
        batch.reorder(order_of_rows(rows["input_ids"].unbind()))
        return super()._balance_batch(batch, metrics, **options)


def order_of_rows(rows: Sequence[torch.Tensor]) -> list[int]:
    """Positions of ``rows`` (token ids, any lengths) sorted by their tokens: the same for every order in which they come."""
    tokens = [row.tolist() for row in rows]
    return sorted(range(len(tokens)), key=tokens.__getitem__)


def run_dir_of(config: DictConfig) -> RunDir:
    """The run folder that a configuration of verl belongs to."""
    return RunDir(Path(config.trainer.default_local_dir).parent)


@ray.remote
class TaskRunner(TaskRunnerV1.__ray_metadata__.modified_class.__ray_actor_class__):
    """verl's task runner with ``StoppableTrainer`` in place of the synchronous trainer."""

    def run(self, config: DictConfig) -> None:
        """Train until the last step or a stop request."""
        # Ray sends this class by value, and with it the globals that it names: the registry must be that of the actor's process
        from verl.trainer.ppo.v1.trainer_base import TRAINER_REGISTRY

        from torl.training.trainer import StoppableTrainer, StopRequested

        TRAINER_REGISTRY["sync"] = StoppableTrainer
        try:
            super().run(config)
        except StopRequested:
            return
