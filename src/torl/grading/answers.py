r"""Which text of an answer is the answer, and what it says.

An answer from a box is read as a whole. What is not read as a whole may hold boxes or formulas within a sentence: then
the last of them is the answer, or the last number where there is neither.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from torl.grading.commands import read
from torl.grading.expressions import Node, UnreadError
from torl.grading.rules import Policy, Rule
from torl.grading.spelling import CIRCLED, LONGEST, LOST_BACKSLASH, plain, ungrouped
from torl.grading.units import CHANGE_MEANING
from torl.problems.text import bare_answer, group_end

BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)")
BETWEEN_BOXES = re.compile(
    r"(?:\s*[A-Za-z]+\s+and\b)?(?:\s|[,;$.]|\\[,;()\[\] ]|\\q?quad|and|or|[A-Za-z](?:_\w|_\{\w+\})?\s*="
    r"|\\text\s*\{\s*(?:and|or)\s*\})*"
)
FORMULA = r"(?s:\$\$(.+?)\$\$)|\$(.+?)\$|\\\((.+?)\\\)|(?s:\\\[(.+?)\\\])"  # inline ones keep to a line
NUMBER = r"(?<![\w.,])[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:[.,]\d+)?(?:\s*\\?%)?(?!\.?\d)"
VALUE = re.compile(f"{FORMULA}|{NUMBER}")
WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{2,}(?![^\W\d_])")
ANSWER_IS = re.compile(r"(?:final|the) answer (?:is|=)[\s:]*([^\s].*?)(?:\.\s*I hope|\.(?=\s|$)|$)", re.IGNORECASE)
ANSWER_LABEL = re.compile(r"\bfinal answer:\s*(.+)", re.IGNORECASE | re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[^\W\d][.!?])\s+|(?<=[)\]$][.!?])\s+|(?<=\.\$)\s+|(?<=\.\$\$)\s+")
UNIT_BEHIND = re.compile(r"\s+([A-Za-z]{2,})")
MATHEMATICS = re.compile(r"[\\{}^<>_]|[A-Za-z]\s*=")  # more than a sum or product of numbers
COPULA = re.compile(r"\b(?:is|are|equals|est|ist|es)\b|\w\s*:|=")
HARMLESS = ("is", "are", "was", "to", "and", "be", "from", "of", "by", "so", "the", "since", "we", "with", "each", "at")
CHOICE = re.compile(
    r"(?i:\b(?:answer|choice|option|réponse|respuesta|risposta|antwort)|答案)(?i:\W{1,3}[a-zé]+){0,3}?\W{0,3}\b([B-J]|A(?!\s+[a-z]))\b(?!')"
    r"|\b(?:is|it's)\s+\(?([A-J])\)?\W*$"
)
STATEMENTS = re.compile(r"\s*\(\d\)(?:[\s,]*\(\d\))+\s*")  # "(1)(3)" are two statements, no product
RANGE = ("to", "-", "–", "and", "or", "through")  # between two numbers
FEWEST_WORDS = 4  # that make a sentence, unless one says that something is the number
ZERO_FIRST = re.compile(r",\s*0\d")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


def answer_text(answer: str) -> str:
    """``answer``, or what its last boxes hold where it has some."""
    boxes = [(match.start(), match.end(), group_end(answer, match.end())) for match in BOX.finditer(answer)]
    boxes = [box for box in boxes if box[2] is not None]
    if not boxes:
        return bare_answer(answer)
    found, start = [], None
    for begin, content, end in reversed(boxes):
        if start is not None and (end > start or not BETWEEN_BOXES.fullmatch(answer, end, start)):
            break
        found.append(answer[content + 1 : end - 1])
        start = begin
    return bare_answer(", ".join(reversed(found)))


class Reading(NamedTuple):
    """One meaning of an answer."""

    node: Node
    rules: tuple[Rule, ...]
    """The rules that were needed to find it."""


def readings(answer: str, policy: Policy) -> list[Reading]:
    """What an answer may mean.

    Raises:
        UnreadError: nothing.
    """
    text = answer_text(answer)
    if len(text) > LONGEST or LOST_BACKSLASH.search(text):
        raise UnreadError("too long, or its backslashes are lost")
    if CIRCLED.search(text) and policy.allows(Rule.CIRCLED):
        numbers = CIRCLED.sub(lambda match: f"{ord(match[0]) - ord('①') + 1},", text)
        return _as_a_whole(numbers, policy, (Rule.CIRCLED,))
    if STATEMENTS.fullmatch(text):
        if not policy.allows(Rule.CIRCLED):
            raise UnreadError("numbers of statements")
        return _as_a_whole(", ".join(re.findall(r"\d", text)), policy, (Rule.CIRCLED,))
    try:
        return _as_a_whole(text, policy, ())
    except UnreadError:
        inner = last_in_sentence(text) if policy.allows(Rule.SENTENCE) else None
        if inner is None:
            raise
        return _as_a_whole(inner, policy, (Rule.SENTENCE,))


def _as_a_whole(text: str, policy: Policy, rules: tuple[Rule, ...]) -> list[Reading]:
    """The readings of a text that is an answer and nothing else.

    A comma within digits groups them, separates two numbers, or stands for a decimal point.
    """
    once = plain(text)
    if DECIMAL_COMMA.fullmatch(once) and ungrouped(once) == once and policy.allows(Rule.DECIMAL_COMMA):
        pointed = Reading(read(once.replace(",", ".")), (*rules, Rule.DECIMAL_COMMA))
        return [*(Reading(read(spelling), rules) for spelling in _commas(once)), pointed]
    found, failure = [], None
    for spelling in _commas(once):
        try:
            found.append(Reading(read(spelling), rules))
        except UnreadError as error:
            failure = error
    if failure is not None and not found:
        raise failure
    return found


def _commas(text: str) -> Iterable[str]:
    """``text`` with its thousands together, and as it is unless a part would begin with a needless zero."""
    grouped = ungrouped(text)
    return (grouped,) if grouped == text or ZERO_FIRST.search(text) else (grouped, text)


def last_in_sentence(text: str) -> str | None:
    """What a text says that the answer is, else the last formula of its last sentence, else the last number there."""
    if choice := list(CHOICE.finditer(text)):
        return choice[-1][1] or choice[-1][2]
    text = text.split("<|")[0].strip()
    if phrase := list(ANSWER_IS.finditer(text)):
        return phrase[-1][1]
    if phrase := list(ANSWER_LABEL.finditer(text)):
        text = phrase[-1][1].removesuffix(" I hope it is correct.")
    return _last_value(SENTENCE_END.split(text)[-1])


def _last_value(sentence: str) -> str | None:
    """The last formula or number of a sentence; None where words beside it make another value of it ("less than 5")."""
    values = list(VALUE.finditer(sentence))
    if not values:
        return None
    last = values[-1]
    before = sentence[values[-2].end() if len(values) > 1 else 0 : last.start()]
    words = [word.casefold() for word in WORD.findall(f"{before} {sentence[last.end() :]}")]
    if before.strip() in RANGE or CHANGE_MEANING.difference(HARMLESS).intersection(words):
        return None
    formula = next(filter(None, last.groups()), None)
    if formula is not None:
        return formula if words else None
    return _with_unit(last, sentence) if _is_sentence(VALUE.sub(" ", sentence)) else None


def _is_sentence(prose: str) -> bool:
    """Whether what is left of a text without its values is a sentence, and not mathematics."""
    enough = len(WORD.findall(prose)) >= FEWEST_WORDS or COPULA.search(prose)
    return bool(enough) and not MATHEMATICS.search(prose)


def _with_unit(number: re.Match[str], sentence: str) -> str:
    unit = UNIT_BEHIND.match(sentence, number.end())
    return number[0].strip() + (rf" \text{{{unit[1]}}}" if unit else "")
