"""Steps for values with a name, relations and conditions, and which variable may have another name."""

from torl.grading.comparison import Comparison
from torl.grading.expressions import Items, Node, Op, Rel, Sym
from torl.grading.naming import (
    chain_value,
    entrywise,
    is_named,
    labels,
    names_one_thing,
    solves,
    unnamed,
    without_domains,
)
from torl.grading.regions import TURNED, is_condition, is_name, region, same_region, shift_to_zero
from torl.grading.rules import Rule
from torl.grading.scalars import is_scalar
from torl.grading.values import POINTS, close, evaluate, number, point, real

SMALLEST_DIFFERENCE = 1e-20  # of the sides of a relation at a point where they should differ
PERIOD_NAMES = frozenset("klmn")


def _domains(self: Comparison, gold: Node, answer: Node) -> bool | None:
    bare = [without_domains(side) for side in (gold, answer)]
    if (bare[0] == gold) == (bare[1] == answer):
        return None
    return self.needs(Rule.DOMAIN, lambda: self.same(*bare))


def _chained(self: Comparison, gold: Node, answer: Node) -> bool | None:
    """A chain of equalities is its last value; an approximation is the exact value before the sign."""
    values = [chain_value(side) for side in (gold, answer)]
    if values == [None, None]:
        return None
    if isinstance(gold, Rel) and isinstance(answer, Rel):
        if None in values and len(gold.signs) == len(answer.signs):
            return None
        if not labels(gold) & labels(answer):
            return False
    pair = [value or side for value, side in zip(values, (gold, answer), strict=True)]
    return self.needs(Rule.LAST_OF_CHAIN, lambda: self.same(*pair))


def _tuple_equations(self: Comparison, gold: Node, answer: Node) -> bool | None:
    """``(x, y) = (1, 2)`` is ``x = 1, y = 2``."""
    spread = [entrywise(side) for side in (gold, answer)]
    if (spread[0] is None) == (spread[1] is None):
        return None
    other = answer if spread[0] else gold
    if not (isinstance(other, Items) and is_named(other)):
        return None
    return self.same(spread[0] or gold, spread[1] or answer)


def _named(self: Comparison, gold: Node, answer: Node) -> bool | None:
    """A value that one side alone names, alone or in a list."""
    named = [is_named(side) for side in (gold, answer)]
    if named[0] == named[1]:
        return None
    rel, other = (gold, answer) if named[0] else (answer, gold)
    if isinstance(other, Rel) or is_condition(other):
        return None
    inner = unnamed(rel)

    def compare() -> bool:
        pair = (inner, other) if named[0] else (other, inner)
        if isinstance(inner, Items) and isinstance(other, Items) and not names_one_thing(rel):
            return self.in_order(pair[0].args, pair[1].args)
        return self.same(*pair)

    return self.needs(Rule.NAMED, compare)


def _ordering(self: Comparison, gold: Node, answer: Node) -> bool | None:
    for chain, other in ((gold, answer), (answer, gold)):
        if isinstance(chain, Rel) and isinstance(other, Items) and other.kind == "list" and len(chain.args) > 2:
            strict = set(chain.signs) in ({"<"}, {">"})
            return strict and self.needs(Rule.ORDERING, lambda: self.in_order(gold.args, answer.args))
    return None


def _regions(self: Comparison, gold: Node, answer: Node) -> bool | None:
    if not (is_condition(gold) or is_condition(answer)):
        return None
    names = labels(gold), labels(answer)
    if all(names) and names[0] != names[1]:
        return None
    regions = [region(side) for side in (gold, answer)]
    if None in regions:
        return None
    return self.needs(Rule.INTERVAL, lambda: same_region(*regions))


def _relations(self: Comparison, gold: Node, answer: Node) -> bool | None:
    if not (isinstance(gold, Rel) or isinstance(answer, Rel)):
        return None
    if not (isinstance(gold, Rel) and isinstance(answer, Rel)):
        rel, value = (gold, answer) if isinstance(gold, Rel) else (answer, gold)
        return is_scalar(value) and self.needs(Rule.SOLVED, lambda: solves(value, rel))
    if len(gold.signs) != len(answer.signs):
        return False
    if gold.signs == answer.signs == ("=",) and not (gold.symbols or answer.symbols):
        return False  # two true statements about numbers are not the same statement
    if self.tried(lambda: gold.signs == answer.signs and self.in_order(gold.args, answer.args)):
        return True
    if tuple(TURNED.get(sign, sign) for sign in reversed(gold.signs)) == answer.signs and self.tried(
        lambda: self.in_order(gold.args[::-1], answer.args)
    ):
        return True
    named = all(is_name(side.args[0]) for side in (gold, answer)) and gold.args[0] != answer.args[0]
    if len(gold.signs) > 1 or (named and gold.signs == ("=",)):
        return False
    return self.needs(Rule.EQUATIONS, lambda: proportional(gold, answer))


def proportional(first: Rel, second: Rel) -> bool:
    """Whether left minus right side of two relations differ by a constant factor that leaves the sign its sense.

    Raises:
        UnreadError: a side has no value.
    """
    left, right = shift_to_zero(first), shift_to_zero(second)
    names = left.symbols | right.symbols
    if not names or left.symbols != right.symbols:
        return False
    values = [point(names, index, integers=False) for index in range(POINTS)]
    pairs = [(number(evaluate(left, at)), number(evaluate(right, at))) for at in values]
    if any(min(abs(a), abs(b)) < SMALLEST_DIFFERENCE or not (real(a) and real(b)) for a, b in pairs):
        return False
    (one, other), *_ = pairs = [(a.real, b.real) for a, b in pairs]
    turned = TURNED.get(first.signs[0], first.signs[0]) if one * other < 0 else first.signs[0]
    return turned == second.signs[0] and all(close(a * other, b * one, cancelled=False) for a, b in pairs)


def may_rename(gold: Node, answer: Node) -> tuple[str, str] | None:
    """The one variable of ``answer`` and of ``gold`` that differ in name alone; None where that is not so."""
    golds, answers = (unnamed(without_domains(side)).symbols for side in (gold, answer))
    golds, answers = golds - answers, answers - golds
    if len(golds) != 1 or len(answers) != 1:
        return None
    (old,), (new,) = answers, golds
    periods = {old, new} <= PERIOD_NAMES and all(
        any(getattr(part, "name", None) == "pi" for part in side.walk()) for side in (gold, answer)
    )
    arguments = [_argument_of_named_function(side) for side in (gold, answer)]
    if old.casefold() == new.casefold() or periods or arguments == [new, old]:
        return old, new
    return None


def renamed(node: Node, old: str, new: str) -> Node:
    """``node`` with one variable under another name."""
    if isinstance(node, Sym):
        return Sym(new) if node.name == old else node
    if isinstance(node, Op):
        return Op(node.name, tuple(renamed(part, old, new) for part in node.args))
    if isinstance(node, Items):
        return Items(node.kind, tuple(renamed(part, old, new) for part in node.args))
    if isinstance(node, Rel):
        return Rel(node.signs, tuple(renamed(part, old, new) for part in node.args))
    return node


def _argument_of_named_function(node: Node) -> str | None:
    if isinstance(node, Rel) and isinstance(node.args[0], Op) and is_name(node.args[0]) and len(node.args[0].args) == 2:
        return node.args[0].args[1].name
    return None


NAMES = (_domains, _chained, _tuple_equations, _named, _ordering, _regions)
RELATIONS = (_relations,)
