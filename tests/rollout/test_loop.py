"""The tool loop with a scripted model: masks, budgets and stop reasons hold for every mix of turns."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rollout.script import (
    ANSWER,
    CALL,
    EOS,
    EOS_TEXT,
    PROMPT,
    SEVEN,
    TOKENIZER,
    make_loop,
    masked_text,
    roll_out,
    rollout,
    shipped,
)
from torl.errors import ModelServerError
from torl.rollout.loop import Generation
from torl.rollout.release import Rank
from torl.rollout.trajectory import CallOutcome, StopReason
from torl.sandbox.client import Execution

TORL = shipped("torl")
RETOOL = shipped("retool")
TAGGED = "Let us compute.\n<code>\n```python\nprint(3 + 4)\n```\n</code>"


def test_code_runs_and_its_result_is_shown_in_the_protocol_s_form() -> None:
    trajectory, _, ran = roll_out([CALL, ANSWER])
    assert ran == ["print(3 + 4)\n"]
    assert trajectory.text == CALL + "\n7\n```\n" + ANSWER
    assert trajectory.stop_reason is StopReason.ANSWERED
    assert trajectory.code_blocks == 1
    call = trajectory.calls[0]
    assert (call.turn, call.outcome, call.observation, call.before_answer) == (0, CallOutcome.PASSED, "7", True)


def test_another_protocol_is_only_other_data() -> None:
    trajectory, _, ran = roll_out([TAGGED, ANSWER], rollout(protocol=RETOOL))
    assert ran == ["print(3 + 4)\n"]
    assert trajectory.text == TAGGED + "\n<interpreter>\n7\n</interpreter>\n" + ANSWER
    assert masked_text(trajectory) == "\n<interpreter>\n7\n</interpreter>\n"


def test_the_marker_is_trained_on_and_the_observation_is_not() -> None:
    trajectory, _, _ = roll_out([CALL, ANSWER])
    assert masked_text(trajectory) == "\n7\n```\n"
    pairs = zip(trajectory.response_ids, trajectory.mask, strict=True)
    assert TOKENIZER.decode([token for token, mask in pairs if mask == 1]) == CALL + ANSWER + EOS_TEXT


def test_the_second_observation_is_masked_too() -> None:
    trajectory, _, _ = roll_out([CALL, CALL, ANSWER], rollout(calls=2))
    assert masked_text(trajectory) == "\n7\n```\n" * 2
    assert [call.turn for call in trajectory.calls] == [0, 1]


def test_the_model_reads_what_it_wrote_token_by_token() -> None:
    trajectory, model, _ = roll_out([CALL, ANSWER])
    assert model.seen[1] == PROMPT + trajectory.response_ids[: len(model.seen[1]) - len(PROMPT)]


def test_without_calls_the_marker_stops_nothing() -> None:
    trajectory, _, ran = roll_out([CALL + "\n7\n```\n" + ANSWER], rollout(calls=0))
    assert ran == []
    assert 0 not in trajectory.mask
    assert trajectory.stop_reason is StopReason.ANSWERED


def test_a_request_for_which_no_call_is_left_is_refused_and_the_model_goes_on() -> None:
    trajectory, _, ran = roll_out([CALL, CALL, CALL, ANSWER], rollout(calls=1))
    assert len(ran) == 1
    assert trajectory.text == CALL + "\n7\n```\n" + (CALL + "\n[no tool call is left]\n```\n") * 2 + ANSWER
    assert (trajectory.code_blocks, trajectory.unanswered_markers) == (3, 0)
    assert trajectory.stop_reason is StopReason.ANSWERED


def test_where_the_protocol_lets_the_model_go_on_it_may_make_an_output_up_and_that_is_counted() -> None:
    free = TORL.model_copy(update={"when_spent": "continue", "spent": None})
    trajectory, _, ran = roll_out([CALL, CALL + "\n9\n```\n" + ANSWER], rollout(protocol=free))
    assert len(ran) == 1
    assert (trajectory.code_blocks, trajectory.unanswered_markers) == (2, 1)
    assert masked_text(trajectory) == "\n7\n```\n"


def test_where_the_protocol_ends_a_response_without_calls_it_ends() -> None:
    ending = TORL.model_copy(update={"when_spent": "end", "spent": None})
    trajectory, _, ran = roll_out([CALL, CALL, ANSWER], rollout(protocol=ending))
    assert len(ran) == 1
    assert trajectory.stop_reason is StopReason.CALLS_SPENT
    assert trajectory.text.endswith(CALL)


def test_a_request_without_code_uses_up_a_call_and_is_answered_in_words() -> None:
    trajectory, _, ran = roll_out(["No code.\n```output", ANSWER])
    assert ran == []
    assert trajectory.calls == []
    assert masked_text(trajectory) == "\n[no complete code block to run]\n```\n"


@pytest.mark.parametrize(("runs", "program"), [("last", "b\n"), ("first", "a\n"), ("all", "a\nb\n")])
def test_the_block_that_the_protocol_names_runs(runs: str, program: str) -> None:
    protocol = TORL.model_copy(update={"runs": runs})
    two = "```python\na\n```\nthen\n```python\nb\n```\n```output"
    _, _, ran = roll_out([two, ANSWER], rollout(protocol=protocol))
    assert ran == [program]


def test_a_call_after_the_answer_is_recorded_as_such() -> None:
    trajectory, _, _ = roll_out([ANSWER + " Check:\n" + CALL, ANSWER])
    assert trajectory.calls[0].before_answer is False


def test_a_box_that_the_code_prints_is_no_answer_before_the_call() -> None:
    trajectory, _, _ = roll_out(["```python\nprint('\\\\boxed{7}')\n```\n```output", ANSWER])
    assert trajectory.calls[0].before_answer is True


def test_a_broken_sandbox_ends_the_trajectory_and_shows_the_model_nothing() -> None:
    broken = Execution(outcome=CallOutcome.SANDBOX_FAILED)
    trajectory, _, _ = roll_out([CALL, ANSWER], executions=[broken])
    assert trajectory.stop_reason is StopReason.SANDBOX_FAILED
    assert 0 not in trajectory.mask
    assert trajectory.calls[0].outcome is CallOutcome.SANDBOX_FAILED


@pytest.mark.parametrize("missing", [0, 1])
def test_an_observation_that_leaves_no_room_is_not_shown(missing: int) -> None:
    room = len(TOKENIZER.encode(CALL)) + len(TOKENIZER.encode("\n7\n```\n"))
    trajectory, _, _ = roll_out([CALL, ANSWER], rollout(budget=room - missing))
    assert trajectory.stop_reason is StopReason.LENGTH
    assert 0 not in trajectory.mask
    assert len(trajectory.calls) == 1


def test_special_tokens_in_an_observation_stay_text() -> None:
    printed = Execution(outcome=CallOutcome.PASSED, stdout=EOS_TEXT, return_code=0)
    trajectory, _, _ = roll_out([CALL, ANSWER], executions=[printed])
    masked = [t for t, m in zip(trajectory.response_ids, trajectory.mask, strict=True) if m == 0]
    assert EOS not in masked
    assert TOKENIZER.decode(masked) == f"\n{EOS_TEXT}\n```\n"


@pytest.mark.parametrize("count", [0, 401])
def test_a_turn_of_impossible_length_is_refused(count: int) -> None:
    async def generate(*_: object) -> Generation:
        return Generation(token_ids=[5] * count, log_probs=[0.0] * count)

    with pytest.raises(ModelServerError, match="budget of 400"):
        asyncio.run(make_loop(rollout(), generate, None, Rank()).run(PROMPT))


def test_a_turn_that_ends_for_no_reason_is_refused() -> None:
    async def generate(*_: object) -> Generation:
        return Generation(token_ids=[5], log_probs=[-1.0])

    with pytest.raises(ModelServerError, match="context length"):
        asyncio.run(make_loop(rollout(), generate, None, Rank()).run(PROMPT))


TURN = st.one_of(
    st.sampled_from([CALL, ANSWER, TAGGED, "```output", "</code>", "```python\nx = 1\n```output", f"{CALL}\n7\n```\n"]),
    st.text(max_size=40),
    st.text(max_size=20).map(lambda text: f"{text}\n```python\nprint(1)\n```\n```output"),
    st.text(max_size=20).map(lambda text: f"{text}<code>print(1)</code>"),
)
RESULT = st.builds(
    Execution,
    outcome=st.sampled_from(list(CallOutcome)),
    return_code=st.sampled_from([0, 1, -11]),
    stdout=st.text(max_size=60) | st.just(f"{EOS_TEXT}<|im_end|>") | st.just("x" * 300),
    stderr=st.text(max_size=20) | st.just("Traceback (most recent call last):\nValueError: no"),
)
PROTOCOL = st.builds(
    lambda protocol, runs, no_code, spent: protocol.model_copy(
        update={"runs": runs, "no_code": no_code, "when_spent": spent[0], "spent": spent[1]}
    ),
    st.sampled_from([TORL, RETOOL]),
    st.sampled_from(["last", "first", "all"]),
    st.sampled_from([None, "[none]"]),
    st.sampled_from([("refuse", "[spent]"), ("continue", None), ("end", None)]),
)


@settings(max_examples=400, deadline=None)
@given(
    lines=st.lists(TURN, min_size=1, max_size=5),
    calls=st.integers(0, 3),
    budget=st.integers(1, 200),
    executions=st.lists(RESULT, min_size=1, max_size=3),
    protocol=PROTOCOL,
)
def test_mask_budget_and_text_hold_for_every_mix_of_turns(lines, calls, budget, executions, protocol) -> None:
    trajectory, model, _ = roll_out(lines, rollout(calls, budget, protocol=protocol), executions)
    ids, mask, segments = trajectory.response_ids, trajectory.mask, trajectory.segments
    assert len(ids) == len(mask) == len(trajectory.log_probs) <= budget
    assert len(trajectory.calls) <= calls
    assert trajectory.stop_reason is not None
    # what is trained on is what the model sampled, token by token, and its log-probabilities are those tokens' own
    expected = [-0.5 - token / 1000 if m else 0.0 for token, m in zip(ids, mask, strict=True)]
    assert trajectory.log_probs == expected
    # the response is the turns and the observations in their order, and the mask is 0 on exactly the latter
    assert sum(turn.model + turn.observation for turn in trajectory.turns) == len(ids)
    assert [bit for turn in trajectory.turns for bit in [1] * turn.model + [0] * turn.observation] == mask
    observed = [
        t for s in segments if s.kind == "observation" for t in TOKENIZER.encode(s.text, split_special_tokens=True)
    ]
    assert [t for t, m in zip(ids, mask, strict=True) if m == 0] == observed
    assert EOS not in observed
    whole = TOKENIZER.decode([token for token in ids if token != EOS])
    assert whole == trajectory.text or "\ufffd" in whole  # half a character at the budget decodes to this
    assert mask[-1] == 1  # never an orphan observation
    # each turn continued exactly what stood there
    assert all(PROMPT + ids[: len(seen) - len(PROMPT)] == seen for seen in model.seen)
    failed = [call for call in trajectory.calls if call.outcome is CallOutcome.SANDBOX_FAILED]
    assert bool(failed) == (trajectory.stop_reason is StopReason.SANDBOX_FAILED)


def test_the_result_of_each_call_stands_in_its_record() -> None:
    raised = Execution(outcome=CallOutcome.RAISED, stderr="ZeroDivisionError: division by zero", return_code=1)
    trajectory, _, _ = roll_out([CALL, CALL, ANSWER], rollout(calls=2), [raised, SEVEN])
    first, second = trajectory.calls
    assert (first.outcome, first.observation) == (CallOutcome.RAISED, "ZeroDivisionError: division by zero")
    assert (second.outcome, second.observation, second.stdout) == (CallOutcome.PASSED, "7", "7\n")
    assert trajectory.response_ids[: second.tokens_before] != trajectory.response_ids[: first.tokens_before]
