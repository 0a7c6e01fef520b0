"""The prompts, byte for byte."""

import pytest

from tests.rollout.script import shipped
from tests.tiny_model import make_tokenizer
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


def test_the_earlier_prompt_is_exact_and_goes_on_in_its_first_line() -> None:
    assert render("tir_base_0307", "Q") == (
        "A conversation between User and Assistant. The user asks a question, and the Assistant solves it. The assistant first "
        "thinks about the reasoning process in the mind and then provides the user with the answer. User: Please integrate "
        "natural language reasoning with programs to solve the problem above, and put your final answer within \\boxed{}.\n"
        "Q\nAssistant:\n"
    )


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("qwen_cot", "Please reason step by step, and put your final answer within \\boxed{}."),
        (
            "qwen_tir",
            "Please integrate natural language reasoning with programs to solve the problem above, and put your final "
            "answer within \\boxed{}.",
        ),
    ],
)
def test_the_prompts_of_the_baselines_are_their_chat_format(name: str, system: str) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{{ '<|im_start|>assistant\n' }}"
    )
    turns = [{"role": "system", "content": system}, {"role": "user", "content": "What is 1 + 1?"}]
    tokenizer = make_tokenizer()
    assert render(name, "What is 1 + 1?") == tokenizer.apply_chat_template(
        turns, chat_template=template, tokenize=False
    )


def test_the_prompt_of_the_tag_protocol_names_its_tags() -> None:
    code = shipped("retool").code
    assert code.open in render("retool_base", "Q")
    assert code.close in render("retool_base", "Q")


def test_the_prompt_without_tools_asks_for_no_program() -> None:
    assert "program" not in render("cot_base", "Q")


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_braces_and_placeholders_in_a_problem_are_left_alone(name: str) -> None:
    assert "{x} [PROMPT] \\boxed{}%s" in render(name, "{x} [PROMPT] \\boxed{}%s")


def test_an_unknown_prompt_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'tir'.*cot_base.*tir_base_0309"):
        render("tir", "Q")
