"""What verl makes of rewards and mask: GRPO's advantages, and a loss that masked tokens have no part in."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, compute_policy_loss_vanilla
from verl.workers.config import FSDPActorConfig

from tests.rollout.script import ANSWER, CALL, PROMPT, roll_out, rollout

REWARD = st.sampled_from([1.0, 0.5, -0.5, -1.0, -1.5])


def advantages(groups: list[list[float]], mask: torch.Tensor | None = None) -> torch.Tensor:
    """verl's advantages of responses of three tokens, (responses, tokens)."""
    rewards = torch.zeros(sum(map(len, groups)), 3)
    rewards[:, -1] = torch.tensor([reward for group in groups for reward in group])
    mask = torch.ones_like(rewards) if mask is None else mask
    index = np.array([name for name, group in enumerate(groups) for _ in group])
    return compute_grpo_outcome_advantage(rewards, mask, index)[0]


@settings(deadline=None)
@given(st.lists(st.lists(REWARD, min_size=2, max_size=16), min_size=1, max_size=4))
def test_advantages_are_rewards_standardised_within_their_group(groups: list[list[float]]) -> None:
    rewards = [np.array(group) for group in groups]
    expected = np.concatenate([(r - r.mean()) / (r.std(ddof=1) + 1e-6) for r in rewards])
    assert advantages(groups)[:, 0].numpy() == pytest.approx(expected, abs=1e-4)


def test_a_group_of_equal_rewards_teaches_nothing() -> None:
    assert not advantages([[1.0] * 16, [-1.0] * 16]).any()


def test_the_advantage_of_a_response_is_on_each_of_its_tokens_but_the_masked() -> None:
    mask = torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    found = advantages([[1.0, -1.0]], mask)
    assert found[0].tolist() == [pytest.approx(2**-0.5, abs=1e-4), 0.0, pytest.approx(2**-0.5, abs=1e-4)]


def test_a_group_that_lost_a_response_is_standardised_over_the_others() -> None:
    assert torch.equal(advantages([[1.0, -1.0, -1.0]]), advantages([[1.0, -1.0, -1.0], [1.0, 1.0]])[:3])


def loss_gradient(model_path: Path, mask: list[int], response: list[int]) -> torch.Tensor:
    """Gradient of verl's loss by the logits that predict each response token: (tokens, vocabulary)."""
    model = AutoModelForCausalLM.from_pretrained(model_path)
    logits = model(torch.tensor([PROMPT + response])).logits[:, len(PROMPT) - 1 : -1]
    logits.retain_grad()
    chosen = torch.log_softmax(logits, -1).gather(-1, torch.tensor([response])[..., None]).squeeze(-1)
    loss_mask = torch.tensor([mask])
    config = FSDPActorConfig(strategy="fsdp2", rollout_n=2, ppo_micro_batch_size_per_gpu=1)
    loss, _ = compute_policy_loss_vanilla(
        chosen.detach(), chosen, torch.full(chosen.shape, 0.7), loss_mask, loss_agg_mode="token-mean", config=config
    )
    loss.backward()
    return logits.grad[0]


@pytest.mark.parametrize("calls", [1, 2])
def test_masked_tokens_give_no_gradient_and_all_others_do(tiny_model: Path, calls: int) -> None:
    trajectory, _, _ = roll_out([CALL] * calls + [ANSWER], rollout(calls))
    strength = loss_gradient(tiny_model, trajectory.mask, trajectory.response_ids).abs().sum(-1)
    assert [int(value > 0) for value in strength] == trajectory.mask
    assert 0 < sum(trajectory.mask) < len(trajectory.mask)


def test_without_the_mask_the_observation_gives_a_gradient(tiny_model: Path) -> None:
    trajectory, _, _ = roll_out([CALL, ANSWER])
    strength = loss_gradient(tiny_model, [1] * len(trajectory.mask), trajectory.response_ids).abs().sum(-1)
    assert bool((strength > 0).all())
