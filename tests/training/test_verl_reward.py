"""verl's own reward path, with its real worker."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
import torch
from tensordict import TensorDict
from transformers import AutoTokenizer
from verl import DataProto
from verl.experimental.reward_loop.reward_loop import RewardLoopWorker

from tests.training.test_overrides import compose


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> RewardLoopWorker:
    _, config = compose("demo", "torl", tmp_path_factory.mktemp("run"), tiny_model)
    return RewardLoopWorker(config)


@pytest.mark.parametrize(
    ("response", "score"),
    [
        ("So \\boxed{7}.", 1.0),
        ("So \\boxed{8}.", -1.0),
        ("No answer.", -1.0),
        ("```python\nprint('\\\\boxed{7}')\n```\n```output\n\\boxed{7}\n```\nSo \\boxed{8}.", -1.0),
    ],
)
def test_verl_scores_a_response_as_the_agent_loop_does(
    worker: RewardLoopWorker, tiny_model: Path, response: str, score: float
) -> None:
    ids = torch.tensor([AutoTokenizer.from_pretrained(tiny_model).encode(response)])
    data = DataProto(
        batch=TensorDict({"responses": ids, "attention_mask": torch.ones_like(ids)}, batch_size=1),
        non_tensor_batch={
            "data_source": np.array(["demo"], dtype=object),
            "reward_model": np.array([{"ground_truth": "7"}], dtype=object),
            "extra_info": np.array([{}], dtype=object),
        },
    )
    result = asyncio.get_event_loop().run_until_complete(worker.compute_score(data))
    assert result["reward_score"] == score
    assert result["reward_extra_info"]["acc"] == (score + 1) / 2
