"""Steps for single values: units, percentages, degrees, ratios, repeated operations, rounding."""

from fractions import Fraction

from torl.grading.comparison import Comparison
from torl.grading.expressions import Node, Num, Op, Unit, UnreadError
from torl.grading.rules import Rule
from torl.grading.scalars import as_decimal, in_radians, is_scalar, plain, rounds_to, same_value, scaled
from torl.grading.units import measure_of
from torl.grading.values import MP, evaluate, number

ROUNDED_GOLD_PLACES = (
    2  # a gold decimal of fewer places is taken as exact  # a gold decimal of fewer places is taken as exact
)
CUT_OFF_GOLD_PLACES = 3
ROUNDED_ANSWER_PLACES = 6
HUNDREDTH = Fraction(1, 100)


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


STEPS = (_units, _percent, _degrees, _ratios, _repeated, _scalars)
