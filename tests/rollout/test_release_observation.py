"""What the release shows of an execution: each quirk alone, and all of them together."""

import asyncio

import pytest

from tests.rollout.script import ANSWER, CALL, PROMPT, SEVEN, ScriptedModel, make_loop, release, roll_out, with_quirks
from torl.quirks import RolloutQuirk
from torl.rollout.release import Rank
from torl.rollout.trajectory import CallOutcome, StopReason
from torl.sandbox.client import Execution

CRASH = Execution(
    outcome=CallOutcome.RAISED,
    return_code=1,
    stdout="half\n",
    stderr='Traceback (most recent call last):\n  File "s.py", line 1, in <module>\nNameError: x\n',
)
SILENT = Execution(outcome=CallOutcome.PASSED, return_code=0)
MENTIONS = Execution(outcome=CallOutcome.PASSED, return_code=0, stdout="Error estimate:\n0.5\n")
KILLED = Execution(outcome=CallOutcome.KILLED_SIGNAL, return_code=-11)
SLOW = Execution(outcome=CallOutcome.TIMED_OUT, seconds=10.0, stdout="1\n")


@pytest.mark.parametrize(
    ("quirk", "execution", "on", "off"),
    [
        ("bare_streams", CRASH, CRASH.stderr.strip(), "half\nNameError: x (line 1)"),
        ("bare_streams", KILLED, "", "Segmentation fault (signal 11)"),
        ("print_then_crash", CRASH, "half", "half\nNameError: x (line 1)"),
        ("error_in_stdout", MENTIONS, "0.5", "Error estimate:\n0.5"),
        ("blank_is_timeout", SILENT, "timeout_decorator.timeout_decorator.TimeoutError: 'Timed Out'", "[no output]"),
        ("client_timeout", SLOW, "UnknownError", "1\nTimeoutError: no result after 10 s"),
    ],
)
def test_quirk_of_the_observation_on_and_off(quirk: str, execution: Execution, on: str, off: str) -> None:
    for quirks, shown in (([RolloutQuirk(quirk)], on), ([], off)):
        trajectory, _, _ = roll_out([CALL, ANSWER], with_quirks(*quirks), [execution])
        assert trajectory.calls[0].observation == shown
        assert trajectory.calls[0].outcome is execution.outcome  # the record keeps the truth


@pytest.mark.parametrize(
    ("execution", "shown"),
    [
        (SEVEN, "7"),
        (Execution(outcome=CallOutcome.PASSED, return_code=0, stdout="x" * 255), "x" * 255),
        (Execution(outcome=CallOutcome.PASSED, return_code=0, stdout="x" * 256), "x" * 128 + "..." + "x" * 128),
        (CRASH, "half"),
        (Execution(outcome=CallOutcome.RAISED, return_code=1, stderr=CRASH.stderr), "NameError: x"),
        (SILENT, "timeout_decorator.timeout_decorator.TimeoutError: 'Timed Out'"),
        (KILLED, "timeout_decorator.timeout_decorator.TimeoutError: 'Timed Out'"),
        (MENTIONS, "0.5"),
        (SLOW, "UnknownError"),
        (Execution(outcome=CallOutcome.SANDBOX_FAILED), "UnknownError"),
    ],
)
def test_the_release_s_observations(execution: Execution, shown: str) -> None:
    trajectory, _, _ = roll_out([CALL, ANSWER], release(), [execution])
    assert trajectory.calls[0].observation == shown
    assert trajectory.stop_reason is StopReason.ANSWERED


def test_the_release_s_client_gives_up_at_the_time_out_of_the_snippet() -> None:
    async def never(code: str) -> Execution:
        await asyncio.Event().wait()

    config = with_quirks(RolloutQuirk.CLIENT_TIMEOUT)
    config = config.model_copy(update={"sandbox": config.sandbox.model_copy(update={"timeout_seconds": 0.01})})
    trajectory = asyncio.run(make_loop(config, ScriptedModel([CALL, ANSWER]), never, Rank()).run(PROMPT))
    assert trajectory.calls[0].observation == "UnknownError"
    assert trajectory.calls[0].outcome is CallOutcome.TIMED_OUT
