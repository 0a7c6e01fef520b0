r"""The tool loop: one trajectory, tokens in and tokens out.

The model generates until it ends, runs out of budget, or writes the protocol's marker; then its last complete code block of this
turn runs, the result is tokenised alone and appended with mask 0, and the model goes on. After ``max_tool_calls`` requests it
writes to the end without the marker stopping it.

Differs from ToRL: no trajectory waits for another one's code; sampled ids are kept as they are; every turn gets the budget that
remains; masks hold for any number of calls; a turn is never lost.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol as Interface

from torl.errors import ModelServerError
from torl.rollout.protocol import NO_CODE, Protocol
from torl.rollout.trajectory import CallOutcome, Segment, StopReason, ToolCall, Trajectory

ANSWER_MARK = "\\boxed{"


class Execution(Interface):
    """What the loop reads of a sandbox's reply (``torl.sandbox.client.Execution``)."""

    outcome: CallOutcome
    stdout: str
    seconds: float


class Tokenizer(Interface):
    """The part of a Hugging Face tokenizer that the loop uses."""

    def encode(self, text: str, **options: bool) -> list[int]: ...

    def decode(self, ids: Sequence[int], **options: bool) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What a model server returns for one turn: sampled ids and their log-probabilities, the same length."""

    token_ids: list[int]
    log_probs: list[float]


Generate = Callable[[list[int], int, tuple[str, ...], int], Awaitable[Generation]]
"""``generate(ids, max_tokens, stop, turn)``: continue ``ids``; the stop string, once written, is the end of the turn."""

Execute = Callable[[str], Awaitable[Execution]]
Observe = Callable[[Execution], str]


@dataclass(frozen=True, kw_only=True)
class RolloutLimits:
    """What one trajectory may use."""

    max_tool_calls: int
    """C of the paper: how often the model may ask for execution."""
    max_response_tokens: int
    """Tokens of the response, observations included."""


@dataclass(frozen=True, kw_only=True)
class ToolLoop:
    """Everything that trajectories share; ``run`` makes one trajectory."""

    tokenizer: Tokenizer
    protocol: Protocol
    limits: RolloutLimits
    eos_ids: frozenset[int]
    generate: Generate
    execute: Execute
    observe: Observe

    async def run(self, prompt_ids: list[int]) -> Trajectory:
        """Continue ``prompt_ids`` to a finished trajectory.

        Raises:
            ModelServerError: a turn came back empty, too long, or without a reason to end.
        """
        trajectory = Trajectory(prompt_ids=list(prompt_ids))
        turn = 0
        while trajectory.stop_reason is None:
            may_call = turn < self.limits.max_tool_calls
            text = await self._model_turn(trajectory, turn, may_call)
            if trajectory.stop_reason is None:
                await self._tool_turn(trajectory, text)
            turn += 1
        trajectory.code_blocks = len(self.protocol.code_blocks(trajectory.model_text))
        return trajectory

    async def _model_turn(self, trajectory: Trajectory, turn: int, may_call: bool) -> str:
        """Let the model write one turn; set the stop reason unless it asked for execution. Returns the turn's text."""
        budget = self.limits.max_response_tokens - len(trajectory.response_ids)
        stop = (self.protocol.stop,) if may_call else ()
        generation = await self.generate(trajectory.prompt_ids + trajectory.response_ids, budget, stop, turn)
        ids = generation.token_ids
        if not 0 < len(ids) <= budget or len(generation.log_probs) != len(ids):
            raise ModelServerError(
                f"the model server returned {len(ids)} tokens with {len(generation.log_probs)} log-probabilities for a "
                f"budget of {budget}; it must return 1 to {budget} of both: check the server's log."
            )
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        trajectory.response_ids += ids
        trajectory.log_probs += generation.log_probs
        trajectory.mask += [1] * len(ids)
        trajectory.segments.append(Segment("model", text))
        asked = may_call and self.protocol.stop in text
        if ids[-1] in self.eos_ids:
            trajectory.stop_reason = StopReason.ANSWERED
        elif len(ids) == budget:
            trajectory.stop_reason = StopReason.LENGTH
        elif not asked:
            raise ModelServerError(
                f"the model server ended a turn after {len(ids)} of {budget} tokens without an end token or "
                f"{self.protocol.stop!r}; raise its context length above prompt + response, or check its log."
            )
        return text

    async def _tool_turn(self, trajectory: Trajectory, text: str) -> None:
        """Run the last code block of ``text`` and append what the model is shown."""
        blocks = self.protocol.code_blocks(text)
        if not blocks:
            self._append_observation(trajectory, NO_CODE)
            return
        before_answer = ANSWER_MARK not in trajectory.model_text
        tokens_before = len(trajectory.response_ids)
        execution = await self.execute(blocks[-1])
        failed = execution.outcome is CallOutcome.SANDBOX_FAILED
        observation = "" if failed else self.observe(execution)
        trajectory.calls.append(
            ToolCall(
                code=blocks[-1],
                outcome=execution.outcome,
                stdout=execution.stdout,
                observation=observation,
                seconds=execution.seconds,
                tokens_before=tokens_before,
                before_answer=before_answer,
            )
        )
        if failed:
            trajectory.stop_reason = StopReason.SANDBOX_FAILED
        else:
            self._append_observation(trajectory, observation)

    def _append_observation(self, trajectory: Trajectory, observation: str) -> None:
        """Append the wrapped observation with mask 0, or end the trajectory where it would leave the model no token."""
        text = self.protocol.wrap(observation)
        ids = self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        if len(trajectory.response_ids) + len(ids) >= self.limits.max_response_tokens:
            trajectory.stop_reason = StopReason.LENGTH
            return
        trajectory.response_ids += ids
        trajectory.log_probs += [0.0] * len(ids)
        trajectory.mask += [0] * len(ids)
        trajectory.segments.append(Segment("observation", text))
