r"""The text that a base model completes, by name.

``tir_base_0309`` is the released training prompt, byte for byte (its "problem above" stands above the problem in the release too).
The release has no prompt for the run without tools: ``cot_base`` keeps the frame and asks for reasoning in place of programs.

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

PROMPTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "tir_base_0309": (f"{FRAME}\nUser: {USE_PROGRAMS}\n", "\nAssistant:\n"),
        "tir_base_0307": (f"{FRAME}{THINK}{USE_PROGRAMS}\n", "\nAssistant:\n"),
        "cot_base": (f"{FRAME}\nUser: {USE_STEPS}\n", "\nAssistant:\n"),
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
