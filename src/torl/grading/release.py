r"""The grader of the release, for reporting its rate beside the sound one and for training as the release did.

Evidence: the release reads answers without delimiters, so that math-verify takes a number out of ``8\pi`` or of ``1,3``;
passes the answer where the gold belongs; takes the last box of the whole response, be it code or tool output; and allows
three levels of braces. Its time-outs are declared and never used: only a process that can be killed makes it safe.

Differs from ToRL: boxes are found in linear time, and not by a regular expression that a run of braces keeps busy; where
math-verify raises, the release compares stripped strings, while math-verify 0.9 does not raise.
"""

import re

BOX = "\\boxed{"
NESTING = 3  # levels of braces inside a box
DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"))
REPLACED = (
    ("an ", ""), (".$", "$"), (r"\$", ""), (r"\ ", ""), (" ", ""), ("mbox", "text"), (r",\text{and}", ","),
    (r"\text{and}", ","), (r"\text{m}", r"\text{}"), (r"\left", ""), (r"\right", ""), ("∶", ":"), ("，", ","), ("$", ""),
    (r"\approx", "="), (r"\simeq", "="), (r"\sim", "="), (r"^{\prime}", "'"), (r"^\prime", "'"), (r"\dfrac", r"\frac"),
    (r"\tfrac", r"\frac"), (r"^\circ", ""), ("%", ""), ("√", r"\sqrt"), ("∞", r"\infty"), ("∪", r"\cup"),
)  # fmt: skip
DELETED = (
    "square", "ways", "integers", "dollars", "mph", "inches", "hours", "km", "units", r"\ldots", "sue", "points", "feet",
    "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
    "childrentickets", "multiples", r"\text{s}", r"\text{.}", "\\text{\ns}", r"\text{}^2", r"\text{}^3", "\\text{\n}",
    r"\text{}", r"\mathrm{th}", r"^\circ", r"^{\circ}", r"\;", r",\!", "{,}", '"', r"\dots",
)  # fmt: skip
UNWRAPPED = (
    (re.compile(r"^(?:.*?)(\$)(.*?)(\$)(?:.*)$", re.DOTALL), r"$\2$"),
    (re.compile(r"\\text\{(.*?)\}"), r"\1"),
    (re.compile(r"\\textbf\{(.*?)\}"), r"\1"),
    (re.compile(r"\\overline\{(.*?)\}"), r"\1"),
    (re.compile(r"\\boxed\{(.*)\}"), r"\1"),
    (re.compile(r"frac([^{])(.)"), r"frac{\1}{\2}"),
    (re.compile(r"sqrt([^{])"), r"sqrt{\1}"),
)


def release_answer(text: str) -> str | None:
    """The answer that the release finds in a whole response, observations included; None where it finds none."""
    answer, position = None, 0
    while (start := text.find(BOX, position)) >= 0:
        start = position = start + len(BOX)
        end = _box_end(text, start)
        if end is not None:
            answer, position = text[start:end], end
    return answer


def _box_end(text: str, start: int) -> int | None:
    """Where the brace that was opened before ``start`` is closed; None where it is not, or nests too deep."""
    depth, position = 0, start
    while position < len(text):
        if text.startswith(("\\{", "\\}"), position):
            position += 1
        elif text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
        if depth < 0:
            return position
        if depth > NESTING:
            return None
        position += 1
    return None


def release_equal(gold: str, answer: str) -> bool:
    """Whether the release takes the two for equal. May take for ever: use a ``Grader``."""
    if gold.strip().lower() == answer.strip().lower():
        return True
    from math_verify import parse, verify

    left, right = (parse(release_normal(side), parsing_timeout=None) for side in (gold, answer))
    return bool(verify(right, left, timeout_seconds=None))


def release_normal(answer: str) -> str:
    """An answer as the release normalises it, in the order of its steps."""
    answer = answer.strip()
    for opening, closing in DELIMITERS:
        answer = answer.removeprefix(opening).removesuffix(closing)
    for old, new in REPLACED:
        answer = answer.replace(old, new)
    for word in DELETED:
        answer = answer.replace(word, "")
    for pattern, replacement in UNWRAPPED:
        answer = pattern.sub(replacement, answer)
    answer = answer.replace("$", "")
    if answer.replace(",", "").isdigit():
        answer = answer.replace(",", "")
    for opening, closing in DELIMITERS:
        answer = answer.removeprefix(opening).removesuffix(closing)
    return answer.strip()
