"""What the filter asks of the grader: whether an answer has a value, and whether two answers are equal.

The grader asked is the one of the reward, so that what the filter keeps is what the reward can judge. An answer on
which it hangs (``\\binom{99999999}{4999999}`` keeps an integer product busy in C) costs one deadline and counts as not
parsed.
"""

import re
from collections.abc import Sequence
from typing import Protocol, Self

from torl.grading import Grader

TIMEOUT_S = 5.0
"""Seconds for one answer; the slowest of 30,000 real ones that parse takes about half a second."""

_PLAIN_NUMBER = re.compile(
    r"(?:[-+0-9.,:/\s(){}^]|\\(?:[dt]?frac|sqrt|pi|cdot|times|left|right|circ|infty)(?![a-zA-Z])|\\[,!])*"
)
_DIGIT = re.compile(r"\d")
_NOT_SURE = re.compile(r"\^.*\^|\^\{?\d{5,}|\.\.|\d,(?:\\!)?\d{3}\D|(?:left|right)\s*\.|^\W*\w\W*\.$")
"""Long powers may be slow; at dots and at thousands inside an expression math-verify gives up."""


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
