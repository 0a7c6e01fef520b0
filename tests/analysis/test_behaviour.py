"""Each code-behaviour metric is the ratio that its docstring promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.factory import make_call, make_row
from torl.analysis.behaviour import behaviour
from torl.rollout.trajectory import CallOutcome

GOLDEN = [
    make_row(correct=True, calls=[make_call("passed")], code_blocks=2, response_tokens=10, reward=1.0),
    make_row(correct=True, calls=[make_call("output_truncated"), make_call("raised")], response_tokens=20, reward=1.0),
    make_row(correct=False, calls=[make_call("timed_out", before_answer=False)], response_tokens=30, reward=-1.0),
    make_row(correct=False, answer=None, stop_reason="length", response_tokens=40, reward=-1.0, unanswered_markers=2),
    make_row(correct=None, response_tokens=50),
    make_row(correct=None, answer=None, stop_reason="sandbox_failed", calls=[make_call("sandbox_failed")]),
]


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", 2 / 4),
        ("no_answer_rate", 1 / 5),
        ("truncation_rate", 1 / 5),
        ("ungraded_rate", 1 / 5),
        ("sandbox_failed_rate", 1 / 6),
        ("code_ratio", 3 / 5),
        ("pass_ratio", 2 / 4),
        ("pass_ratio_correct", 2 / 3),
        ("pass_ratio_incorrect", 0 / 1),
        ("executed_code_ratio", 4 / 5),
        ("passed_code_ratio", 2 / 5),
        ("before_answer_ratio", 3 / 4),
        ("made_up_output_rate", 1 / 5),
        ("calls_per_response", 4 / 5),
        ("mean_response_tokens", 30.0),
        ("mean_reward", 0.0),
        ("call_passed", 1 / 4),
        ("call_output_truncated", 1 / 4),
        ("call_raised", 1 / 4),
        ("call_timed_out", 1 / 4),
        ("call_killed_memory", 0.0),
    ],
)
def test_metric_of_the_golden_rows(metric: str, value: float) -> None:
    assert behaviour(GOLDEN)[metric] == pytest.approx(value)


def test_without_calls_ratios_of_calls_are_none_and_not_zero() -> None:
    found = behaviour([make_row()])
    assert found["code_ratio"] == 0.0
    for metric in ("pass_ratio", "executed_code_ratio", "passed_code_ratio", "before_answer_ratio", "call_passed"):
        assert found[metric] is None


def test_without_rows_every_metric_is_none() -> None:
    assert set(behaviour([]).values()) == {None}


def test_code_that_was_written_but_not_run_counts_as_code() -> None:
    found = behaviour([make_row(code_blocks=1)])
    assert (found["code_ratio"], found["executed_code_ratio"]) == (1.0, 0.0)


def test_a_sandbox_failure_changes_no_ratio_but_its_own() -> None:
    broken = make_row(correct=None, stop_reason="sandbox_failed", calls=[make_call("passed")], code_blocks=3)
    alone, together = behaviour(GOLDEN[:3]), behaviour([*GOLDEN[:3], broken])
    assert together.pop("sandbox_failed_rate") == 0.25
    assert alone.pop("sandbox_failed_rate") == 0.0
    assert together == alone


def test_a_question_that_was_not_asked_changes_the_accuracy_and_nothing_else() -> None:
    silent = make_row(correct=False, answer=None, stop_reason="prompt_too_long", segments=[], response_tokens=0)
    alone, together = behaviour(GOLDEN), behaviour([*GOLDEN, silent])
    assert together.pop("accuracy") == pytest.approx(alone.pop("accuracy") * 4 / 5)
    assert together == alone


def test_accuracy_comes_from_correctness_and_never_from_the_reward() -> None:
    assert behaviour([make_row(correct=True, reward=0.5), make_row(correct=False, reward=0.5)])["accuracy"] == 0.5


@pytest.mark.parametrize(("rewards", "value"), [([1.0, -1.0], 0.5), ([0.5, -1.5], -0.5), ([-0.5, -0.5], 0.0)])
def test_the_release_s_accuracy_is_the_reward_and_wrong_with_the_penalty(rewards: list[float], value: float) -> None:
    assert behaviour([make_row(reward=reward) for reward in rewards])["release_accuracy"] == value


RANDOM_CALLS = st.lists(st.sampled_from(list(CallOutcome)).map(make_call), max_size=3)


@given(st.lists(st.builds(make_row, calls=RANDOM_CALLS, correct=st.sampled_from([True, False, None])), max_size=8))
def test_outcome_shares_add_up_to_one_where_there_is_a_call(rows: list[dict]) -> None:
    found = behaviour(rows)
    shares = [value for name, value in found.items() if name.startswith("call_")]
    if found["pass_ratio"] is None:
        assert set(shares) == {None}
    else:
        assert sum(shares) == pytest.approx(1)


@given(st.lists(st.builds(make_row, calls=RANDOM_CALLS), max_size=8))
def test_passed_code_ratio_never_exceeds_the_executed_one(rows: list[dict]) -> None:
    found = behaviour(rows)
    if found["executed_code_ratio"] is not None:
        assert found["passed_code_ratio"] <= found["executed_code_ratio"]
