r"""The text that a model completes, by name; the problem is put in as it is.

``tir_base_0309`` is the released training prompt, byte for byte (its "problem above" stands above the problem in the release
too), and ``tir_base_0307`` the release's other one. The release has no prompt for the run without tools: ``cot_base`` keeps
the frame of ``tir_base_0309`` and asks for reasoning in steps in place of programs, in the words of the system turn that the
release's data carries. ``retool_base`` is the same frame for the protocol ``retool``.

``qwen_cot`` and ``qwen_tir`` are for the instruction-tuned baselines (Qwen2.5-Math-Instruct): their chat format written out,
with the system turns that Qwen publishes. The tokenizer of such a model reads the turn marks in them as its special tokens.

Differs from ToRL: the system turn of the data is never read; a placeholder inside the problem's own text is left alone.
"""

from collections.abc import Mapping
from types import MappingProxyType

from torl.errors import ConfigError

FRAME = "A conversation between User and Assistant. The user asks a question, and the Assistant solves it."
THINK = " The assistant first thinks about the reasoning process in the mind and then provides the user with the answer. User: "
USE_PROGRAMS = (
    "Please integrate natural language reasoning with programs to solve the problem above, "
    "and put your final answer within \\boxed{}."
)
USE_STEPS = "Please reason step by step, and put your final answer within \\boxed{}."
USE_TAGS = (
    "Please reason step by step. Python code between <code> and </code> is run, and its output follows between <interpreter> and "
    "</interpreter>. Put your final answer within \\boxed{}."
)
CHAT_ASKS, CHAT_ANSWERS = "<|im_end|>\n<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"

PROMPTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "tir_base_0309": (f"{FRAME}\nUser: {USE_PROGRAMS}\n", "\nAssistant:\n"),
        "tir_base_0307": (f"{FRAME}{THINK}{USE_PROGRAMS}\n", "\nAssistant:\n"),
        "cot_base": (f"{FRAME}\nUser: {USE_STEPS}\n", "\nAssistant:\n"),
        "retool_base": (f"{FRAME}\nUser: {USE_TAGS}\n", "\nAssistant:\n"),
        "qwen_cot": (f"<|im_start|>system\n{USE_STEPS}{CHAT_ASKS}", CHAT_ANSWERS),
        "qwen_tir": (f"<|im_start|>system\n{USE_PROGRAMS}{CHAT_ASKS}", CHAT_ANSWERS),
    }
)
"""Name -> what stands before and after the problem."""


def render(name: str, problem: str) -> str:
    """The whole prompt for ``problem``.

    Raises:
        ConfigError: there is no prompt of that name.
    """
    if name not in PROMPTS:
        raise ConfigError(f"rollout.prompt is {name!r}; choose one of {', '.join(sorted(PROMPTS))}.")
    before, after = PROMPTS[name]
    return f"{before}{problem}{after}"
