"""Whether two single values are equal: numbers, expressions in variables, decimals, percentages, angles."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from torl.grading.expressions import Const, Node, Num, Op, Sym, TooLargeError, Unit, UnreadError
from torl.grading.values import (
    IMAGINARY,
    INTEGERS_ONLY,
    MP,
    POINTS,
    Value,
    close,
    evaluate,
    number,
    point,
    real,
)

FEWEST_POINTS = 3  # at which two expressions must both be real before agreement there alone is enough


@dataclass(frozen=True, kw_only=True)
class Decimal:
    """A number that is written as a decimal, possibly rounded."""

    value: Fraction
    places: int
    """Digits after the point of the mantissa."""
    unit: Fraction
    """What one unit of the last place is worth."""


def is_scalar(node: Node) -> bool:
    """Whether ``node`` consists of values alone."""
    return all(isinstance(part, Num | Sym | Const | Op) for part in node.walk()) and not node.has(
        "cup", "cap", "minus", "builder", "pm", "mp", "base"
    )


def plain(node: Node) -> Node:
    """``node`` without the degree and percent signs around the whole of it."""
    while isinstance(node, Op) and node.name in ("degree", "percent"):
        node = node.args[0]
    return node


def same_value(first: Node, second: Node) -> bool | None:
    """Whether two expressions are equal wherever they have values; None where that needs a smaller domain.

    Raises:
        UnreadError: one of them has no value.
    """
    if first == second:
        return True
    verdict = _same_at_points(first, second, imaginary=False)
    names = first.symbols | second.symbols
    if verdict is False and IMAGINARY in names and "j" not in names:
        return _same_at_points(first, second, imaginary=True)
    return verdict


def _same_at_points(first: Node, second: Node, *, imaginary: bool) -> bool | None:
    names = (first.symbols | second.symbols) - ({IMAGINARY} if imaginary else set())
    integers = first.has(*INTEGERS_ONLY) or second.has(*INTEGERS_ONLY)
    cancelled = first.has("add", "sub") or second.has("add", "sub")
    agreed, real_points, doubtful = 0, 0, False
    for index in range(POINTS if names else 1):
        values = point(names, index, integers=integers)
        if imaginary:
            values[IMAGINARY] = MP.mpc(0, 1)
        pair = _pair(first, second, values)
        if pair is None:
            continue
        equal = close(*pair, cancelled=cancelled)
        agreed += equal
        if equal:
            real_points += real(pair[0])
        elif real(pair[0]) and real(pair[1]):
            return False
        else:
            doubtful = True
    if not agreed:
        if doubtful:
            return False
        raise UnreadError("no value at any point")
    if not doubtful:
        return True
    return None if real_points >= FEWEST_POINTS else False


def _pair(first: Node, second: Node, values: dict[str, Value]) -> tuple[Value, Value] | None:
    """Both values at a point; None where one of them has none."""
    try:
        return evaluate(first, values), evaluate(second, values)
    except TooLargeError:
        raise
    except UnreadError:
        if not values:
            raise
        return None


def as_decimal(node: Node) -> Decimal | None:
    """``node`` as a decimal with a sign and a power of ten, where it is written so; None otherwise."""
    if isinstance(node, Op) and node.name == "neg":
        inner = as_decimal(node.args[0])
        return inner and Decimal(value=-inner.value, places=inner.places, unit=inner.unit)
    if isinstance(node, Unit):
        return as_decimal(node.value)
    if isinstance(node, Num):
        if node.places is None:
            return None
        return Decimal(
            value=node.value, places=node.places, unit=Fraction(10) ** node.exponent / Fraction(10) ** node.places
        )
    if isinstance(node, Op) and node.name == "mul" and (power := _power_of_ten(node.args[1])) is not None:
        inner = as_decimal(node.args[0])
        return inner and Decimal(value=inner.value * power, places=inner.places, unit=inner.unit * power)
    return None


def _power_of_ten(node: Node) -> Fraction | None:
    if not (isinstance(node, Op) and node.name == "pow" and node.args[0] == Num(Fraction(10))) or node.symbols:
        return None
    exponent = evaluate(node.args[1], {})
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent) < 400:
        return Fraction(10) ** int(exponent)
    return None


def rounds_to(exact: Node, decimal: Decimal, *, cut: bool = False, least_places: int) -> bool:
    """Whether ``exact`` is ``decimal`` when rounded, or when cut off, to its places."""
    other = as_decimal(exact)
    if decimal.places < least_places or exact.symbols or (other and other.unit >= decimal.unit):
        return False
    value = evaluate(exact, {})
    if not real(value):
        return False
    if isinstance(value, Fraction):
        difference, unit = value - decimal.value, decimal.unit
    else:
        value, unit = value.real, number(decimal.unit)
        difference = value - number(decimal.value)
    if cut:
        return bool(0 <= difference < unit if decimal.value >= 0 else -unit < difference <= 0)
    half = abs(difference) * 2 - unit
    return bool(half < 0 or (half == 0 and abs(decimal.value) > abs(value)))  # a half is rounded away from zero


def scaled(node: Node, factor: Fraction) -> Node:
    """``node`` times ``factor``; a decimal stays one."""
    if factor == 1:
        return node
    if isinstance(node, Num) and factor == Fraction(1, 100) and node.places is not None:
        return Num(node.value * factor, node.places + 2, node.exponent)
    return Op("mul", (node, Num(factor)))


def turned(node: Node, change: Callable[[Node], Node]) -> Node:
    """``node`` with every operation in it changed, the innermost first."""
    if isinstance(node, Op):
        return change(Op(node.name, tuple(turned(part, change) for part in node.args)))
    return node


def in_radians(node: Node) -> Node:
    """``node`` with degree signs as factors of pi/180."""
    factor = Op("div", (Const("pi"), Num(Fraction(180))))
    return turned(node, lambda op: Op("mul", (op.args[0], factor)) if op.name == "degree" else op)
