r"""Whether an answer equals the gold answer, and which rules decided.

The same text is equal. Else both answers are read as a whole and compared part by part by value, under the rules of
``torl.grading.rules``. What cannot be read that way is read by math-verify, with delimiters around it and in the order
``verify(gold, answer)``; where either side is not read by that either, the texts decide.

Differs from ToRL: undelimited reading accepts 8 for 8\pi there, and the arguments of verify are swapped.
"""

from dataclasses import dataclass

from torl.grading import by_name, by_parts, by_value
from torl.grading.answers import Reading, answer_text, readings
from torl.grading.by_name import may_rename, renamed
from torl.grading.comparison import Comparison
from torl.grading.expressions import Node, Op, TooLargeError, UnreadError, Words
from torl.grading.rules import Policy, Rule
from torl.grading.scalars import as_decimal, is_scalar
from torl.grading.spelling import CIRCLED, DOTS, LONGEST
from torl.grading.text import normal_text, words_of
from torl.grading.values import POINTS, evaluate, point

QUICK_CHARACTERS = 200  # what is longer may take more than some hundredths of a second
SOUND = Policy()
STEPS = (*by_parts.SIGNS, *by_name.NAMES, *by_parts.PARTS, *by_name.RELATIONS, *by_value.STEPS)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether two answers are equal and the rule that says so."""

    correct: bool
    rule: str
    """``same_text``, ``value``, the rules of ``Rule`` that were needed joined with ``+``, or what else decided."""


def equal(gold: str, answer: str, *, policy: Policy = SOUND, tolerance: float | None = None) -> Verdict:
    """Compare in this process. May take for ever on adversarial input: use a ``Grader`` for a model's answers.

    Args:
        tolerance: the largest difference of numbers that is still equal, where the problem states one (OlympiadBench).
    """
    gold, answer = answer_text(gold), answer_text(answer)
    verdict = by_text(gold, answer) or by_reading(gold, answer, policy, tolerance)
    if verdict is None:
        from torl.grading.symbolic import compare

        verdict = compare(gold, answer)
    return verdict


def quick(gold: str, answer: str, *, policy: Policy = SOUND, tolerance: float | None = None) -> Verdict | None:
    """The verdict on short answers, in bounded time; None where they are long or need math-verify."""
    gold, answer = answer_text(gold), answer_text(answer)
    verdict = by_text(gold, answer)
    if verdict is None and max(len(gold), len(answer)) <= QUICK_CHARACTERS:
        verdict = by_reading(gold, answer, policy, tolerance)
    return verdict


def readable(answer: str) -> bool:
    """Whether ``answer`` can be compared with answers that are spelled otherwise: it has a value, or is nothing but words.

    Any other is compared as text. May take for ever, as ``equal``: ask a ``Grader`` about unknown answers.
    """
    if len(answer) > LONGEST or CIRCLED.search(answer) or DOTS.search(answer):
        return False
    if words_of(answer):
        return True
    try:
        found = readings(answer, Policy(without=frozenset({Rule.SENTENCE})))
    except UnreadError:
        from torl.grading.symbolic import reads

        return reads(answer)
    return any(_has_value(reading.node) for reading in found)


def explain(gold: str, answer: str, *, policy: Policy = SOUND, tolerance: float | None = None) -> str:
    """What each side was read as, the verdict and the rules that decided, as lines of text for a person.

    May take for ever, as ``equal``.
    """
    verdict = equal(gold, answer, policy=policy, tolerance=tolerance)
    lines = [f"{name:8} {text!r}: {_read_as(text, policy)}" for name, text in (("gold", gold), ("answer", answer))]
    lines.append(f"verdict  {'equal' if verdict.correct else 'not equal'} by {verdict.rule}")
    lines += [f"         {rule}: {Rule(rule).sentence}" for rule in verdict.rule.split("+") if rule in set(Rule)]
    return "\n".join(lines)


def by_text(gold: str, answer: str) -> Verdict | None:
    """The verdict where the texts alone decide."""
    left, right = normal_text(gold), normal_text(answer)
    if left == right:
        return Verdict(correct=bool(left), rule="same_text")
    if not left or not right:
        return Verdict(correct=False, rule="empty")
    if len(left) > LONGEST or len(right) > LONGEST:
        return Verdict(correct=False, rule="too_long_to_read")
    if (words := words_of(gold)) and words == words_of(answer):
        return Verdict(correct=True, rule="words")
    return None


def by_reading(gold: str, answer: str, policy: Policy, tolerance: float | None) -> Verdict | None:
    """The verdict on what both sides say; None where one of them is not read or has no value."""
    try:
        golds, answers = readings(gold, policy), readings(answer, policy)
        for left, right in ((left, right) for left in golds for right in answers):
            if _commas_differ(left, right):
                continue
            rules = _rules_needed(left.node, right.node, policy, tolerance)
            if rules is not None:
                return Verdict(correct=True, rule=_joined([*left.rules, *right.rules, *rules]))
    except TooLargeError:
        return Verdict(correct=False, rule="too_large")
    except UnreadError:
        return None
    return Verdict(correct=False, rule=_joined([*golds[0].rules, *answers[0].rules]))


def _commas_differ(left: Reading, right: Reading) -> bool:
    """Whether a comma is read as a decimal point while the other side is no decimal with a point."""
    for one, other in ((left, right), (right, left)):
        if Rule.DECIMAL_COMMA in one.rules and (Rule.DECIMAL_COMMA in other.rules or not as_decimal(other.node)):
            return True
    return False


def _joined(rules: list[Rule]) -> str:
    return "+".join(dict.fromkeys(rules)) or "value"


def _rules_needed(gold: Node, answer: Node, policy: Policy, tolerance: float | None) -> list[Rule] | None:
    """The rules by which two answers are equal; None where they are not."""
    comparison = Comparison(policy=policy, tolerance=tolerance, steps=STEPS)
    if comparison.same(gold, answer):
        return comparison.used
    names = may_rename(gold, answer) if policy.allows(Rule.RENAMED) else None
    if names and comparison.same(gold, renamed(answer, *names)):
        return [*comparison.used, Rule.RENAMED]
    return None


def _has_value(node: Node) -> bool:
    if isinstance(node, Words):
        return False
    if not is_scalar(node) or (isinstance(node, Op) and node.name == "ratio"):
        return bool(node.args) and all(map(_has_value, node.args))
    return any(_has_value_at(node, index, integers) for index in range(POINTS) for integers in (True, False))


def _has_value_at(node: Node, index: int, integers: bool) -> bool:
    try:
        evaluate(node, point(node.symbols, index, integers=integers))
    except UnreadError:
        return False
    return True


def _read_as(answer: str, policy: Policy) -> str:
    try:
        found = readings(answer, policy)
    except UnreadError as error:
        return f"not read ({error})"
    return " or ".join(repr(reading.node) for reading in found)
