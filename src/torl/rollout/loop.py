r"""The tool loop: one trajectory, tokens in and tokens out.

The model generates until it ends, runs out of budget, or writes the protocol's marker; then the code of this turn runs,
the result is tokenised alone and appended with mask 0, and the model goes on. Once ``max_tool_calls`` requests are used up
the protocol says what a further one does.

Differs from ToRL: no trajectory waits for another one's code; sampled ids are kept as they are; every turn gets the budget that
remains; masks hold for any number of calls; a turn is never lost. What the release does instead is in
``torl.rollout.release``, and enters through ``torl.rollout.hooks``.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol as Interface

from torl.errors import ModelServerError
from torl.rollout.hooks import Hooks, RolloutLimits, Tokenizer
from torl.rollout.protocol import Protocol
from torl.rollout.trajectory import CallOutcome, Segment, StopReason, ToolCall, Trajectory, TurnTokens

ANSWER_MARK = "\\boxed{"


class Execution(Interface):
    """What the loop reads of a sandbox's reply (``torl.sandbox.client.Execution``)."""

    outcome: CallOutcome
    stdout: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What a model server returns for one turn: sampled ids and their log-probabilities, the same length."""

    token_ids: list[int]
    log_probs: list[float]


Generate = Callable[[list[int], int, tuple[str, ...], int], Awaitable[Generation]]
"""``generate(ids, max_tokens, stop, turn)``: continue ``ids``; the stop string, once written, is the end of the turn."""

Execute = Callable[[str], Awaitable[Execution]]
Observe = Callable[[Execution], str | None]
"""The text that the model is shown of an execution; None where it must not be shown and the trajectory is to be dropped."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the model wrote in one go."""

    generation: Generation
    text: str
    requested: bool
    """Whether it ends with a request for execution."""
    stop_reason: StopReason | None
    """Why the response ends with this turn; None where it goes on."""


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
    hooks: Hooks

    async def run(self, prompt_ids: list[int]) -> Trajectory:
        """Continue ``prompt_ids`` to a finished trajectory.

        Raises:
            ModelServerError: a turn came back empty, too long, or without a reason to end.
        """
        trajectory = Trajectory(prompt_ids=list(prompt_ids))
        with self.hooks.together():
            while trajectory.stop_reason is None:
                await self._round(trajectory, len(trajectory.turns))
        self.hooks.finish(trajectory)
        return trajectory

    async def _round(self, trajectory: Trajectory, number: int) -> None:
        """One turn of the model and, where it asked for one, the observation."""
        if self.hooks.budget(trajectory) <= 0:
            trajectory.stop_reason = StopReason.LENGTH
            return
        may_call = number < self.limits.max_tool_calls
        turn = await self._model_turn(trajectory, number, may_call)
        if may_call and not await self.hooks.keeps_round(turn.requested):
            trajectory.stop_reason = StopReason.LOST_ROUND
            return
        program = self.protocol.program(turn.text) if turn.requested and may_call else None
        self._append_turn(trajectory, turn, runs=program is not None, last=not may_call)
        if trajectory.stop_reason is not None:
            return
        if program is not None:
            result = await self._call(trajectory, program, number)
        else:
            result = self.protocol.no_code if may_call else self.protocol.spent
        if result is not None:
            self._append_observation(trajectory, result)

    async def _model_turn(self, trajectory: Trajectory, number: int, may_call: bool) -> Turn:
        budget = self.hooks.budget(trajectory)
        stops = may_call or (self.limits.max_tool_calls > 0 and self.protocol.when_spent != "continue")
        stop = (self.protocol.stop,) if stops else ()
        generation = await self.generate(self.hooks.context(trajectory), budget, stop, number)
        ids = generation.token_ids
        if not 0 < len(ids) <= budget or len(generation.log_probs) != len(ids):
            raise ModelServerError(
                f"the model server returned {len(ids)} tokens with {len(generation.log_probs)} log-probabilities for a "
                f"budget of {budget}; it must return 1 to {budget} of both: check the server's log."
            )
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        requested = stops and self.protocol.stop in text
        if ids[-1] in self.eos_ids:
            reason = StopReason.ANSWERED
        elif len(ids) == budget:
            reason = StopReason.LENGTH
        elif not requested:
            raise ModelServerError(
                f"the model server ended a turn after {len(ids)} of {budget} tokens without an end token or "
                f"{self.protocol.stop!r}; raise its context length above prompt + response, or check its log."
            )
        else:
            reason = None if may_call or self.protocol.when_spent == "refuse" else StopReason.CALLS_SPENT
        return Turn(generation=generation, text=text, requested=requested and reason is None, stop_reason=reason)

    def _append_turn(self, trajectory: Trajectory, turn: Turn, *, runs: bool, last: bool) -> None:
        ids = turn.generation.token_ids
        trajectory.response_ids += ids
        trajectory.log_probs += turn.generation.log_probs
        trajectory.mask += [1] * len(ids)
        trajectory.turns.append(TurnTokens(len(ids), 0))
        text = self.hooks.turn_text(turn.text, requested=turn.requested, runs=runs, last=last)
        trajectory.segments.append(Segment("model", text))
        trajectory.stop_reason = turn.stop_reason
        trajectory.code_blocks += len(self.protocol.blocks(turn.text))
        if not turn.requested:
            trajectory.unanswered_markers += turn.text.removesuffix(self.protocol.stop).count(self.protocol.stop)

    async def _call(self, trajectory: Trajectory, code: str, number: int) -> str | None:
        """Run ``code`` and record the call; returns what the model is shown, None where the sandbox failed."""
        before_answer = ANSWER_MARK not in self.protocol.prose(trajectory.model_text)
        tokens_before = len(trajectory.response_ids)
        execution = await self.execute(code)
        observation = self.observe(execution)
        if observation is None:
            trajectory.stop_reason = StopReason.SANDBOX_FAILED
        call = ToolCall(
            turn=number,
            code=code,
            outcome=execution.outcome,
            stdout=execution.stdout,
            observation=observation or "",
            seconds=execution.seconds,
            tokens_before=tokens_before,
            before_answer=before_answer,
        )
        trajectory.calls.append(call)
        return observation

    def _append_observation(self, trajectory: Trajectory, observation: str) -> None:
        """Append the wrapped observation with mask 0, or end the trajectory where it would leave the model no token."""
        text = self.protocol.wrap(observation)
        ids = self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        if len(ids) >= self.hooks.budget(trajectory):
            trajectory.stop_reason = StopReason.LENGTH
            return
        trajectory.response_ids += ids
        trajectory.log_probs += [0.0] * len(ids)
        trajectory.mask += [0] * len(ids)
        trajectory.turns[-1] = trajectory.turns[-1]._replace(observation=len(ids))
        trajectory.segments.append(Segment("observation", text))
