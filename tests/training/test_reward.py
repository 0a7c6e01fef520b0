"""The reward, its two penalties, its types, and their totals."""

from typing import Any

import pytest

from tests.rollout.script import configured
from torl.config import RunConfig
from torl.rollout.trajectory import CallOutcome, ToolCall, Trajectory, TurnTokens
from torl.training.reward import reward_of

GOOD, BAD, LONG = CallOutcome.PASSED, CallOutcome.RAISED, CallOutcome.OUTPUT_TRUNCATED


def call(outcome: CallOutcome, turn: int = 0, stdout: str = "") -> ToolCall:
    return ToolCall(
        turn=turn,
        code="",
        outcome=outcome,
        stdout=stdout,
        observation="",
        seconds=0.0,
        tokens_before=0,
        before_answer=True,
    )


def response(*calls: ToolCall, turns: int = 2) -> Trajectory:
    return Trajectory(prompt_ids=[1], calls=list(calls), turns=[TurnTokens(1, 0)] * turns)


def settings(calls: int = 1, **reward: Any) -> RunConfig:
    return configured(reward=reward, rollout={"max_tool_calls": calls})


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
        ("release", False, [GOOD], -1.0),
        ("release", False, [CallOutcome.TIMED_OUT], -1.5),
    ],
)
def test_reward(penalty: str, correct: bool, outcomes: list[CallOutcome], reward: float) -> None:
    trajectory = response(*map(call, outcomes))
    assert reward_of(trajectory, correct=correct, answered=True, config=settings(penalty=penalty)) == reward


@pytest.mark.parametrize(
    ("kind", "correct", "answered", "reward"),
    [
        ("default", True, True, 1.0),
        ("default", False, True, -1.0),
        ("default", False, False, -1.0),
        ("v2.wformat", True, True, 1.0),
        ("v2.wformat", False, True, -0.5),
        ("v2.wformat", False, False, -1.0),
    ],
)
def test_reward_types_of_the_release(kind: str, correct: bool, answered: bool, reward: float) -> None:
    assert reward_of(response(), correct=correct, answered=answered, config=settings(type=kind)) == reward


@pytest.mark.parametrize(
    ("calls", "turns", "made", "penalised"),
    [
        (1, 2, [(GOOD, 0)], False),  # the last round of all changes nothing
        (1, 1, [], True),
        (2, 2, [(GOOD, 0)], True),  # passed, then answered with a call left: the flag is overwritten
        (2, 3, [(GOOD, 0), (GOOD, 1)], False),
        (2, 3, [(GOOD, 0), (BAD, 1)], True),
        (2, 3, [(BAD, 0), (GOOD, 1)], False),
        (2, 1, [(GOOD, 0)], False),  # the round after the call was lost, and with it its overwriting
        (3, 3, [(GOOD, 1)], True),
    ],
)
def test_last_round_pass_looks_at_the_last_round_in_which_a_call_was_possible(
    calls: int, turns: int, made: list[tuple[CallOutcome, int]], penalised: bool
) -> None:
    trajectory = response(*(call(outcome, turn) for outcome, turn in made), turns=turns)
    on = settings(calls, penalty="release", quirks=["last_round_pass"])
    off = settings(calls, penalty="release")
    assert reward_of(trajectory, correct=True, answered=True, config=on) == (0.5 if penalised else 1.0)
    anyone = any(outcome is GOOD for outcome, _ in made)
    assert reward_of(trajectory, correct=True, answered=True, config=off) == (1.0 if anyone else 0.5)


def test_with_print_then_crash_a_program_that_printed_counts_as_passed() -> None:
    trajectory = response(call(BAD, stdout="half\n"))
    off = settings(penalty="release")
    on = configured(reward={"penalty": "release"}, rollout={"quirks": ["print_then_crash"]})
    assert reward_of(trajectory, correct=True, answered=True, config=off) == 0.5
    assert reward_of(trajectory, correct=True, answered=True, config=on) == 1.0
