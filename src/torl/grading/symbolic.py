r"""The slow rules: computer algebra by math-verify, helped over what it misreads.

Only for processes that can be killed: neither parsing nor comparing has a time limit here.
"""

import re
from collections.abc import Callable, Iterator

from torl.grading.equality import ROUNDED_GOLD_PLACES, Verdict, quick
from torl.grading.numbers import read_number
from torl.grading.text import normal_text, parts_of, words_of
from torl.problems.text import bare_answer

DELIMITED = re.compile(r"\$|\\\(|\\\[|\\boxed")
DEGREES = re.compile(r"\^\s*\{?\s*\\circ\s*\}?|°")
SET_BUILDER = re.compile(
    r"(?:\\left)?\\\{\s*\w(?:\s|\\[,;!])*(?:\\mid|\||:)(?:\s|\\[,;!])*"
    r"(.*?(?:[<>≤≥]|\\[lg](?:e|t|eq|eqslant)(?![a-z])).*?)(?:\\right)?\\\}",
    re.DOTALL,
)
COLUMN = re.compile(r"\\begin\{[bp]matrix\}([^&]*)\\end\{[bp]matrix\}", re.DOTALL)
NAMED = re.compile(r"\s*\\?[A-Za-z](?:_\w|_\{[^{}]*\})?\s*=(?!.*[=<>])", re.DOTALL)
NOT_A_LIST = re.compile(r"\\(?:pm|mp|boxed|begin|cup|cap|[lg](?:e|eq|eqslant|t)(?![a-z]))|[<>≤≥±∪∩]")
TUPLE = re.compile(r"\(.*,.*\)", re.DOTALL)
PERCENT = re.compile(r"(?<=[A-Za-z)}])\s*\\?%$")
FULL_STOP = re.compile(r"(?<!\.)\.$")  # not dots, which say that a decimal goes on
WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{3,}")
MARKUP = re.compile(r"\\[A-Za-z]+\s*\{[A-Za-z\s,.*]*\}")
SPELLINGS = str.maketrans({"$": " ", "°": r"^\circ ", "∞": r"\infty "})
MOST_PARTS = 24


def compare(gold: str, answer: str) -> Verdict:
    """Whether ``answer`` equals ``gold``, by the first rule that applies."""
    for rule in RULES:
        verdict = rule(gold, answer)
        if verdict is not None:
            return verdict
    return _by_algebra(gold, answer)


def reads(answer: str) -> bool:
    """Whether one of the rules finds a value in the whole of ``answer``, not only a number somewhere in it."""
    if any(_is_read(_parse_latex(text)) for text in _readings(answer)):
        return True
    parts = parts_of(answer)
    is_list = 2 <= len(parts) <= MOST_PARTS and not NOT_A_LIST.search(answer)
    return is_list and all(read_number(normal_text(part)) or reads(part) for part in parts)


def _readings(answer: str) -> Iterator[str]:
    """The answer, and what the rules make of it."""
    yield answer
    bare = bare_answer(answer)
    if column := COLUMN.fullmatch(bare):
        yield _as_tuple(column[1])
    if condition := SET_BUILDER.fullmatch(bare):
        yield condition[1]
    if NAMED.match(bare):
        yield NAMED.sub("", bare, count=1)


def _by_list(gold: str, answer: str) -> Verdict | None:
    r"""Two lists of as many parts are equal when their parts are, in any order; ``\pm`` and prose are left to the
    algebra."""
    golds, answers = parts_of(gold), parts_of(answer)
    if not 2 <= len(golds) == len(answers) <= MOST_PARTS or NOT_A_LIST.search(gold + answer):
        return None
    named = [all(NAMED.match(part) for part in parts) for parts in (golds, answers)]
    if named[0] != named[1]:
        golds, answers = ([NAMED.sub("", part) for part in parts] for parts in (golds, answers))
    return Verdict(correct=_matches(golds, answers), rule="list")


def _matches(golds: list[str], answers: list[str]) -> bool:
    """Whether each gold part has an answer part of its own. Equality is taken as transitive, so the first match will
    do."""
    left = list(answers)
    for gold in golds:
        found = next((part for part in left if _same(gold, part)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _same(gold: str, answer: str) -> bool:
    verdict = quick(gold, answer) or compare(gold, answer)
    return verdict.correct


def _by_degrees(gold: str, answer: str) -> Verdict | None:
    r"""``30^\circ`` is ``\pi/6`` where one side has a degree sign and the other has ``\pi`` and none."""
    signs = [bool(DEGREES.search(text)) for text in (gold, answer)]
    pis = [r"\pi" in text or "π" in text for text in (gold, answer)]
    if signs[0] == signs[1] or signs != [not pi for pi in pis]:
        return None
    gold, answer = (DEGREES.sub(r" \\cdot \\frac{\\pi}{180}", text) for text in (gold, answer))
    return Verdict(correct=_by_algebra(gold, answer).correct, rule="degrees_and_radians")


def _by_interval(gold: str, answer: str) -> Verdict | None:
    r"""``\{x | a < x < b\}`` is the condition that it states."""
    conditions = [SET_BUILDER.fullmatch(bare_answer(text)) for text in (gold, answer)]
    if not any(conditions):
        return None
    texts = [match[1] if match else text for match, text in zip(conditions, (gold, answer), strict=True)]
    return Verdict(correct=_by_algebra(*texts).correct, rule="set_by_condition")


def _by_vector(gold: str, answer: str) -> Verdict | None:
    """A column vector is the tuple of its entries where the other side is a tuple."""
    sides = [bare_answer(text) for text in (gold, answer)]
    columns = [COLUMN.fullmatch(side) for side in sides]
    if sum(map(bool, columns)) != 1 or not TUPLE.fullmatch(sides[1 if columns[0] else 0]):
        return None
    texts = [_as_tuple(match[1]) if match else side for match, side in zip(columns, sides, strict=True)]
    return Verdict(correct=_by_algebra(*texts).correct, rule="vector_and_tuple")


def _as_tuple(column: str) -> str:
    return "(" + ",".join(entry.strip() for entry in column.split(r"\\") if entry.strip()) + ")"


def _by_value(gold: str, answer: str) -> Verdict | None:
    """``name = value`` is the value where the other side names nothing."""
    named = [NAMED.match(bare_answer(text)) for text in (gold, answer)]
    if sum(map(bool, named)) != 1 or "=" in (answer if named[0] else gold):
        return None
    values = [NAMED.sub("", bare_answer(text), count=1) for text in (gold, answer)]
    return quick(*values) or compare(*values)


RULES: tuple[Callable[[str, str], Verdict | None], ...] = (_by_vector, _by_interval, _by_degrees, _by_list, _by_value)


def _by_algebra(gold: str, answer: str) -> Verdict:
    from math_verify import verify

    left, right = _parse(gold), _parse(answer)
    if not (_is_read(left) and _is_read(right)):
        return Verdict(correct=_same_words(gold, answer) or verify(left, right, timeout_seconds=None), rule="text")
    if verify(left, right, timeout_seconds=None):
        return Verdict(correct=True, rule="algebra")
    return Verdict(correct=_rounds_to(right, gold), rule="rounded_gold" if _rounds_to(right, gold) else "algebra")


def _parse(answer: str) -> list:
    """Prose as math-verify reads it, else LaTeX; where that fails whatever there is, be it the first number."""
    from math_verify import parse

    value = [] if _is_prose(answer) else _parse_latex(answer)
    return value if _is_read(value) else parse(_delimited(answer), parsing_timeout=None)


def _parse_latex(answer: str) -> list:
    from math_verify import LatexExtractionConfig, parse

    text = answer if _is_prose(answer) else _tidy(answer)
    return parse(_delimited(text), extraction_config=[LatexExtractionConfig()], parsing_timeout=None)


def _is_prose(answer: str) -> bool:
    """Whether there are words outside LaTeX commands and their arguments."""
    return WORD.search(MARKUP.sub(" ", answer)) is not None


def _delimited(answer: str) -> str:
    return answer if DELIMITED.search(answer) else f"${answer}$"


def _tidy(answer: str) -> str:
    """One line without what the LaTeX reader stumbles over: delimiters within the expression, signs of units, a full
    stop."""
    text = " ".join(answer.replace(r"\$", "").translate(SPELLINGS).split())
    return PERCENT.sub("", FULL_STOP.sub("", text))


def _is_read(parsed: list) -> bool:
    return bool(parsed) and not isinstance(parsed[0], str)


def _same_words(gold: str, answer: str) -> bool:
    words = words_of(gold)
    return normal_text(gold).casefold() == normal_text(answer).casefold() or (bool(words) and words == words_of(answer))


def _rounds_to(parsed: list, gold: str) -> bool:
    """Whether an exact answer, rounded, gives the decimal that the gold answer is."""
    number = read_number(normal_text(gold))
    value = parsed[0]
    if number is None or (number.places or 0) < ROUNDED_GOLD_PLACES or not getattr(value, "is_number", False):
        return False
    difference = (value - number.value).evalf()
    return bool(difference.is_real and abs(difference) <= 0.5 * 10.0**-number.places)
