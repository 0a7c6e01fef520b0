r"""The slow way: computer algebra by math-verify, for what ``torl.grading.comparison`` does not read.

Only for processes that can be killed: neither parsing nor comparing has a time limit here.
"""

import re
from itertools import accumulate

from torl.grading.equality import Verdict
from torl.grading.parser import DEEPEST
from torl.grading.spelling import DOTS, LOST_BACKSLASH, plain

DELIMITED = re.compile(r"\$|\\\(|\\\[|\\boxed")
WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{3,}")
TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mbox)\s*\{[^{}]*[A-Za-z]{2}")  # it may say "more" or "million"
NAMES = re.compile(r"\\(?:operatorname|begin|end)\s*\{[A-Za-z*]*\}")


def compare(gold: str, answer: str) -> Verdict:
    """Whether ``answer`` equals ``gold`` where both are read as LaTeX; else they are different texts."""
    from math_verify import verify

    left, right = _parse(gold), _parse(answer)
    if not (_is_read(left) and _is_read(right)):
        return Verdict(correct=False, rule="text")
    return Verdict(correct=bool(verify(left, right, timeout_seconds=None)), rule="algebra")


def reads(answer: str) -> bool:
    """Whether math-verify finds a value in the whole of ``answer``, not only a number somewhere in it."""
    return _is_read(_parse(answer))


def _parse(answer: str) -> list:
    """What math-verify reads as LaTeX; nothing in prose, nor in what goes on after dots."""
    from math_verify import LatexExtractionConfig, parse

    if _is_prose(answer) or DOTS.search(answer) or LOST_BACKSLASH.search(answer) or _depth(answer) > DEEPEST:
        return []
    text = answer if DELIMITED.search(answer) else f"${plain(answer)}$"
    return parse(text, extraction_config=[LatexExtractionConfig()], parsing_timeout=None)


def _depth(answer: str) -> int:
    """How many brackets stand within each other."""
    return max(accumulate((sign in "([{") - (sign in ")]}") for sign in answer), default=0)


def _is_prose(answer: str) -> bool:
    """Whether there are words outside the names of commands."""
    return bool(TEXT.search(answer) or WORD.search(NAMES.sub(" ", answer)))


def _is_read(parsed: list) -> bool:
    return bool(parsed) and not isinstance(parsed[0], str)
