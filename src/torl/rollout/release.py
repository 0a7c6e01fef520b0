"""The release's rounds, tokens and mask: one class a quirk, each over the hooks that it changes.

``release_hooks`` composes them, so that any subset may be switched on. A quirk that is only a matter of the protocol
changes that (``release_protocol``); those of the observation are in ``torl.rollout.release_observation``.

Differs from ToRL: a rank there is the fixed part of the batch that one GPU works on; here it is the trajectories that are in
flight in one process, which with as many agent workers as GPUs is the same.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from torl.quirks import RolloutQuirk
from torl.rollout.hooks import Hooks, RolloutLimits, Span, Tokenizer
from torl.rollout.protocol import Protocol
from torl.rollout.trajectory import StopReason, Trajectory, TurnTokens


class Rank:
    """The trajectories of a process that go through their rounds in lock-step."""

    def __init__(self) -> None:
        self._members = 0
        self._arrived = 0
        self._requested = False
        self._verdict: asyncio.Future[bool] | None = None

    @contextmanager
    def membership(self) -> Iterator[None]:
        """A trajectory belongs to the rank within this block."""
        self._members += 1
        try:
            yield
        finally:
            self._members -= 1
            self._decide()

    async def anyone(self, requested: bool) -> bool:
        """Wait until every member has ended its turn; whether one of them asked for execution."""
        await asyncio.sleep(0)  # whoever begins in this moment becomes a member first
        if self._verdict is None:
            self._verdict = asyncio.get_running_loop().create_future()
        verdict = self._verdict
        self._arrived += 1
        self._requested |= requested
        self._decide()
        return await verdict

    def _decide(self) -> None:
        if self._verdict is not None and self._arrived >= self._members:
            if not self._verdict.done():
                self._verdict.set_result(self._requested)
            self._arrived, self._requested, self._verdict = 0, False, None


class ReleaseHooks(Hooks):
    """What all quirks know."""

    retokenised = False

    def __init__(self, tokenizer: Tokenizer, protocol: Protocol, limits: RolloutLimits, rank: Rank) -> None:
        super().__init__(tokenizer, protocol, limits)
        self.rank = rank

    @property
    def room(self) -> int:
        """Tokens of the model's whole context."""
        return self.limits.max_prompt_tokens + self.limits.max_response_tokens


class LostRound(ReleaseHooks):
    """``lost_round``: a round of the rank in which nobody asks for execution is thrown away."""

    def together(self) -> AbstractContextManager[object]:
        return self.rank.membership()

    async def keeps_round(self, requested: bool) -> bool:
        return await self.rank.anyone(requested)

    def finish(self, trajectory: Trajectory) -> None:
        super().finish(trajectory)
        if trajectory.stop_reason is StopReason.LOST_ROUND and not self.retokenised:
            trajectory.response_ids.append(self.tokenizer.eos_token_id)
            trajectory.mask.append(1)
            trajectory.log_probs.append(0.0)


class BudgetPerCall(ReleaseHooks):
    """``budget_per_call``: a turn is bounded by the context alone, the response at its end."""

    def budget(self, trajectory: Trajectory) -> int:
        used = len(trajectory.prompt_ids) + len(trajectory.response_ids)
        return min(self.limits.max_response_tokens, self.room - used)

    def finish(self, trajectory: Trajectory) -> None:
        super().finish(trajectory)
        for values in (trajectory.response_ids, trajectory.mask, trajectory.log_probs):
            del values[self.limits.max_response_tokens :]


class Retokenisation(ReleaseHooks):
    """``retokenisation``: the text is what is kept; it is tokenised anew for each round and for training."""

    retokenised = True

    def turn_text(self, text: str, *, requested: bool, runs: bool, last: bool) -> str:
        if last:
            return text
        before = text.partition(self.protocol.stop)[0] if requested else text
        return before + ("" if before.endswith("\n") else "\n") + (self.protocol.stop if requested else "")

    def context(self, trajectory: Trajectory) -> list[int]:
        prompt = self.tokenizer.decode(trajectory.prompt_ids, skip_special_tokens=False)
        return self.tokenizer.encode(prompt + trajectory.text, add_special_tokens=False)

    def budget(self, trajectory: Trajectory) -> int:
        return min(super().budget(trajectory), self.room - len(self.context(trajectory)))

    def finish(self, trajectory: Trajectory) -> None:
        encoded = self.tokenizer(trajectory.text, add_special_tokens=False, return_offsets_mapping=True)
        spans = self.spans(turn_characters(trajectory))
        trajectory.response_ids = list(encoded["input_ids"])
        trajectory.mask = [mask_of(Span(*offsets), spans) for offsets in encoded["offset_mapping"]]
        if trajectory.stop_reason is not StopReason.LENGTH:
            trajectory.response_ids.append(self.tokenizer.eos_token_id)
            trajectory.mask.append(1)
        del (
            trajectory.response_ids[self.limits.max_response_tokens :],
            trajectory.mask[self.limits.max_response_tokens :],
        )
        trajectory.log_probs = [0.0] * len(trajectory.mask)


class SilentMarker(ReleaseHooks):
    """``silent_marker``: a request without code leaves no trace in the text."""

    def turn_text(self, text: str, *, requested: bool, runs: bool, last: bool) -> str:
        text = super().turn_text(text, requested=requested, runs=runs, last=last)
        return text if runs or not requested else text.removesuffix(self.protocol.stop)


class TurnRelativeMask(ReleaseHooks):
    """``turn_relative_mask``: ranges of observations count from the start of their turn."""

    def spans(self, turns: Iterable[TurnTokens]) -> list[Span]:
        return [Span(turn.model, turn.model + turn.observation) for turn in turns]

    def finish(self, trajectory: Trajectory) -> None:
        super().finish(trajectory)
        if not self.retokenised:
            spans = self.spans(trajectory.turns)
            trajectory.mask = [mask_of(Span(at, at + 1), spans) for at in range(len(trajectory.mask))]


HOOKS: dict[RolloutQuirk, type[ReleaseHooks]] = {
    RolloutQuirk.TURN_RELATIVE_MASK: TurnRelativeMask,
    RolloutQuirk.SILENT_MARKER: SilentMarker,
    RolloutQuirk.LOST_ROUND: LostRound,
    RolloutQuirk.RETOKENISATION: Retokenisation,
    RolloutQuirk.BUDGET_PER_CALL: BudgetPerCall,
}
"""From the outermost to the innermost: each may call the next of those that are switched on."""

PROTOCOL: dict[RolloutQuirk, dict[str, object]] = {
    RolloutQuirk.SILENT_MARKER: {"no_code": None},
    RolloutQuirk.FAKE_OUTPUT: {"when_spent": "continue", "spent": None},
}
"""What a quirk changes in the protocol."""


def release_hooks(
    quirks: Collection[RolloutQuirk], parts: tuple[Tokenizer, Protocol, RolloutLimits], rank: Rank
) -> Hooks:
    """The hooks of ``quirks``; without one the sound ones."""
    bases = [HOOKS[quirk] for quirk in HOOKS if quirk in quirks]
    return type("SelectedQuirks", (*bases, ReleaseHooks), {})(*parts, rank) if bases else Hooks(*parts)


def release_protocol(protocol: Protocol, quirks: Collection[RolloutQuirk]) -> Protocol:
    """``protocol`` with what ``quirks`` change in it."""
    changes = {name: value for quirk in PROTOCOL if quirk in quirks for name, value in PROTOCOL[quirk].items()}
    if RolloutQuirk.STRICT_EXTRACTION in quirks:
        changes["code"] = protocol.code.model_copy(update={"strict": True})
    return protocol.model_copy(update=changes)


def turn_characters(trajectory: Trajectory) -> list[TurnTokens]:
    """Lengths of turns and observations in characters of the kept text."""
    turns: list[TurnTokens] = []
    for segment in trajectory.segments:
        if segment.kind == "model":
            turns.append(TurnTokens(len(segment.text), 0))
        else:
            turns[-1] = turns[-1]._replace(observation=len(segment.text))
    return turns


def mask_of(token: Span, spans: Iterable[Span]) -> int:
    """0 for a token that begins in one of ``spans`` and ends behind its start; 1 for any other, one across a start included."""
    return int(not any(span.start <= token.start < span.end and token.end > span.start for span in spans))
