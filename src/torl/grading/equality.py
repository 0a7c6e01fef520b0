r"""Whether an answer equals the gold answer, and which rule decided.

The cheap rules come first and need no computer algebra: the same text, plain numbers (compared exactly), lists of plain
numbers, words. What they leave open is read by math-verify with delimiters around it and compared in the order
``verify(gold, answer)``; where either side cannot be read, the texts decide.

Policy, conservative: a decimal is its exact value; an answer may be more exact than a gold answer of at least two
decimal places; "10 %" is 10 or 0.1; degrees are not mixed with radians unless one side has a degree sign and the other
has \pi; the order of a list does not matter, the order of a tuple does.

Differs from ToRL: undelimited reading accepts 8 for 8\pi there, and the arguments of verify are swapped.
"""

import re
from dataclasses import dataclass

from torl.grading.numbers import Number, read_decimal_comma, read_number
from torl.grading.text import normal_text, words_of

ROUNDED_GOLD_PLACES = 2  # a gold decimal of fewer places is taken as exact
ROUNDED_ANSWER_PLACES = 6  # an answer rounded to so many places is taken for the exact gold
DOTS = re.compile(r"\.\.\W*$")  # the decimal goes on, nobody knows how
LONGEST_ANSWER = 10_000  # characters; a longer "answer" is compared as text only


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether two answers are equal and the rule that says so."""

    correct: bool
    rule: str


def equal(gold: str, answer: str) -> Verdict:
    """Compare in this process. May take for ever on adversarial input: use a ``Grader`` for a model's answers."""
    verdict = quick(gold, answer)
    if verdict is None:
        from torl.grading.symbolic import compare

        verdict = compare(gold, answer)
    return verdict


def readable(answer: str) -> bool:
    """Whether ``answer`` has a value, so that it can be compared with answers that are spelled otherwise.

    An answer without one is compared as text. May take for ever, as ``equal``: ask a ``Grader`` about unknown answers.
    """
    text = normal_text(answer)
    if len(text) > LONGEST_ANSWER:
        return False
    if read_number(text):
        return not DOTS.search(answer)
    from torl.grading.symbolic import reads

    return reads(answer)


def quick(gold: str, answer: str) -> Verdict | None:
    """The verdict of the cheap rules; None where they cannot decide."""
    left, right = normal_text(gold), normal_text(answer)
    if left == right:
        return Verdict(correct=bool(left), rule="same_text")
    if len(left) > LONGEST_ANSWER or len(right) > LONGEST_ANSWER:
        return Verdict(correct=False, rule="too_long_to_read")
    first, second = read_number(left), read_number(right)
    if first and second:
        return Verdict(correct=same_number(first, second), rule="numbers")
    if first or second:
        return _decimal_comma(first, second, left, right)
    if (words := words_of(gold)) and words == words_of(answer):
        return Verdict(correct=True, rule="words")
    return None


def same_number(gold: Number, answer: Number) -> bool:
    """Whether two plain numbers are equal under the policy of this module."""
    if gold.value == answer.value:
        return True
    if gold.percent != answer.percent:
        gold, answer = gold.share, answer.share
        if gold.value == answer.value:
            return True
    return answer.rounds_to(gold, least_places=ROUNDED_GOLD_PLACES) or gold.rounds_to(
        answer, least_places=ROUNDED_ANSWER_PLACES
    )


def _decimal_comma(first: Number | None, second: Number | None, left: str, right: str) -> Verdict | None:
    """Accept ``1000,99`` for ``1000.99``; decides nothing else."""
    point, comma = (first, read_decimal_comma(right)) if first else (second, read_decimal_comma(left))
    if point and comma and point.places and point.value == comma.value:
        return Verdict(correct=True, rule="decimal_comma")
    return None
