"""The prompts, byte for byte."""

import pytest

from torl.errors import ConfigError
from torl.rollout.prompts import PROMPTS, render


def test_the_released_training_prompt_is_exact() -> None:
    assert render("tir_base_0309", "What is 1 + 1?") == (
        "A conversation between User and Assistant. The user asks a question, and the Assistant solves it.\n"
        "User: Please integrate natural language reasoning with programs to solve the problem above, and put your final "
        "answer within \\boxed{}.\n"
        "What is 1 + 1?\n"
        "Assistant:\n"
    )


def test_the_earlier_prompt_goes_on_in_its_first_line() -> None:
    first, second, *rest = render("tir_base_0307", "Q").split("\n")
    assert "in the mind and then provides the user with the answer. User: Please integrate" in first
    assert (second, rest) == ("Q", ["Assistant:", ""])


def test_the_prompt_without_tools_asks_for_no_program() -> None:
    assert "program" not in render("cot_base", "Q")


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_braces_and_placeholders_in_a_problem_are_left_alone(name: str) -> None:
    assert "{x} [PROMPT] \\boxed{}%s" in render(name, "{x} [PROMPT] \\boxed{}%s")


def test_an_unknown_prompt_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'tir'.*cot_base.*tir_base_0309"):
        render("tir", "Q")
