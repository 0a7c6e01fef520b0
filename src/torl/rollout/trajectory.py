"""What one trajectory is: token ids, mask, log-probabilities, tool calls, and the row it is kept as.

Differs from ToRL: ids are what the model sampled (the release re-tokenises the text), every call is recorded on its own (the
release keeps one flag a response), and a sandbox that failed is an outcome of its own (the release shows it to the model).
"""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import pyarrow as pa


class CallOutcome(StrEnum):
    """How a snippet ended. Each call has exactly one."""

    PASSED = "passed"
    """The snippet ran to its end with return code 0."""
    RAISED = "raised"
    """The snippet ended with an exception or a non-zero return code."""
    TIMED_OUT = "timed_out"
    """The snippet was ended at its time-out."""
    KILLED_MEMORY = "killed_memory"
    """The snippet went over its memory limit."""
    KILLED_SIGNAL = "killed_signal"
    """The snippet died of a signal, for example a segmentation fault."""
    OUTPUT_TRUNCATED = "output_truncated"
    """The snippet ended with return code 0 but printed more than is kept."""
    SANDBOX_FAILED = "sandbox_failed"
    """The sandbox could not run the snippet: not the model's fault, never shown to it."""


class StopReason(StrEnum):
    """Why a trajectory ended. Each trajectory has exactly one."""

    ANSWERED = "answered"
    """The model ended its response with the end-of-sequence token."""
    LENGTH = "length"
    """The token budget of the response was used up."""
    CALLS_SPENT = "calls_spent"
    """The model asked for execution with no call left, and the protocol ends a response there."""
    SANDBOX_FAILED = "sandbox_failed"
    """A call could not be run anywhere; the trajectory is dropped from the loss and counted."""
    LOST_ROUND = "lost_round"
    """The turn was thrown away, which only the quirk of that name does."""
    PROMPT_TOO_LONG = "prompt_too_long"
    """The prompt was over its budget, so that an evaluation did not ask; the answer counts as wrong."""


class TurnTokens(NamedTuple):
    """How many tokens a turn has: those that the model sampled, then those of the observation (0 without one)."""

    model: int
    observation: int


class Segment(NamedTuple):
    """A piece of the response in order of appearance."""

    kind: Literal["model", "observation"]
    text: str


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One execution of code that the model asked for."""

    turn: int
    """The turn that asked for it, from 0."""
    code: str
    outcome: CallOutcome
    stdout: str
    """What the snippet printed, as far as the sandbox kept it."""
    observation: str
    """The text that the model was shown, without its fence."""
    seconds: float
    """Wall time from request to reply."""
    tokens_before: int
    """Response tokens before the observation."""
    before_answer: bool
    """Whether no ``\\boxed{`` had appeared in the model's text outside code when the call was made."""


@dataclass(kw_only=True)
class Trajectory:
    """One response in tokens: ``response_ids``, ``mask`` and ``log_probs`` have the same length.

    ``mask`` is 1 on tokens that the model sampled and 0 on observation tokens; ``log_probs`` is 0.0 on the latter.
    """

    prompt_ids: list[int]
    response_ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    turns: list[TurnTokens] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    code_blocks: int = 0
    """Code blocks that the model wrote, sent to the sandbox or not."""
    unanswered_markers: int = 0
    """How often the model went on past the protocol's marker, with an output that it made up."""
    stop_reason: StopReason | None = None

    @property
    def model_text(self) -> str:
        """What the model itself wrote, observations left out."""
        return "".join(segment.text for segment in self.segments if segment.kind == "model")

    @property
    def text(self) -> str:
        """The whole response as it was read by the model, observations included."""
        return "".join(segment.text for segment in self.segments)


CALL_FIELDS = [
    ("turn", pa.int64()),
    ("code", pa.string()),
    ("outcome", pa.string()),
    ("stdout", pa.string()),
    ("observation", pa.string()),
    ("seconds", pa.float64()),
    ("tokens_before", pa.int64()),
    ("before_answer", pa.bool_()),
]

TRAJECTORY_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("step", pa.int64()),  # optimizer steps behind the policy that wrote this response
        ("benchmark", pa.string()),  # name of the benchmark; "train" for training rollouts
        ("problem_id", pa.string()),
        ("sample_index", pa.int64()),
        ("seed", pa.int64()),
        ("question", pa.string()),
        ("gold", pa.string()),
        ("segments", pa.list_(pa.struct([("kind", pa.string()), ("text", pa.string())]))),
        ("stop_reason", pa.string()),
        ("calls", pa.list_(pa.struct(CALL_FIELDS))),
        ("code_blocks", pa.int64()),
        ("unanswered_markers", pa.int64()),  # where the model went on past the marker
        ("answer", pa.string()),  # null where the response has no boxed answer
        ("correct", pa.bool_()),  # null where the grader could not decide
        ("reward", pa.float64()),  # null outside training and for trajectories dropped from the loss
        ("prompt_tokens", pa.int64()),
        ("response_tokens", pa.int64()),
        ("model_tokens", pa.int64()),
        ("seconds", pa.float64()),
    ]
)
"""One row a response, the same for training (JSONL) and evaluation (parquet); every figure is computed from these rows."""


def trajectory_row(trajectory: Trajectory, **context: Any) -> dict[str, Any]:
    """The row of ``TRAJECTORY_SCHEMA`` for a finished trajectory.

    ``context`` holds what the trajectory itself does not know: experiment, step, benchmark, problem_id, sample_index, seed,
    question, gold, answer, correct, reward, seconds.
    """
    row = {
        "segments": [segment._asdict() for segment in trajectory.segments],
        "stop_reason": str(trajectory.stop_reason),
        "calls": [asdict(call) | {"outcome": str(call.outcome)} for call in trajectory.calls],
        "code_blocks": trajectory.code_blocks,
        "unanswered_markers": trajectory.unanswered_markers,
        "prompt_tokens": len(trajectory.prompt_ids),
        "response_tokens": len(trajectory.response_ids),
        "model_tokens": sum(trajectory.mask),
    } | context
    return {name: row[name] for name in TRAJECTORY_SCHEMA.names}
