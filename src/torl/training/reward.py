"""The reward of a response: +1 for a right final answer, -1 for a wrong or absent one, and an optional penalty on code.

Differs from ToRL: correctness is kept beside the reward and never derived from it, so that accuracy stays accuracy with the
penalty on; the two readings of the penalty (the paper's words, the release's code) are named apart.
"""

from torl.config.models import RunConfig
from torl.quirks import RewardQuirk, RolloutQuirk
from torl.rollout.trajectory import CallOutcome, ToolCall, Trajectory

RIGHT, WRONG = 1.0, -1.0
WRONG_IN_BOX = -0.5  # of the reward type v2.wformat
RAN_WELL = frozenset({CallOutcome.PASSED, CallOutcome.OUTPUT_TRUNCATED})


def reward_of(trajectory: Trajectory, *, correct: bool, answered: bool, config: RunConfig) -> float:
    """Reward of a graded response (paper, Tables 1 and 2).

    Args:
        trajectory: the response.
        correct: whether its answer is right.
        answered: whether it has an answer at all.
        config: its sections reward and rollout decide.
    """
    penalty = config.reward.penalty_value if is_penalised(trajectory, config) else 0.0
    return answer_reward(correct, answered, config) + penalty


def answer_reward(correct: bool, answered: bool, config: RunConfig) -> float:
    """The part of the reward that the answer earns, by the release's name of the reward type."""
    if correct:
        return RIGHT
    return WRONG_IN_BOX if answered and config.reward.type == "v2.wformat" else WRONG


def is_penalised(trajectory: Trajectory, config: RunConfig) -> bool:
    """Whether the penalty applies: ``paper`` to a response with a failed call, ``release`` to one without a successful call."""
    calls = trajectory.calls
    match config.reward.penalty:
        case "none":
            return False
        case "paper":
            return not all(passed(call, config) for call in calls)
        case "release" if RewardQuirk.LAST_ROUND_PASS in config.reward.quirks:
            round_ = last_possible_round(trajectory, config)
            return not any(passed(call, config) for call in calls if call.turn == round_)
        case "release":
            return not any(passed(call, config) for call in calls)


def passed(call: ToolCall, config: RunConfig) -> bool:
    """Whether a call counts as successful."""
    printed = RolloutQuirk.PRINT_THEN_CRASH in config.rollout.quirks and call.stdout != ""
    return call.outcome in RAN_WELL or printed


def last_possible_round(trajectory: Trajectory, config: RunConfig) -> int:
    """The last turn of ``trajectory`` in which a call was possible, from 0; -1 without one."""
    return min(len(trajectory.turns), config.rollout.max_tool_calls) - 1
