"""Whether two answers that were read are equal under a policy, part by part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from torl.grading.expressions import Items, Matrix, Node, Num, Op, Rel, Sym, Unit, UnreadError, Words
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
from torl.grading.plusminus import both_signs
from torl.grading.regions import is_condition, is_name, region, same_region, shift_to_zero
from torl.grading.rules import Policy, Rule
from torl.grading.scalars import as_decimal, in_radians, is_scalar, plain, rounds_to, same_value, scaled
from torl.grading.units import measure_of
from torl.grading.values import MP, POINTS, close, evaluate, number, point, real

MOST_PARTS = 64
ROUNDED_GOLD_PLACES = 2  # a gold decimal of fewer places is taken as exact
CUT_OFF_GOLD_PLACES = 3
ROUNDED_ANSWER_PLACES = 6
UNORDERED = ("list", "or", "set")
SMALLEST_DIFFERENCE = 1e-20  # of the sides of a relation at a point where they should differ
HUNDREDTH = Fraction(1, 100)
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(kw_only=True)
class Comparison:
    """One comparison; ``used`` are the rules that were needed, in order."""

    policy: Policy
    tolerance: float | None = None
    """The largest difference of an answer from a gold number that is still equal; None asks for the rules' own."""
    used: list[Rule] = field(default_factory=list)

    def same(self, gold: Node, answer: Node) -> bool:
        """Whether ``answer`` equals ``gold``.

        Raises:
            UnreadError: a part has no value that could be compared.
        """
        if gold == answer:
            return True
        for compare in COMPARISONS:
            verdict = compare(self, gold, answer)
            if verdict is not None:
                return verdict
        return False

    def tried(self, comparison: Callable[[], bool | None]) -> bool | None:
        """The outcome of ``comparison``; rules that it used count only where it succeeds."""
        mark = len(self.used)
        verdict = comparison()
        if not verdict:
            del self.used[mark:]
        return verdict

    def needs(self, rule: Rule, comparison: Callable[[], bool | None]) -> bool | None:
        """The outcome of ``comparison`` where ``rule`` is on; False where it is off."""
        if not self.policy.allows(rule):
            return False
        verdict = self.tried(comparison)
        if verdict:
            self.used.append(rule)
        return verdict

    def in_order(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        """Whether there are as many answers and each equals the gold in its place."""
        return len(golds) == len(answers) and all(map(self.same, golds, answers))

    def matched(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        """Whether each gold has an answer of its own, in any order."""
        if len(golds) != len(answers) or len(golds) > MOST_PARTS:
            return False
        if self.tried(lambda: self.in_order(golds, answers)):
            return True
        equal = [[bool(self.tried(lambda g=g, a=a: self.same(g, a))) for a in answers] for g in golds]
        if not self.policy.allows(Rule.ORDER) or not perfect_matching(equal):
            return False
        self.used.append(Rule.ORDER)
        return True


def perfect_matching(equal: list[list[bool]]) -> bool:
    """Whether every row can have a column of its own that holds True (augmenting paths)."""
    owner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column, possible in enumerate(equal[row]):
            if possible and column not in seen:
                seen.add(column)
                if column not in owner or place(owner[column], seen):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(equal)))


def _words(self: Comparison, gold: Node, answer: Node) -> bool | None:
    if isinstance(gold, Words) or isinstance(answer, Words):
        return False  # equal ones are equal nodes
    return None


def _plus_minus(self: Comparison, gold: Node, answer: Node) -> bool | None:
    if not (gold.has("pm", "mp") or answer.has("pm", "mp")):
        return None
    return self.needs(
        Rule.PLUS_MINUS,
        lambda: any(self.tried(lambda g=g, a=a: self.same(g, a)) for g in both_signs(gold) for a in both_signs(answer)),
    )


def _domains(self: Comparison, gold: Node, answer: Node) -> bool | None:
    bare = [without_domains(side) for side in (gold, answer)]
    if (bare[0] == gold) == (bare[1] == answer):
        return None
    return self.needs(Rule.DOMAIN, lambda: self.same(*bare))


def _tuple_equations(self: Comparison, gold: Node, answer: Node) -> bool | None:
    """``(x, y) = (1, 2)`` is ``x = 1, y = 2``."""
    spread = [entrywise(side) for side in (gold, answer)]
    if (spread[0] is None) == (spread[1] is None):
        return None
    other = answer if spread[0] else gold
    if not (isinstance(other, Items) and is_named(other)):
        return None
    return self.same(spread[0] or gold, spread[1] or answer)


def _ordering(self: Comparison, gold: Node, answer: Node) -> bool | None:
    for chain, other in ((gold, answer), (answer, gold)):
        if isinstance(chain, Rel) and isinstance(other, Items) and other.kind == "list" and len(chain.args) > 2:
            strict = set(chain.signs) in ({"<"}, {">"})
            return strict and self.needs(Rule.ORDERING, lambda: self.in_order(gold.args, answer.args))
    return None


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


def multiplied(node: Node) -> Node:
    """A matrix with a factor or divisor as the matrix of the products; anything else as it is."""
    if not (isinstance(node, Op) and node.name in ("mul", "div", "neg")):
        return node
    args = [multiplied(part) for part in node.args]
    matrices = [part for part in args if isinstance(part, Matrix)]
    if len(matrices) != 1 or (node.name == "div" and args[0] is not matrices[0]):
        return node

    def entry(value: Node) -> Node:
        return Op(node.name, tuple(value if part is matrices[0] else part for part in args))

    return Matrix(tuple(tuple(map(entry, row)) for row in matrices[0].rows))


def _matrices(self: Comparison, gold: Node, answer: Node) -> bool | None:
    gold, answer = multiplied(gold), multiplied(answer)
    if isinstance(gold, Matrix) and isinstance(answer, Matrix):
        if list(map(len, gold.rows)) != list(map(len, answer.rows)):
            turned = (
                gold.args and 1 in (len(gold.rows), len(gold.rows[0])) and 1 in (len(answer.rows), len(answer.rows[0]))
            )
            return bool(turned) and self.needs(Rule.VECTOR, lambda: self.in_order(gold.args, answer.args))
        return self.in_order(gold.args, answer.args)
    for matrix, other in ((gold, answer), (answer, gold)):
        if isinstance(matrix, Matrix) and isinstance(other, Items) and other.kind not in UNORDERED:
            vector = 1 in (len(matrix.rows), len(matrix.rows[0]))
            return vector and self.needs(Rule.VECTOR, lambda: self.in_order(gold.args, answer.args))
    return False if isinstance(gold, Matrix) or isinstance(answer, Matrix) else None


def _items(self: Comparison, gold: Node, answer: Node) -> bool | None:
    if not (isinstance(gold, Items) and isinstance(answer, Items)):
        return _single(self, gold, answer)
    if gold.kind in UNORDERED and answer.kind in UNORDERED:
        return self.matched(gold.args, answer.args)
    if gold.kind in UNORDERED or answer.kind in UNORDERED:
        kinds = {gold.kind, answer.kind}
        tuples = kinds == {"list", "()"} and not (_may_be_interval(gold) or _may_be_interval(answer))
        return tuples and self.needs(Rule.BRACKETS, lambda: self.in_order(gold.args, answer.args))
    return _tuples(self, gold, answer)


def _may_be_interval(node: Items) -> bool:
    """Whether a pair in round brackets rises, as the ends of an interval do."""
    if node.kind != "()" or len(node.args) != 2 or any(not is_scalar(part) or part.symbols for part in node.args):
        return False
    low, high = (number(evaluate(part, {})) for part in node.args)
    return bool(real(low) and real(high) and low.real < high.real)


def _single(self: Comparison, gold: Node, answer: Node) -> bool | None:
    """A set of one is its element; any other list is no single value."""
    for side in (gold, answer):
        if isinstance(side, Items):
            if side.kind == "set" and len(side.args) == 1:
                pair = (side.args[0], answer) if side is gold else (gold, side.args[0])
                return self.same(*pair)
            return False
    return None


def _tuples(self: Comparison, gold: Items, answer: Items) -> bool:
    kinds = {kind.replace(r"\langle\rangle", "()") for kind in (gold.kind, answer.kind)}
    if len(kinds) == 1:
        return self.in_order(gold.args, answer.args)
    # with two entries the brackets say which ends an interval has
    long = len(gold.args) > 2 and kinds == {"()", "[]"}
    return long and bool(self.needs(Rule.VECTOR, lambda: self.in_order(gold.args, answer.args)))


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


def _units(self: Comparison, gold: Node, answer: Node) -> bool | None:
    if isinstance(gold, Unit) and isinstance(answer, Unit):
        first, second = measure_of(gold.unit), measure_of(answer.unit)
        if first.kind != second.kind:
            return False
        return self.same(scaled(gold.value, first.factor / second.factor), answer.value)
    if isinstance(gold, Unit) or isinstance(answer, Unit):
        if any(isinstance(side, Op) and side.name in ("percent", "degree", "ratio") for side in (gold, answer)):
            return False
        pair = [side.value if isinstance(side, Unit) else side for side in (gold, answer)]
        return self.needs(Rule.UNITS, lambda: self.same(*pair))
    return None


def _percent(self: Comparison, gold: Node, answer: Node) -> bool | None:
    signs = [isinstance(side, Op) and side.name == "percent" for side in (gold, answer)]
    if signs[0] == signs[1]:
        return self.same(gold.args[0], answer.args[0]) if signs[0] else None
    if any(isinstance(side, Op) and side.name in ("ratio", "degree") for side in (gold, answer)):
        return False
    golds, answers = (
        (plain(side), scaled(plain(side), HUNDREDTH)) if sign else (side,)
        for sign, side in zip(signs, (gold, answer), strict=True)
    )
    return self.needs(
        Rule.PERCENT,
        lambda: any(self.tried(lambda g=g, a=a: self.same(g, a)) for g in golds for a in answers),
    )


def _degrees(self: Comparison, gold: Node, answer: Node) -> bool | None:
    signs = [side.has("degree") for side in (gold, answer)]
    pis = [any(getattr(part, "name", None) == "pi" for part in side.walk()) for side in (gold, answer)]
    if signs[0] == signs[1] or signs != [not pi for pi in pis]:
        return None
    return self.needs(Rule.DEGREES, lambda: self.same(in_radians(gold), in_radians(answer)))


def _ratios(self: Comparison, gold: Node, answer: Node) -> bool | None:
    signs = [side.args if isinstance(side, Op) and side.name == "ratio" else () for side in (gold, answer)]
    if signs == [(), ()]:
        return None
    if any(part == Num(Fraction(0)) for parts in signs for part in parts[1:]):
        return False  # a time of day, known by its spelling alone
    if max(map(len, signs)) <= 2:
        pair = [Op("div", side.args) if parts else side for parts, side in zip(signs, (gold, answer), strict=True)]
        return self.needs(Rule.RATIO, lambda: self.same(*pair))
    if len(signs[0]) != len(signs[1]):
        return False
    first, second = ([Op("div", (part, parts[0])) for part in parts] for parts in signs)
    return self.needs(Rule.RATIO, lambda: self.in_order(first, second))


def _repeated(self: Comparison, gold: Node, answer: Node) -> bool | None:
    """Sums and products over an index, limit by limit and term by term."""
    if isinstance(gold, Op) and isinstance(answer, Op) and gold.name == answer.name and gold.name in ("sum", "prod"):
        return self.in_order(gold.args, answer.args) or None
    return None


def _scalars(self: Comparison, gold: Node, answer: Node) -> bool | None:
    scalars = [is_scalar(side) for side in (gold, answer)]
    if scalars != [True, True]:
        if any(scalars):
            return False
        raise UnreadError("parts that cannot be compared")
    equal = same_value(gold, answer)
    if equal:
        return True
    if equal is None:
        return self.needs(Rule.COMMON_DOMAIN, lambda: True)
    return _rounded(self, plain(gold), plain(answer))


def _rounded(self: Comparison, gold: Node, answer: Node) -> bool:
    if gold.symbols or answer.symbols:
        return False
    if self.tolerance is not None:
        difference = number(evaluate(Op("sub", (gold, answer)), {}))
        return bool(abs(difference) <= MP.mpf(str(self.tolerance)))
    if decimal := as_decimal(gold):
        for rule, cut, places in (
            (Rule.ROUNDED_GOLD, False, ROUNDED_GOLD_PLACES),
            (Rule.CUT_OFF_GOLD, True, CUT_OFF_GOLD_PLACES),
        ):
            if self.needs(rule, lambda c=cut, p=places: rounds_to(answer, decimal, cut=c, least_places=p)):
                return True
    if decimal := as_decimal(answer):
        return bool(
            self.needs(Rule.ROUNDED_ANSWER, lambda: rounds_to(gold, decimal, least_places=ROUNDED_ANSWER_PLACES))
        )
    return False


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


PERIOD_NAMES = frozenset("klmn")


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


def _argument_of_named_function(node: Node) -> str | None:
    if isinstance(node, Rel) and isinstance(node.args[0], Op) and is_name(node.args[0]) and len(node.args[0].args) == 2:
        return node.args[0].args[1].name
    return None


COMPARISONS: tuple[Callable[[Comparison, Node, Node], bool | None], ...] = (
    _words,
    _plus_minus,
    _domains,
    _chained,
    _tuple_equations,
    _named,
    _ordering,
    _regions,
    _matrices,
    _items,
    _relations,
    _units,
    _percent,
    _degrees,
    _ratios,
    _repeated,
    _scalars,
)
