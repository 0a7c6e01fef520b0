"""Where the answer of a trajectory is taken from."""

import pytest

from tests.rollout.script import ANSWER, CALL, configured, release, roll_out, rollout
from torl.grading import Method
from torl.rollout.setup import final_answer, make_grader
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution


def test_the_answer_is_the_last_box_of_the_model_s_own_text_outside_code() -> None:
    trajectory, _, _ = roll_out([f"{ANSWER} Check:\n{CALL}", "```python\n# \\boxed{8}\n```\nDone."])
    assert final_answer(trajectory, rollout()) == "7"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{1} then \\boxed{2}", "2"),
        ("\\boxed{{{{1}}}}", "{{{1}}}"),
        ("\\boxed{{{{{1}}}}}", None),
        ("\\boxed{1} \\boxed{2", "1"),
        ("\\boxed{\\left\\{1\\right\\}}", "\\left\\{1\\right\\}"),
        ("\\boxed 5 \\fbox{5}", None),
        ("so \\boxed{7}.\n```python\n# \\boxed{8}\n```", "8"),
    ],
)
def test_the_release_takes_the_last_box_anywhere(text: str, answer: str | None) -> None:
    trajectory, _, _ = roll_out([text], rollout(calls=0))
    assert final_answer(trajectory, release(0)) == answer


def test_answer_anywhere_lets_the_tool_print_the_answer() -> None:
    printed = Execution(outcome=CallOutcome.PASSED, return_code=0, stdout="\\boxed{9}\n")
    trajectory, _, _ = roll_out([CALL, "I am done."], executions=[printed])
    assert final_answer(trajectory, release()) == "9"
    assert final_answer(trajectory, rollout()) is None


def test_a_box_in_code_between_tags_is_no_answer() -> None:
    config = configured(rollout={"protocol": "retool"})
    trajectory, _, _ = roll_out(
        ["<code>print('\\\\boxed{9}')</code>", "So \\boxed{7}. <code># \\boxed{8}</code>"], config
    )
    assert final_answer(trajectory, config) == "7"


def test_undelimited_grading_passes_eight_for_eight_pi_and_sound_grading_does_not() -> None:
    with make_grader(release()) as lax, make_grader(rollout()) as sound:
        assert (lax.method, sound.method) == (Method.RELEASE, Method.SOUND)
        assert [grader.grade_many([("8\\pi", "8")])[0].correct for grader in (lax, sound)] == [True, False]


def test_a_rule_of_the_policy_can_be_switched_off() -> None:
    for off, correct in (([], True), (["any_order"], False)):
        with make_grader(configured(grading={"rules_off": off})) as grader:
            assert [grade.correct for grade in grader.grade_many([("1, 2", "2, 1")])] == [correct]
