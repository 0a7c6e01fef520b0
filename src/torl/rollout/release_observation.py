"""What the release shows the model of an execution, quirk by quirk, and how its client gives up."""

import asyncio
from collections.abc import Collection

from torl.quirks import RolloutQuirk
from torl.rollout.loop import Execute, Observe
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution
from torl.sandbox.observation import NO_OUTPUT, cut, observation_text, plain

TIMED_OUT_TEXT = "timeout_decorator.timeout_decorator.TimeoutError: 'Timed Out'"
UNKNOWN_ERROR = "UnknownError"
UNCUT = 1 << 40  # characters; longer than anything that the sandbox keeps
OF_OBSERVATION = frozenset(
    {
        RolloutQuirk.BARE_STREAMS,
        RolloutQuirk.PRINT_THEN_CRASH,
        RolloutQuirk.ERROR_IN_STDOUT,
        RolloutQuirk.BLANK_IS_TIMEOUT,
        RolloutQuirk.CLIENT_TIMEOUT,
    }
)


def make_observe(quirks: Collection[RolloutQuirk], max_characters: int) -> Observe:
    """The observation of an execution, None where its trajectory is to be dropped; without a quirk the sandbox's own text."""
    switched_on = OF_OBSERVATION.intersection(quirks)

    def observe(execution: Execution) -> str | None:
        if RolloutQuirk.CLIENT_TIMEOUT in switched_on and execution.outcome in (
            CallOutcome.TIMED_OUT,
            CallOutcome.SANDBOX_FAILED,
        ):
            return UNKNOWN_ERROR
        if execution.outcome is CallOutcome.SANDBOX_FAILED:
            return None
        if not switched_on:
            return observation_text(execution, max_characters=max_characters)
        return cut(_shown(execution, switched_on).strip(), max_characters)

    return observe


def _shown(execution: Execution, quirks: Collection[RolloutQuirk]) -> str:
    """The text before it is cut."""
    text = _stream(execution, quirks)
    if RolloutQuirk.ERROR_IN_STDOUT in quirks and "Error" in text:
        text = text.strip().rpartition("\n")[2]
    if RolloutQuirk.BLANK_IS_TIMEOUT in quirks and text.strip() in ("", NO_OUTPUT):
        text = TIMED_OUT_TEXT
    return text


def _stream(execution: Execution, quirks: Collection[RolloutQuirk]) -> str:
    error_hidden = RolloutQuirk.PRINT_THEN_CRASH in quirks and execution.stdout != ""
    if RolloutQuirk.BARE_STREAMS in quirks:
        passed = execution.return_code == 0 or error_hidden
        return plain(execution.stdout if passed else execution.stderr)
    return plain(execution.stdout) if error_hidden else observation_text(execution, max_characters=UNCUT)


def give_up_after(seconds: float, execute: Execute) -> Execute:
    """``execute`` as the release's client calls it: no answer within ``seconds`` of asking, queueing included, is the end."""

    async def impatient(code: str) -> Execution:
        try:
            return await asyncio.wait_for(execute(code), seconds)
        except TimeoutError:
            return Execution(outcome=CallOutcome.TIMED_OUT, seconds=seconds)

    return impatient
