"""The transformers engine as a rollout server of verl: one Ray actor, fed with weights by the trainer after every update."""

import asyncio
from collections.abc import Generator
from typing import Any

import ray
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, TokenOutput
from verl.workers.rollout.utils import ensure_async_iterator

from torl.serving.request import SamplingRequest
from torl.serving.transformers_engine import BatchingServer, TransformersEngine

LINGER_S = 0.03  # a batch begins when no request came for this long


def server_name(replica_rank: int) -> str:
    """Name of the Ray actor of a replica."""
    return f"transformers_server_{replica_rank}"


class TransformersServer:
    """The actor: generates, and loads weights."""

    def __init__(self, model_path: str, rows: int) -> None:
        self._server = BatchingServer(TransformersEngine.load(model_path, rows), LINGER_S)
        self._global_steps: int | None = None

    async def ready(self) -> bool:
        """Answers once the model is loaded."""
        return True

    async def generate(
        self, prompt_ids: list[int], sampling_params: dict[str, Any], request_id: str, **_: Any
    ) -> TokenOutput:
        """One turn; ``sampling_params`` are those of the agent loop (temperature, top_p, max_tokens, stop, seed)."""
        request = SamplingRequest(
            prompt_ids=tuple(prompt_ids),
            max_tokens=sampling_params["max_tokens"],
            temperature=sampling_params["temperature"],
            top_p=sampling_params["top_p"],
            stop=tuple(sampling_params["stop"]),
            seed=sampling_params["seed"],
        )
        generation = await self._server.generate(request)
        return TokenOutput(
            token_ids=generation.token_ids,
            log_probs=generation.log_probs,
            stop_reason="completed",
            extra_fields={"global_steps": self._global_steps},
        )

    async def update_weights(self, weights: dict[str, torch.Tensor], global_steps: int | None) -> None:
        """Replace the weights between two steps, when nothing is being generated."""
        await asyncio.to_thread(self._server.engine.load_weights, weights)
        self._global_steps = global_steps

    async def clear_kv_cache(self) -> None:
        """Nothing is kept between turns."""

    async def release_kv_cache(self) -> None:
        """Nothing is kept between turns."""

    async def resume_kv_cache(self) -> None:
        """Nothing is kept between turns."""

    async def abort_all_requests(self, **_: Any) -> None:
        """Nothing is in flight between steps."""

    async def resume_generation(self) -> None:
        """Requests are always admitted."""

    async def sleep(self, **_: Any) -> None:
        """The model stays in memory."""

    async def wake_up(self, **_: Any) -> None:
        """The model stays in memory."""


class TransformersReplica(RolloutReplica):
    """Starts the actor beside its trainer process."""

    async def launch_servers(self) -> None:
        """Start the server and wait until its model is loaded."""
        node = await self.workers[0].__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id())
        server = (
            ray.remote(TransformersServer)
            .options(
                name=server_name(self.replica_rank),
                num_cpus=1,
                max_concurrency=self.max_concurrency,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=False),
            )
            .remote(self.model_config.path, self.config.max_num_seqs)
        )
        await server.ready.remote()
        self.servers = [server]
        self._server_handle = server
        self._server_address = server_name(self.replica_rank)


class ServerAdapter(BaseRollout):
    """The trainer's side: sends weights to the server of its replica."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        self._rank = torch.distributed.get_rank() if replica_rank == -1 else replica_rank

    async def resume(self, tags: list[str]) -> None:
        """The server holds no memory that could be given back."""

    async def release(self) -> None:
        """The server holds no memory that could be given back."""

    async def update_weights(
        self,
        weights: Generator[tuple[str, torch.Tensor], None, None],
        global_steps: int | None = None,
        wire_format: str = "named_tensors",
        **_: Any,
    ) -> None:
        """Send the whole state dict; a few megabytes for the models that run on CPUs."""
        assert wire_format == "named_tensors", wire_format
        state = {name: tensor.detach().cpu().clone() async for name, tensor in ensure_async_iterator(weights)}
        await ray.get_actor(server_name(self._rank)).update_weights.remote(state, global_steps)
