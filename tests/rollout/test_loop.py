"""The tool loop with a scripted model: masks, budgets and stop reasons hold for every mix of turns."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tiny_model import make_tokenizer
from torl.errors import ModelServerError
from torl.rollout.loop import Generation, RolloutLimits, ToolLoop
from torl.rollout.protocol import NO_CODE, TORL
from torl.rollout.trajectory import CallOutcome, StopReason, Trajectory

TOKENIZER = make_tokenizer()
EOS = TOKENIZER.eos_token_id
PROMPT = TOKENIZER.encode("What is 3 + 4?\nAssistant:\n")
CALL = "Let us compute.\n```python\nprint(3 + 4)\n```\n```output"
ANSWER = "So \\boxed{7}."


@dataclass(frozen=True)
class FakeExecution:
    outcome: CallOutcome = CallOutcome.PASSED
    stdout: str = "7\n"
    seconds: float = 0.01


@dataclass
class ScriptedModel:
    """Says its lines in order; a line that is not cut by stop or budget ends with the end token."""

    lines: list[str]
    seen: list[list[int]] = field(default_factory=list)

    async def __call__(self, ids: list[int], max_tokens: int, stop: tuple[str, ...], turn: int) -> Generation:
        self.seen.append(ids)
        line = self.lines[turn] if turn < len(self.lines) else ""
        tokens: list[int] = []
        for token in [*TOKENIZER.encode(line, add_special_tokens=False), EOS]:
            tokens.append(token)
            if len(tokens) == max_tokens or any(marker in TOKENIZER.decode(tokens) for marker in stop):
                break
        return Generation(token_ids=tokens, log_probs=[-0.5] * len(tokens))


def roll_out(
    lines: list[str],
    *,
    calls: int = 1,
    budget: int = 400,
    executions: tuple[FakeExecution, ...] = (FakeExecution(),),
    observation: str | None = None,
) -> tuple[Trajectory, ScriptedModel, list[str]]:
    ran: list[str] = []

    async def execute(code: str) -> FakeExecution:
        ran.append(code)
        return executions[(len(ran) - 1) % len(executions)]

    model = ScriptedModel(lines)
    loop = ToolLoop(
        tokenizer=TOKENIZER,
        protocol=TORL,
        limits=RolloutLimits(max_tool_calls=calls, max_response_tokens=budget),
        eos_ids=frozenset({EOS}),
        generate=model,
        execute=execute,
        observe=lambda execution: execution.stdout.strip() if observation is None else observation,
    )
    return asyncio.run(loop.run(PROMPT)), model, ran


def test_code_runs_and_its_result_is_shown_in_the_protocol_s_form() -> None:
    trajectory, _, ran = roll_out([CALL, ANSWER])
    assert ran == ["print(3 + 4)\n"]
    assert trajectory.text == CALL + "\n7\n```\n" + ANSWER
    assert trajectory.stop_reason is StopReason.ANSWERED
    assert trajectory.code_blocks == 1
    call = trajectory.calls[0]
    assert (call.outcome, call.observation, call.before_answer) == (CallOutcome.PASSED, "7", True)


def test_the_marker_is_trained_on_and_the_observation_is_not() -> None:
    trajectory, _, _ = roll_out([CALL, ANSWER])
    pairs = list(zip(trajectory.response_ids, trajectory.mask, strict=True))
    assert TOKENIZER.decode([token for token, mask in pairs if mask == 0]) == "\n7\n```\n"
    assert (
        TOKENIZER.decode([token for token, mask in pairs if mask == 1]).removesuffix("<|endoftext|>") == CALL + ANSWER
    )


def test_the_second_observation_is_masked_too() -> None:
    trajectory, _, _ = roll_out([CALL, CALL, ANSWER], calls=2)
    masked = [t for t, m in zip(trajectory.response_ids, trajectory.mask, strict=True) if m == 0]
    assert TOKENIZER.decode(masked) == "\n7\n```\n" * 2
    assert len(trajectory.calls) == 2


def test_the_model_reads_what_it_wrote_token_by_token() -> None:
    trajectory, model, _ = roll_out([CALL, ANSWER])
    assert model.seen[1] == PROMPT + trajectory.response_ids[: len(model.seen[1]) - len(PROMPT)]


def test_without_calls_the_marker_stops_nothing() -> None:
    trajectory, _, ran = roll_out([CALL + "\n7\n```\n" + ANSWER], calls=0)
    assert ran == []
    assert 0 not in trajectory.mask
    assert trajectory.stop_reason is StopReason.ANSWERED


def test_after_the_last_call_code_is_not_run() -> None:
    trajectory, _, ran = roll_out([CALL, CALL + "\n9\n```\n" + ANSWER], calls=1)
    assert len(ran) == 1
    assert trajectory.code_blocks == 2


def test_a_request_without_code_uses_up_a_call_and_is_answered_in_words() -> None:
    trajectory, _, ran = roll_out(["No code.\n```output", ANSWER], calls=1)
    assert ran == []
    assert trajectory.calls == []
    assert NO_CODE in trajectory.text


def test_the_last_block_of_the_turn_runs() -> None:
    _, _, ran = roll_out(["```python\na\n```\nthen\n```python\nb\n```\n```output", ANSWER])
    assert ran == ["b\n"]


def test_a_call_after_the_answer_is_recorded_as_such() -> None:
    trajectory, _, _ = roll_out([ANSWER + " Check:\n" + CALL, ANSWER])
    assert trajectory.calls[0].before_answer is False


def test_a_broken_sandbox_ends_the_trajectory_and_shows_the_model_nothing() -> None:
    broken = FakeExecution(outcome=CallOutcome.SANDBOX_FAILED, stdout="")
    trajectory, _, _ = roll_out([CALL, ANSWER], executions=(broken,))
    assert trajectory.stop_reason is StopReason.SANDBOX_FAILED
    assert 0 not in trajectory.mask
    assert trajectory.calls[0].outcome is CallOutcome.SANDBOX_FAILED


def test_an_observation_that_leaves_no_room_is_not_shown() -> None:
    spent = len(TOKENIZER.encode(CALL)) + 3
    trajectory, _, _ = roll_out([CALL, ANSWER], budget=spent)
    assert trajectory.stop_reason is StopReason.LENGTH
    assert 0 not in trajectory.mask
    assert len(trajectory.calls) == 1


def test_special_tokens_in_an_observation_stay_text() -> None:
    trajectory, _, _ = roll_out([CALL, ANSWER], observation="<|endoftext|>")
    masked = [t for t, m in zip(trajectory.response_ids, trajectory.mask, strict=True) if m == 0]
    assert EOS not in masked
    assert TOKENIZER.decode(masked) == "\n<|endoftext|>\n```\n"


@pytest.mark.parametrize("count", [0, 401])
def test_a_turn_of_impossible_length_is_refused(count: int) -> None:
    async def generate(*_: object) -> Generation:
        return Generation(token_ids=[5] * count, log_probs=[0.0] * count)

    loop = ToolLoop(
        tokenizer=TOKENIZER,
        protocol=TORL,
        limits=RolloutLimits(max_tool_calls=1, max_response_tokens=400),
        eos_ids=frozenset({EOS}),
        generate=generate,
        execute=None,
        observe=str,
    )
    with pytest.raises(ModelServerError, match="budget of 400"):
        asyncio.run(loop.run(PROMPT))


TURN = st.one_of(
    st.just(CALL),
    st.just(ANSWER),
    st.just("```output"),
    st.just("```python\nx = 1\n```output"),
    st.text(max_size=40),
    st.text(max_size=20).map(lambda text: f"{text}\n```python\nprint(1)\n```\n```output"),
)
RESULT = st.builds(
    FakeExecution,
    outcome=st.sampled_from(list(CallOutcome)),
    stdout=st.text(max_size=60) | st.just("<|endoftext|><|im_end|>"),
)


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(TURN, min_size=1, max_size=5),
    calls=st.integers(0, 3),
    budget=st.integers(1, 200),
    executions=st.lists(RESULT, min_size=1, max_size=3).map(tuple),
)
def test_mask_budget_and_text_hold_for_every_mix_of_turns(
    lines: list[str], calls: int, budget: int, executions: tuple[FakeExecution, ...]
) -> None:
    trajectory, _, _ = roll_out(lines, calls=calls, budget=budget, executions=executions)
    ids, mask = trajectory.response_ids, trajectory.mask
    assert len(ids) == len(mask) == len(trajectory.log_probs) <= budget
    assert len(trajectory.calls) <= calls
    assert trajectory.stop_reason is not None
    assert mask[-1] == 1  # never an orphan observation
    assert all((p == 0.0) == (m == 0) for p, m in zip(trajectory.log_probs, mask, strict=True))
    observed = [segment.text for segment in trajectory.segments if segment.kind == "observation"]
    expected = [t for text in observed for t in TOKENIZER.encode(text, split_special_tokens=True)]
    assert [t for t, m in zip(ids, mask, strict=True) if m == 0] == expected
    assert EOS not in expected
    failed = [call for call in trajectory.calls if call.outcome is CallOutcome.SANDBOX_FAILED]
    assert bool(failed) == (trajectory.stop_reason is StopReason.SANDBOX_FAILED)
