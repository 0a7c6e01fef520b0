"""The reward of a response: +1 for a right final answer, -1 for a wrong or absent one, and an optional penalty on code.

Differs from ToRL: correctness is kept beside the reward and never derived from it, so that accuracy stays accuracy with the
penalty on; the two readings of the penalty (the paper's words, the release's code) are named apart.
"""

from collections.abc import Sequence

from torl.config.models import RewardConfig
from torl.rollout.trajectory import CallOutcome

RIGHT, WRONG = 1.0, -1.0
RAN_WELL = frozenset({CallOutcome.PASSED, CallOutcome.OUTPUT_TRUNCATED})


def reward_of(correct: bool, outcomes: Sequence[CallOutcome], config: RewardConfig) -> float:
    """Reward of a graded response whose calls ended with ``outcomes`` (paper, Tables 1 and 2)."""
    base = RIGHT if correct else WRONG
    return base + (config.penalty_value if is_penalised(outcomes, config) else 0.0)


def is_penalised(outcomes: Sequence[CallOutcome], config: RewardConfig) -> bool:
    """Whether the penalty applies: ``paper`` to a response with a failed call, ``release`` to one without a successful call."""
    ran_well = [outcome in RAN_WELL for outcome in outcomes]
    if config.penalty == "paper":
        return not all(ran_well)
    if config.penalty == "release":
        return not any(ran_well)
    return False
