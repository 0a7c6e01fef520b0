"""Text of problems and answers in comparable form: keys for equality, words for overlap, the last box of a solution."""

import re
import unicodedata
from fractions import Fraction

INSTRUCTIONS = (
    "Let's think step by step and output the final answer within \\boxed{}.",
    "Please reason step by step, and put your final answer within \\boxed{}.",
)
"""Sentences that prepared data sets append to a problem; the prompt is the workflow's own, so readers cut them off."""

LAYOUT = re.compile(
    r"\\(?:left|right|displaystyle|textstyle|limits|quad|qquad|big|Big|bigg|Bigg)(?![a-zA-Z])|\\[,!;: ()\[\]]|[$~\s]"
)
"""What only places or sizes: blanks, dollars, ``\\left``, thin spaces."""
OTHER_FRACTIONS = re.compile(r"\\[dt]frac(?![a-zA-Z])")
_DRAWING = re.compile(r"\[asy\].*?(?:\[/asy\]|\Z)|```asy\b.*?(?:```|\Z)", re.DOTALL)
_NO_MEANING = re.compile(r"\\?[{}_]|[:;?\"…。，？]|(?<!\d)[.,]|[.,](?!\d)")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_TEXT_GROUP = re.compile(r"\\(?:text|mbox|textnormal|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
_UNITS = re.compile(r"\^\{?\\circ\}?|\\(?:degree|deg)\b|°|\\?%|\\\$")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ASSIGNMENT = re.compile(r"^[a-z](?:_\{?\w\}?)?=(?=[^=]*$)")
_SHORT_FRACTION = re.compile(r"\\frac(\d)(\d)")
_NUMBER = re.compile(r"([+-]?)(\d+(?:\.\d+)?|\.\d+)(?:/(\d+))?")
_NUMBER_FRACTION = re.compile(r"([+-]?)\\frac\{(\d+)\}\{(\d+)\}")


def text_key(text: str) -> str:
    """``text`` without layout; operators, brackets, punctuation and digits all count."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return LAYOUT.sub("", OTHER_FRACTIONS.sub(r"\\frac", text))


def problem_key(text: str) -> str:
    """``text_key`` without braces and punctuation: ``2^{3}`` and ``2^3`` are alike, ``1.5`` and ``15`` are not."""
    return _NO_MEANING.sub("", text_key(text))


def letters_and_digits(text: str) -> str:
    """Only the letters and digits of ``text``, layout commands left out: the exact form for overlap with benchmarks."""
    return _NOT_ALPHANUMERIC.sub("", text_key(text))


def words(text: str) -> list[str]:
    """Runs of letters and digits in lower case, in order."""
    return [word for word in _NOT_ALPHANUMERIC.split(unicodedata.normalize("NFKC", text).casefold()) if word]


def without_instruction(text: str) -> str:
    """``text`` without the answer instruction that a prepared data set put at its end."""
    text = text.strip()
    for instruction in INSTRUCTIONS:
        text = text.removesuffix(instruction).rstrip()
    return text


def group_end(text: str, start: int) -> int | None:
    """Index after the brace that closes the group opened at ``text[start]``; ``None`` when it is never closed."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def drawings(text: str) -> list[str]:
    """The code of the ``[asy]`` drawings of ``text``, also between fences."""
    return _DRAWING.findall(text)


def without_drawings(text: str) -> str:
    """``text`` without the code of its drawings."""
    return _DRAWING.sub(" ", text)


def last_box(text: str) -> str | None:
    r"""Content of the last ``\boxed{...}`` or ``\fbox{...}`` of ``text``, braces balanced; ``None`` without one."""
    for match in reversed(list(re.finditer(r"\\(?:boxed|fbox)\s*(?=[{\s\w])", text))):
        if text[match.end() : match.end() + 1] != "{":
            words = text[match.end() :].split("$")[0].split()
            if not words:
                continue
            return words[0]
        end = group_end(text, match.end())
        if end is not None:
            return text[match.end() + 1 : end - 1].strip()
    return None


def bare_answer(answer: str) -> str:
    r"""``answer`` without delimiters around the whole of it: ``$..$``, ``\(..\)``, ``\[..\]``, ``\boxed{..}``."""
    answer = answer.strip()
    for left, right in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        inner = answer[len(left) : -len(right)]
        if answer.startswith(left) and answer.endswith(right) and left not in inner and inner.strip():
            return bare_answer(inner)
    if re.match(r"\\boxed\s*\{", answer) and group_end(answer, answer.index("{")) == len(answer):
        return bare_answer(answer[answer.index("{") + 1 : -1])
    return answer


def answer_key(answer: str) -> str:
    """``answer`` without spelling: no units, delimiters, layout or leading ``x =``; numbers as reduced fractions."""
    answer = LAYOUT.sub("", OTHER_FRACTIONS.sub(r"\\frac", bare_answer(answer))).rstrip(".").casefold()
    answer = _TEXT_GROUP.sub(lambda match: match[1] if answer.startswith(match[0]) else "", answer)
    answer = _THOUSANDS.sub("", _UNITS.sub("", answer))
    answer = _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", answer)
    answer = _ASSIGNMENT.sub("", answer)
    answer = answer[1:-1] if re.fullmatch(r"\{[^{}]*\}", answer) else answer
    number = _NUMBER.fullmatch(answer)
    if number and number[3] not in {"0"}:
        return str(Fraction(number[1] + number[2]) / int(number[3] or 1))
    fraction = _NUMBER_FRACTION.fullmatch(answer)
    if fraction and int(fraction[3]):
        return str(Fraction(int(fraction[1] + fraction[2]), int(fraction[3])))
    return answer
