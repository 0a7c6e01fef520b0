"""The reward, its two penalties, and their totals."""

import pytest

from torl.config.models import RewardConfig
from torl.rollout.trajectory import CallOutcome
from torl.training.reward import reward_of

GOOD, BAD, LONG = CallOutcome.PASSED, CallOutcome.RAISED, CallOutcome.OUTPUT_TRUNCATED


@pytest.mark.parametrize(
    ("penalty", "correct", "outcomes", "reward"),
    [
        ("none", True, [], 1.0),
        ("none", False, [], -1.0),
        ("none", True, [BAD], 1.0),
        ("paper", True, [], 1.0),
        ("paper", False, [], -1.0),
        ("paper", True, [BAD], 0.5),
        ("paper", False, [GOOD, BAD], -1.5),
        ("paper", True, [GOOD, LONG], 1.0),
        ("release", True, [], 0.5),
        ("release", False, [], -1.5),
        ("release", True, [BAD, GOOD], 1.0),
        ("release", False, [CallOutcome.TIMED_OUT], -1.5),
    ],
)
def test_reward(penalty: str, correct: bool, outcomes: list[CallOutcome], reward: float) -> None:
    assert reward_of(correct, outcomes, RewardConfig(penalty=penalty)) == reward
