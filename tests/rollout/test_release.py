"""With every quirk on, the loop does what the release does; each quirk alone changes what its name says and nothing else."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rollout import release_reference
from tests.rollout.script import (
    ANSWER,
    CALL,
    CODE,
    EOS,
    EOS_TEXT,
    PROMPT,
    TOKENIZER,
    ScriptedModel,
    ScriptedSandbox,
    make_loop,
    masked_text,
    release,
    roll_out,
    roll_out_rank,
    with_quirks,
)
from torl.config import RunConfig
from torl.quirks import RolloutQuirk
from torl.rollout.loop import Generation
from torl.rollout.release import Rank
from torl.rollout.trajectory import CallOutcome, StopReason, Trajectory
from torl.sandbox.client import Execution
from torl.training.reward import is_penalised

SHOWN = "\n7\n```\n"
FAKE = f"{CODE}```output\n\\boxed{{9}}\n```\n"
PROMPT_TEXT = TOKENIZER.decode(PROMPT)


def said(trajectory: Trajectory) -> str:
    """The response as it is trained on."""
    return TOKENIZER.decode(trajectory.response_ids)


@pytest.mark.parametrize(
    ("calls", "scripts", "responses"),
    [
        pytest.param(1, [[CALL, ANSWER]], [CALL + SHOWN + ANSWER + EOS_TEXT], id="marker with a block: executed"),
        pytest.param(
            1,
            [[f"Hm {CODE}so```output", ANSWER]],
            [f"Hm {CODE}so\n```output{SHOWN}{ANSWER}{EOS_TEXT}"],
            id="a line break is put before the marker",
        ),
        pytest.param(
            1, [["No code.```output", ANSWER]], [f"No code.\n{ANSWER}{EOS_TEXT}"], id="marker without a block vanishes"
        ),
        pytest.param(
            2,
            [["No code.\n```output", CALL, ANSWER]],
            [f"No code.\n{CALL}{SHOWN}{ANSWER}{EOS_TEXT}"],
            id="marker without a block: the sample stays active",
        ),
        pytest.param(
            1,
            [["No code.\n```output", CALL]],
            [f"No code.\n{CALL}{EOS_TEXT}"],
            id="marker without a block uses up a call",
        ),
        pytest.param(
            1,
            [[CALL, ANSWER], [ANSWER, "never said"]],
            [CALL + SHOWN + ANSWER + EOS_TEXT, f"{ANSWER}\n{EOS_TEXT}"],
            id="end in a round that is not the last: a line break before the end token",
        ),
        pytest.param(
            1,
            [[CALL, FAKE + ANSWER]],
            [CALL + SHOWN + FAKE + ANSWER + EOS_TEXT],
            id="last round: code and its output are the model's own text",
        ),
        pytest.param(0, [[FAKE]], [FAKE + EOS_TEXT], id="no calls: one plain turn"),
        pytest.param(
            1, [[ANSWER], ["Hm."]], [EOS_TEXT, EOS_TEXT], id="nobody executes in round 1: every response is empty"
        ),
        pytest.param(
            2,
            [[CALL, ANSWER], [CALL, "I see 7."]],
            [CALL + SHOWN + EOS_TEXT] * 2,
            id="nobody executes in a later round: the text after the last output is lost",
        ),
        pytest.param(
            2,
            [[ANSWER], [CALL, ANSWER]],
            [f"{ANSWER}\n{EOS_TEXT}", CALL + SHOWN + EOS_TEXT],
            id="a sample that finished in an earlier round is untouched",
        ),
        pytest.param(
            2,
            [[CALL, ANSWER], [CALL, CALL, ANSWER]],
            [f"{CALL}{SHOWN}{ANSWER}\n{EOS_TEXT}", (CALL + SHOWN) * 2 + ANSWER + EOS_TEXT],
            id="another sample keeps the round alive",
        ),
    ],
)
def test_the_table_of_the_release_s_cases(calls: int, scripts: Sequence[Sequence[str]], responses: list[str]) -> None:
    assert [said(trajectory) for trajectory in roll_out_rank(scripts, release(calls))] == responses


def test_a_turn_that_ran_out_of_tokens_gets_no_end_token() -> None:
    budget = len(TOKENIZER.encode(CALL)) + 1
    long, _ = roll_out_rank([["word " * 80], [CALL, ANSWER]], release(budget=budget))
    assert long.stop_reason is StopReason.LENGTH
    assert len(long.response_ids) == budget
    assert EOS not in long.response_ids


LINE = st.lists(
    st.sampled_from([CALL, ANSWER, CODE, "```output", "Error", "\n", " ", "```", "```python\nx = 1\n", "é∑"])
    | st.text(max_size=10),
    max_size=4,
).map("".join)


def ended(return_code: int, stdout: str, stderr: str) -> Execution:
    """What the sandbox says of a program that ended by itself."""
    outcome = CallOutcome.RAISED if return_code else CallOutcome.PASSED
    return Execution(outcome=outcome, return_code=return_code, stdout=stdout, stderr=stderr)


EXECUTION = st.builds(
    ended,
    return_code=st.sampled_from([0, 1]),
    stdout=st.sampled_from(["", "7\n", " \n", "an Error\nor none\n", "x" * 255, "x" * 256]),
    stderr=st.sampled_from(["", "Traceback\nNameError: x\n", "exit"]),
)


@settings(max_examples=300, deadline=None)
@given(
    scripts=st.lists(st.lists(LINE, max_size=4), min_size=1, max_size=3), calls=st.integers(0, 3), execution=EXECUTION
)
def test_with_all_quirks_the_loop_is_the_release_s_state_machine(scripts, calls, execution) -> None:
    config = release(calls, budget=4000)
    trajectories = roll_out_rank(scripts, config, [execution])
    expected = release_reference.rounds(scripts, calls, execution)
    for trajectory, sample in zip(trajectories, expected, strict=True):
        encoded = TOKENIZER(sample.text, add_special_tokens=False, return_offsets_mapping=True)
        mask = [
            int(not any(start <= a < end and b > start for start, end in sample.ranges))
            for a, b in encoded["offset_mapping"]
        ]
        assert trajectory.response_ids == [*encoded["input_ids"], EOS]
        assert trajectory.mask == [*mask, 1]
        assert is_penalised(trajectory, config) == (sample.passed == 0)


def test_every_round_reads_the_text_anew() -> None:
    _, model, _ = roll_out([f"Hm {CODE}so```output", ANSWER], release())
    assert model.seen[1] == TOKENIZER.encode(f"{PROMPT_TEXT}Hm {CODE}so\n```output{SHOWN}")


def test_lost_round_off_keeps_the_answer_of_a_rank_in_which_nobody_executes() -> None:
    on, off = with_quirks(RolloutQuirk.LOST_ROUND), with_quirks()
    assert [said(t) for t in roll_out_rank([[ANSWER], [ANSWER]], on)] == [EOS_TEXT] * 2
    assert [said(t) for t in roll_out_rank([[ANSWER], [ANSWER]], off)] == [ANSWER + EOS_TEXT] * 2
    lost = roll_out_rank([[ANSWER]], on)[0]
    assert (lost.stop_reason, lost.mask, lost.log_probs) == (StopReason.LOST_ROUND, [1], [0.0])


def test_a_rank_goes_on_without_a_trajectory_that_broke() -> None:
    rank, config = Rank(), with_quirks(RolloutQuirk.LOST_ROUND)

    async def broken(*_: object) -> None:
        for _ in range(10):  # until the other one waits for it
            await asyncio.sleep(0)
        raise ConnectionError

    async def run() -> list[object]:
        loops = [make_loop(config, model, ScriptedSandbox(), rank) for model in (broken, ScriptedModel([CALL, ANSWER]))]
        return await asyncio.gather(*(loop.run(PROMPT) for loop in loops), return_exceptions=True)

    error, trajectory = asyncio.run(asyncio.wait_for(run(), 20))
    assert isinstance(error, ConnectionError)
    assert said(trajectory) == CALL + SHOWN + ANSWER + EOS_TEXT


def test_turn_relative_mask_leaves_the_second_observation_in_the_loss() -> None:
    lines = [CALL, "Then.\n" + CALL, ANSWER]
    assert masked_text(roll_out(lines, with_quirks(calls=2))[0]) == SHOWN * 2
    trajectory, _, _ = roll_out(lines, with_quirks(RolloutQuirk.TURN_RELATIVE_MASK, calls=2))
    masked = {at for at, bit in enumerate(trajectory.mask) if bit == 0}
    first, second = trajectory.turns[:2]
    relative = [range(turn.model, turn.model + turn.observation) for turn in (first, second)]
    assert masked == set(relative[0]) | set(relative[1])
    assert first.model + first.observation + second.model not in masked  # where the second observation begins


@pytest.mark.parametrize("calls", [0, 1])
def test_turn_relative_mask_is_right_up_to_one_call(calls: int) -> None:
    on, off = with_quirks(RolloutQuirk.TURN_RELATIVE_MASK, calls=calls), with_quirks(calls=calls)
    assert roll_out([CALL, ANSWER], on)[0].mask == roll_out([CALL, ANSWER], off)[0].mask


ODD = [TOKENIZER.convert_tokens_to_ids(letter) for letter in "print"]
"""A spelling that the tokenizer would not choose."""


def odd_word(config: RunConfig) -> Trajectory:
    """A response that spells its one word oddly and ends, if the budget allows."""

    async def generate(ids: list[int], max_tokens: int, *_: object) -> Generation:
        return Generation(token_ids=[*ODD, EOS][:max_tokens], log_probs=[-1.0] * min(6, max_tokens))

    return asyncio.run(make_loop(config, generate, ScriptedSandbox(), Rank()).run(PROMPT))


def test_retokenisation_trains_on_other_ids_than_were_sampled() -> None:
    sound, again = odd_word(with_quirks()), odd_word(with_quirks(RolloutQuirk.RETOKENISATION))
    assert (sound.response_ids, sound.log_probs) == ([*ODD, EOS], [-1.0] * 6)
    assert again.response_ids == [*TOKENIZER.encode("print\n"), EOS]
    assert again.log_probs == [0.0] * len(again.response_ids)
    assert len(again.response_ids) < len(sound.response_ids)


def test_retokenisation_gives_no_end_token_to_a_response_that_was_cut_off() -> None:
    cut_off = odd_word(with_quirks(RolloutQuirk.RETOKENISATION, budget=len(ODD)))
    assert cut_off.response_ids == TOKENIZER.encode("print\n")


def test_retokenisation_alone_masks_every_observation() -> None:
    trajectory, _, _ = roll_out([CALL, CALL, ANSWER], with_quirks(RolloutQuirk.RETOKENISATION, calls=2))
    assert masked_text(trajectory) == SHOWN * 2


def test_budget_per_call_cuts_off_what_is_over_the_budget_at_the_end() -> None:
    budget = len(TOKENIZER.encode(CALL)) + 12
    tail = "word word " + ANSWER
    on, _, _ = roll_out([CALL, tail], with_quirks(RolloutQuirk.BUDGET_PER_CALL, budget=budget, room=400))
    off, model, _ = roll_out([CALL, tail], with_quirks(budget=budget))
    assert len(on.response_ids) == len(on.mask) == len(on.log_probs) == budget
    assert on.stop_reason is StopReason.ANSWERED  # the model did end, but its answer is behind the cut
    assert ANSWER not in said(on)
    assert off.stop_reason is StopReason.LENGTH
    assert len(off.response_ids) == budget
    assert len(model.seen) == 2


def test_strict_extraction_runs_nothing_where_the_last_block_is_unclosed() -> None:
    turn = f"{CODE}```python\nx = 1\n```output"
    assert roll_out([turn, ANSWER], with_quirks(RolloutQuirk.STRICT_EXTRACTION))[2] == []
    assert roll_out([turn, ANSWER], with_quirks())[2] == ["print(3 + 4)\n"]


def test_silent_marker_answers_a_request_without_code_with_nothing() -> None:
    on = with_quirks(RolloutQuirk.RETOKENISATION, RolloutQuirk.SILENT_MARKER)
    off = with_quirks(RolloutQuirk.RETOKENISATION)
    lines = ["No code.\n```output", ANSWER]
    assert said(roll_out(lines, on)[0]) == f"No code.\n{ANSWER}{EOS_TEXT}"
    assert "```output\n[no complete code block to run]\n" in said(roll_out(lines, off)[0])


def test_fake_output_lets_the_model_write_its_own_and_trains_on_it() -> None:
    lines = [CALL, FAKE + ANSWER]
    on, _, _ = roll_out(lines, with_quirks(RolloutQuirk.FAKE_OUTPUT))
    off, _, _ = roll_out(lines, with_quirks())
    assert on.text == CALL + SHOWN + FAKE + ANSWER
    assert masked_text(on) == SHOWN
    assert (on.unanswered_markers, off.unanswered_markers) == (1, 0)
    assert "\\boxed{9}" not in off.text
