"""What the filter asks of the grader: whether an answer has a value, and whether two answers are equal.

The grader asked is the one of the reward, so that what the filter keeps is what the reward can judge. An answer on
which it hangs (``\\binom{99999999}{4999999}`` keeps an integer product busy in C) costs one deadline and counts as not
parsed.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, Self

from torl.grading import Grader

TIMEOUT_S = 5.0
"""Seconds for one answer; the slowest of 30,000 real ones that parse takes about half a second."""

KNOWN_ANSWERS = 200_000
"""Verdicts on answers that are remembered, a few tens of MB."""

_RELATIONS = {
    "leqslant": "leq",
    "geqslant": "geq",
    "leq": "le",
    "geq": "ge",
    "neq": "ne",
    "le": "leq",
    "ge": "geq",
    "ne": "neq",
}
_GROUPED_NUMBER = re.compile(r"[^\d,(\[{]*\d{1,3}(?:,(?:\\!)?\d{3})+[^\d,]*")
_UPRIGHT = re.compile(r"\\(?:text|math|mbox|\()")
"""Groups inside which brackets do not grow."""
_OTHER_SPELLINGS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\([dt]?)frac(?![a-zA-Z])"), lambda found: "\\frac" if found[1] else "\\dfrac"),
    (re.compile(rf"\\({'|'.join(_RELATIONS)})(?![a-zA-Z])"), lambda found: "\\" + _RELATIONS[found[1]]),
    (re.compile(r"\\sqrt\s*(\d)"), lambda found: f"\\sqrt{{{found[1]}}}"),
    (
        re.compile(r"([\^_])(?:\{(\w)\}(?!\w)|((?<=\^)\d+|\w(?!\d)))"),
        lambda found: found[1] + (found[2] or f"{{{found[3]}}}"),
    ),
    (re.compile(r"\^\\circ(?![a-zA-Z])"), lambda found: "^{\\circ}"),
    (re.compile(r"(?<![\d.])\.(?=\d)"), lambda found: "0."),
    (re.compile(r"(?<=\d)\s*\\text\s*\{\s*(?!or\b|and\b)([a-z]+)\s*\}"), lambda found: f"\\,\\mathrm{{{found[1]}}}"),
    (re.compile(r"\A\s*\\text\s*\{([^{}\\]*)\}\s*\Z"), lambda found: found[1].strip()),
    (re.compile(r"(?<=[\w)}])\s*([+=])\s*(?=[\w(\\])"), lambda found: f" {found[1]} "),
)
"""What other writers put in place of what, all of the same value."""
_PLAIN_NUMBER = re.compile(
    r"(?:[-+0-9.,:/\s(){}^]|\\(?:[dt]?frac|sqrt|pi|cdot|times|left|right|circ|infty)(?![a-zA-Z])|\\[,!])*"
)
_DIGIT = re.compile(r"\d")
_NOT_SURE = re.compile(r"\^.*\^|\^\{?\d{5,}|\.\.|\d,(?:\\!)?\d{3}\D|(?:left|right)\s*\.|^\W*\w\W*\.$")
"""Long powers may be slow; at dots and at thousands inside an expression math-verify gives up."""

_SIMPLE_TOKEN = (
    r"\s+|\\[,;!:{}]|\d+(?:\.\d+)?|[a-zA-Z](?![a-zA-Z])|[-+*/^(){}\[\],<>]|\\begin\{pmatrix\}|\\end\{pmatrix\}|\\\\|&"
    r"|\\text\s*\{\s*(?:or|and)\s*\}|\\(?:[dt]?frac|sqrt|pi|cdot|left|right|circ|infty|cup|alpha|beta|theta|lambda|omega|phi"
    r"|sin|cos|tan|cot|ln|log|leq?|geq?|leqslant|geqslant)(?![a-zA-Z])"
)
_UNIT = r"(?:\\?%|\s*\\(?:text|mbox)\s*\{\s*(?:cm|km|m|ft|mph|[a-z]{3,})(?: [a-z]{3,})*\s*\})?"
_SIMPLE_VALUE = re.compile(rf"(?:\\?\$)?(?:[a-zA-Z]\s*=\s*)?(?:{_SIMPLE_TOKEN})+{_UNIT}")
_NOT_SIMPLE = re.compile(
    r"\d,(?:\\!)?\d{3}(?:\D|$)|\^.*\^.*\^|\^\s*\{[^{}]*\^|\^\{?\d{4,}|\^\s*(?:\\text|$)|\\(?:sin|cos|tan|cot|ln|log)\s*\^"
    r"|[*^/+-]\s*[*/]|(?<![a-zA-Z\\])[mshgNV](?![a-zA-Z])|(?<![a-z\\])e(?![a-z])|^\W*[a-z]\s*[).]|(?<![rd ])\}\s+\d"
    r"|[{\[(]\s*[,)\]}]|(?<!\\)\{[^{}]*,|(?:[a-z] *\+ *){2}[a-z]$|\+ *[a-z] *\+ *[a-z]"
    r"|^\s*[<>]|=.*(?:[<>]|\\[lg]e)|(?:\\cup|\\frac).*(?:[<>]|\\[lg]e).*(?:[<>]|\\[lg]e)|\\;.*\\;"
)
"""Letters that are units or constants too, lists between braces, and what else math-verify gives up on in real answers."""


class AnswerGrader(Protocol):
    """What the filter asks of a grader."""

    def parse(self, answers: Sequence[str]) -> list[bool]:
        """Whether the grader finds a mathematical value in each of ``answers``."""

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether the grader takes the two answers of each pair for equal."""


def is_plain_number(answer: str) -> bool:
    """Whether ``answer`` holds only digits, arithmetic, roots and pi with closed braces: parsed at once, never slow."""
    plain = _PLAIN_NUMBER.fullmatch(answer) and _DIGIT.search(answer) and not _NOT_SURE.search(answer)
    return bool(plain) and answer.count("{") == answer.count("}")


def is_simple_value(answer: str) -> bool:
    """Whether ``answer`` is of a form that was parsed in thousands of real answers: an expression, interval, set, column,
    inequality or a number with its unit, of short powers and few signs. Asking the grader costs 20 ms an answer.
    """
    simple = _SIMPLE_VALUE.fullmatch(answer) and re.search(r"\d|[a-z]", answer) and not _NOT_SIMPLE.search(answer)
    return bool(simple) and answer.count("{") == answer.count("}")


class AnswerJudge:
    """Says which answers the grader cannot use, asking it once about each."""

    def __init__(self, grader: AnswerGrader) -> None:
        self._grader = grader
        self._known: dict[str, str | None] = {}

    def unusable(self, answers: Iterable[str]) -> dict[str, str]:
        """Why each answer that is no good is so: without a value, or not equal to itself in another spelling.

        Answers of plain and simple forms are good without asking.
        """
        asked = {answer for answer in answers if not (is_plain_number(answer) or is_simple_value(answer))}
        unknown = sorted(asked - self._known.keys())
        if len(self._known) + len(unknown) > KNOWN_ANSWERS:
            self._known.clear()
            unknown = sorted(asked)
        readable = self._grader.parse(unknown)
        parsed = [answer for answer, good in zip(unknown, readable, strict=True) if good]
        equal = self._grader.same([(answer, respelled(answer)) for answer in parsed])
        self._known |= dict.fromkeys(parsed)
        for answer in set(unknown) - set(parsed):
            self._known[answer] = f"no value in {answer[:80]!r}"
        for answer, good in zip(parsed, equal, strict=True):
            if not good:
                self._known[answer] = f"{answer[:80]!r} is not equal to {respelled(answer)[:80]!r}"
        return {answer: detail for answer in asked if (detail := self._known[answer]) is not None}


def respelled(answer: str) -> str:
    r"""``answer`` as another writer would put it, of the same value: fractions, relations, roots, exponents, units, words,
    digits in groups and brackets in their other spelling, wider blanks, in dollars.
    """
    if _GROUPED_NUMBER.fullmatch(answer):
        answer = answer.replace("\\!", "").replace(",", "")
    for pattern, other in _OTHER_SPELLINGS:
        answer = pattern.sub(other, answer)
    answer = _other_brackets(answer)
    return answer if "$" in answer else f"$ {answer} $"


def _other_brackets(answer: str) -> str:
    """Brackets that grow where they do not, and the other way round."""
    if "\\left" in answer or "\\right" in answer:
        return re.sub(r"\\(?:left|right)(?=\s*(?:[()\[\]|]|\\[{}|]))", "", answer)
    if answer.count("(") != answer.count(")") or _UPRIGHT.search(answer):
        return answer
    return answer.replace("(", "\\left( ").replace(")", " \\right)")


class KillableGrader:
    """An ``AnswerGrader`` over ``torl.grading``, whose processes live until the ``with`` block ends.

    Raises:
        GraderError: from the first question that needs a process, when none can be started.
    """

    def __init__(self, *, workers: int = 1, timeout_s: float = TIMEOUT_S) -> None:
        self._grader = Grader(workers=workers, deadline_s=timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._grader.close()

    def parse(self, answers: Sequence[str]) -> list[bool]:
        """See ``AnswerGrader``; an answer on which the grader hangs or dies gives ``False``."""
        return [readable is True for readable in self._grader.readable_many(answers)]

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """See ``AnswerGrader``, whichever of the two is the gold; a pair on which the grader hangs or dies gives ``False``."""
        turned = [(second, first) for first, second in pairs]
        grades = self._grader.grade_many([*pairs, *turned])
        return [True in (one.correct, other.correct) for one, other in zip(grades, grades[len(pairs) :], strict=False)]
