"""Which part of a text is taken for its answer before it is read."""

import pytest

from torl.grading.answers import answer_text, last_in_sentence, readings
from torl.grading.expressions import UnreadError
from torl.grading.rules import Policy, Rule


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("5", "5"),
        (r"so $\boxed{5}$.", "5"),
        (r"first \boxed{4}, then it is \boxed{5}", "5"),
        (r"\boxed{4} and \boxed{5}", "4, 5"),
        (r"\boxed{4}, \boxed{5}, \boxed{6}", "4, 5, 6"),
        (r"$x = \boxed{4}$ or $x = \boxed{5}$", "4, 5"),
        (r"\boxed{\frac{1}{\sqrt{2}}}", r"\frac{1}{\sqrt{2}}"),
        (r"\boxed{5", r"\boxed{5"),
    ],
)
def test_boxes_that_stand_together_are_one_list_and_others_replace_each_other(text: str, answer: str) -> None:
    assert answer_text(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The final answer is 12,000,023. I hope it is correct.", "12,000,023"),
        ("Therefore the total is $7$.", "7"),
        ("It is 3. Hence we get 4 apples out of it", r"4 \text{apples}"),
        ("The answer must be (C).", "C"),
        ("We know that 3 + 4 = 7", "7"),
        ("more than 5 people come here", None),
        ("any whole number from 3 to 9", None),
        ("5 apples", None),
        ("f(x) = 0 and f(x) = x^k for k = 0, 1, 2", None),
        ("no number at all", None),
    ],
)
def test_what_a_sentence_says_is_its_answer(text: str, answer: str | None) -> None:
    assert last_in_sentence(text) == answer


def test_a_comma_between_digits_has_as_many_readings_as_it_may_have() -> None:
    assert len(readings("1,234", Policy())) == 2
    assert len(readings("1,23", Policy())) == 2
    assert len(readings("1,000", Policy())) == 1
    assert len(readings("1,23", Policy(without=frozenset({Rule.DECIMAL_COMMA})))) == 1


def test_commands_that_lost_their_backslash_are_not_read() -> None:
    with pytest.raises(UnreadError):
        readings("\x0crac{1}{2}", Policy())
