r"""The answer is in the model's own last \boxed{...}, wherever its code and its tool put theirs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.grading import extract_answer

CODE = "```python\nprint('\\\\boxed{9}')  # \\boxed{8}\n```\n"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"The answer is \boxed{42}.", "42"),
        (r"\boxed{1} then \boxed{2}", "2"),
        (r"\boxed {3}", "3"),
        (r"\fbox{4}", "4"),
        (r"\boxed{\frac{1}{\sqrt{\frac{2}{\sqrt{3}}}}}", r"\frac{1}{\sqrt{\frac{2}{\sqrt{3}}}}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{x = \boxed{5}}", "5"),
        (r"\boxed{7} and then \boxed{8 is cut off", "7"),
        ("\\boxed{\n5\n}", "5"),
        (r"no box, just 5", None),
        (r"\boxed 5", None),
        (r"\boxed{}", None),
        (r"\boxed", None),
        ("", None),
    ],
)
def test_the_last_complete_box_counts(text: str, answer: str | None) -> None:
    assert extract_answer(text) == answer


def test_a_box_in_code_does_not_count() -> None:
    assert extract_answer("\\boxed{1}\n" + CODE) == "1"
    assert extract_answer(CODE) is None
    assert extract_answer("So:\n```python\n# \\boxed{2}\nnot closed") is None


def test_a_box_in_made_up_output_does_not_count() -> None:
    assert extract_answer("\\boxed{1}\n" + CODE + "```output\n\\boxed{2}\n```\nHm.") == "1"


def test_the_answer_after_a_request_for_execution_counts_although_its_observation_is_not_in_the_text() -> None:
    assert extract_answer(CODE + "```outputThe answer is \\boxed{5}.") == "5"
    assert extract_answer(CODE + "```output\nThe answer is \\boxed{5}.") == "5"
    two_calls = CODE + "```outputAgain:\n" + CODE + "```output\nThe answer is \\boxed{6}."
    assert extract_answer(two_calls) == "6"
    assert extract_answer(CODE + "```output\n\\boxed{5}, to be sure:\n" + CODE + "```output") == "5"


def test_text_before_the_code_fence_on_its_line_counts() -> None:
    assert extract_answer("\\boxed{3} ```python\n1\n```") == "3"


balanced = st.recursive(
    st.text("ab1+", min_size=1, max_size=4),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda parts: "x{" + "".join(parts) + "}"),
    max_leaves=20,
)


@given(answer=balanced, before=st.text("ab {}\n", max_size=20))
def test_any_balanced_answer_is_found_whole(answer: str, before: str) -> None:
    assert extract_answer(f"{before}\\boxed{{{answer}}} end") == answer


@given(st.text(alphabet="`python\\boxed{}output\n 1", max_size=200))
def test_any_text_has_an_answer_or_none(text: str) -> None:
    answer = extract_answer(text)
    assert answer is None or (answer and answer in text)
