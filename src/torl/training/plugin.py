"""What verl loads in each of its processes (entry point group ``verl.plugins``).

On the CPU platform it registers that platform, the transformers rollout, and two small patches; elsewhere it does nothing. The
patches fit one version of verl exactly; ``require_verl`` refuses any other.
"""

import functools
import os
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry

from torl.training.version import require_verl


class CpuPlatform(PlatformBase):
    """The CPU posing as one accelerator per trainer process."""

    device_name = "cpu"
    vendor_name = "cpu"

    @property
    def device_module(self) -> types.ModuleType:
        """``torch.cpu``, completed."""
        return _complete_torch_cpu()

    def is_available(self) -> bool:
        return True

    def current_device(self) -> torch.device:  # type: ignore[override]  # `.to(0)` would mean a GPU
        return torch.device("cpu")

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        pass

    def synchronize(self, device_index: int | None = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        pass

    def profiler_stop(self) -> None:
        pass

    def ray_resource_name(self) -> str:
        return "GPU"  # Ray is told of as many pretended GPUs as there are trainer processes

    def ray_noset_envvars(self) -> list[str]:
        return []

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> Any:
        return None


@functools.cache
def _complete_torch_cpu() -> types.ModuleType:
    """``torch.cpu`` itself, because verl compares with it, with what it lacks of an accelerator's module added as no-ops."""
    added: dict[str, Any] = {
        **dict.fromkeys(("empty_cache", "ipc_collect", "reset_peak_memory_stats"), lambda *_: None),
        **dict.fromkeys(("memory_allocated", "memory_reserved", "max_memory_allocated"), lambda *_: 0),
        "max_memory_reserved": lambda *_: 0,
        "mem_get_info": lambda *_: (0, 0),
        "get_device_name": lambda *_: "cpu",
        "manual_seed": torch.manual_seed,
        "manual_seed_all": torch.manual_seed,
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda state, *_: torch.set_rng_state(state),
    }
    for name, value in added.items():
        if not hasattr(torch.cpu, name):
            setattr(torch.cpu, name, value)
    return torch.cpu


def install_cpu_platform() -> None:
    """Register platform and rollout, and patch what in verl knows CUDA only."""
    require_verl()
    PlatformRegistry.register(platform="cpu")(CpuPlatform)
    _use_gloo_alone()
    _register_rollout()


def _use_gloo_alone() -> None:
    """verl asks for "cpu:gloo,cpu:gloo", which torch rejects as a duplicate."""
    from verl.utils import distributed

    original = distributed.initialize_global_process_group_ray

    @functools.wraps(original)
    def initialize(timeout_second: int | None = None, backend: str | None = None) -> None:
        original(timeout_second, backend or "gloo")

    distributed.initialize_global_process_group_ray = initialize


def _register_rollout() -> None:
    """Make ``rollout.name=transformers`` known, without importing the server in processes that do not need it."""
    from verl.workers.rollout import base, replica

    def load() -> type[replica.RolloutReplica]:
        from torl.training.rollout_server import TransformersReplica

        return TransformersReplica

    replica.RolloutReplicaRegistry.register("transformers", load)
    base._ROLLOUT_REGISTRY["transformers", "async"] = "torl.training.rollout_server.ServerAdapter"


if os.environ.get("VERL_PLATFORM") == "cpu":
    install_cpu_platform()
