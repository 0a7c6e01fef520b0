r"""The final answer of a response: the last complete ``\boxed{...}`` (or ``\fbox{...}``) outside code and tool output.

Braces may be nested to any depth; an unfinished box, a box without braces and an empty box are no answer.

Differs from ToRL: a box in a code block, in a comment or printed by the tool does not count (the release takes the last
one anywhere), and there is no limit on nesting (the release stops at three levels).
"""

import re

from torl.problems.text import group_end

CODE_OPEN = "```python"
OUTPUT_OPEN = "```output"
FENCE = "```"
BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)")


def extract_answer(model_text: str) -> str | None:
    """The answer in what the model itself wrote (``Trajectory.model_text``); None when there is none."""
    prose = without_blocks(model_text)
    for box in reversed(list(BOX.finditer(prose))):
        end = group_end(prose, box.end())
        if end is not None:
            return prose[box.end() + 1 : end - 1].strip() or None
    return None


def without_blocks(text: str) -> str:
    """``text`` without fenced code and without fenced tool output that the model made up.

    A marker that only asked for execution stands in the text without its observation, hence without a closing fence of
    its own; what follows it is prose.
    """
    prose: list[str] = []
    code = False
    output: list[str] | None = None
    for line in text.split("\n"):
        bare = line.strip()
        if bare.endswith(CODE_OPEN):
            prose += output or []
            prose.append(line.removesuffix(CODE_OPEN))
            code, output = True, None
        elif code and not bare.startswith(FENCE):
            continue
        elif bare.startswith(OUTPUT_OPEN):
            rest = bare.removeprefix(OUTPUT_OPEN)
            prose += [*(output or []), rest]
            code, output = False, None if rest else []
        elif bare.startswith(FENCE):
            code, output = False, None
        elif output is not None:
            output.append(line)
        else:
            prose.append(line)
    return "\n".join(prose + (output or []))
