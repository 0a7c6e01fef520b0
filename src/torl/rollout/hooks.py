"""The points at which a quirk of the release may change the tool loop. Here nothing is changed: this is the sound loop."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple
from typing import Protocol as Interface

from torl.rollout.protocol import Protocol
from torl.rollout.trajectory import Trajectory, TurnTokens


class Tokenizer(Interface):
    """The part of a Hugging Face tokenizer that the loop uses."""

    eos_token_id: int

    def encode(self, text: str, **options: bool) -> list[int]: ...

    def decode(self, ids: Sequence[int], **options: bool) -> str: ...

    def __call__(self, text: str, **options: bool) -> Mapping[str, Sequence]: ...


@dataclass(frozen=True, kw_only=True)
class RolloutLimits:
    """What one trajectory may use."""

    max_tool_calls: int
    """C of the paper: how often the model may ask for execution."""
    max_response_tokens: int
    """Tokens of the response, observations included."""
    max_prompt_tokens: int
    """Tokens of the prompt that the model server has room for."""


class Span(NamedTuple):
    """A range of positions in a response, the end not included."""

    start: int
    end: int


class Hooks:
    """What the loop asks at each point; one method a point."""

    def __init__(self, tokenizer: Tokenizer, protocol: Protocol, limits: RolloutLimits) -> None:
        self.tokenizer = tokenizer
        self.protocol = protocol
        self.limits = limits

    def together(self) -> AbstractContextManager[object]:
        """Surrounds a trajectory from its first turn to its last; here none knows of another."""
        return nullcontext()

    def context(self, trajectory: Trajectory) -> list[int]:
        """The tokens that the model continues."""
        return trajectory.prompt_ids + trajectory.response_ids

    def budget(self, trajectory: Trajectory) -> int:
        """Tokens that the response may still get."""
        return self.limits.max_response_tokens - len(trajectory.response_ids)

    async def keeps_round(self, requested: bool) -> bool:
        """Whether a turn in which a call is possible is kept; ``requested``: it asked for one."""
        return True

    def turn_text(self, text: str, *, requested: bool, runs: bool, last: bool) -> str:
        """The text of a turn as it is kept.

        Args:
            text: what the model wrote, the marker included where it wrote that.
            requested: whether it asked for execution.
            runs: whether there is code to run.
            last: whether no call was left.
        """
        return text

    def spans(self, turns: Iterable[TurnTokens]) -> list[Span]:
        """Where the observations of ``turns`` lie in the response."""
        spans, position = [], 0
        for turn in turns:
            start = position + turn.model
            position = start + turn.observation
            spans.append(Span(start, position))
        return spans

    def finish(self, trajectory: Trajectory) -> None:
        """Change the tokens of a trajectory that has ended."""
