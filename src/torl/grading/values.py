"""The value of an expression at given values of its variables: exact where it is rational, else to sixty digits.

Bounded work: what would be astronomically large is not computed but unread.
"""

import math
import random
import threading
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce

from mpmath.ctx_mp import MPContext
from mpmath.libmp import NoConvergence

from torl.grading.expressions import Const, Node, Num, Op, Sym, TooLargeError, Unit, UnreadError, names

Value = Fraction | object
"""A ``Fraction``, or a real or complex number of ``MP``."""

MP = MPContext()
MP.dps = 60
ONE_AT_A_TIME = (
    threading.Lock()
)  # functions of mpmath raise the precision of ``MP`` for a while, and that of all threads
TOLERANCE = MP.mpf(10) ** -40  # relative, far above the error of sixty digits and far below any real difference
CANCELLED = MP.mpf(10) ** -5  # times the tolerance: far above sixty digits' error in a difference of usual numbers
MOST_BITS = 20_000  # of an exact power
LARGEST_LOG = 10**6  # binary logarithm of the largest value
LARGEST_FACTORIAL = 1000
POINTS = 8
RANGES = ((0.1, 0.9), (1.1, 2.9), (-0.9, -0.1), (-2.9, -1.1), (0.1, 0.9), (1.1, 2.9), (3.1, 5.9), (-5.9, -3.1))
INTEGERS_ONLY = ("floor", "ceil", "factorial", "binom", "gcd", "lcm")
IMAGINARY = "i"


def constant(node: Node) -> Value:
    """The value of an expression without variables.

    Raises:
        UnreadError: it has variables, or no value.
    """
    if node.symbols:
        raise UnreadError("variables")
    return evaluate(node, {})


def evaluate(node: Node, variables: Mapping[str, Value]) -> Value:
    """The value of ``node``.

    Raises:
        TooLargeError: it is too large to be computed.
        UnreadError: it has none.
    """
    try:
        with ONE_AT_A_TIME:
            return _evaluate(node, variables)
    except UnreadError:
        raise
    except (ZeroDivisionError, OverflowError, ValueError, NoConvergence) as error:
        raise UnreadError(f"no value: {error}") from error


def point(variables: frozenset[str], index: int, *, integers: bool) -> dict[str, Value]:
    """Values for variables, the same in every process; positive integers, or reals of either sign."""
    return {name: _coordinate(name, index, integers) for name in variables}


@lru_cache(maxsize=10_000)
def _coordinate(name: str, index: int, integers: bool) -> Value:
    draw = random.Random(f"{name}:{index}")
    if integers:
        return Fraction(draw.randint(1, 40))
    low, high = RANGES[index % len(RANGES)] if draw.random() < 0.7 else draw.choice(RANGES)
    return Fraction(int(draw.uniform(low, high) * 10**6), 10**6)


def close(first: Value, second: Value, *, cancelled: bool = True) -> bool:
    """Whether two values are equal: exactly where both are rational, else to forty digits.

    Args:
        cancelled: a difference may have left a rounding error where zero should be, so that tiny values count as zero.
    """
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return first == second
    first, second = number(first), number(second)
    if not (MP.isfinite(first) and MP.isfinite(second)):
        return bool(first == second)
    return bool(abs(first - second) <= TOLERANCE * max(abs(first), abs(second), CANCELLED if cancelled else 0))


def number(value: Value) -> object:
    """A value as a number of ``MP``."""
    return MP.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value


def real(value: Value) -> bool:
    """Whether a value is real."""
    if isinstance(value, Fraction):
        return True
    return isinstance(value, MP.mpf) or bool(abs(value.imag) <= TOLERANCE * max(1, abs(value)))


def _evaluate(node: Node, variables: Mapping[str, Value]) -> Value:
    if isinstance(node, Num):
        return node.value
    if isinstance(node, Sym):
        return variables[node.name]
    if isinstance(node, Const):
        return CONSTANTS[node.name]
    if isinstance(node, Unit):
        return _evaluate(node.value, variables)
    if not isinstance(node, Op) or node.name not in OPERATIONS:
        raise UnreadError(f"{type(node).__name__} has no value")
    return _bounded(OPERATIONS[node.name](*[_evaluate(part, variables) for part in node.args]))


def _bounded(value: Value) -> Value:
    if isinstance(value, Fraction):
        return value if value.numerator.bit_length() + value.denominator.bit_length() < 4 * MOST_BITS else number(value)
    if MP.isnan(value):
        raise UnreadError("not a number")
    return value


def _product(*values: Value) -> Value:
    """An unknown function of variables has a value of its own that depends on all of them."""
    return reduce(_exact(lambda a, b: a * b), values)


def _divide(above: Value, below: Value) -> Value:
    if isinstance(above, Fraction) and isinstance(below, Fraction):
        return above / below
    return number(above) / number(below)


def _exact(operation: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def result(first: Value, second: Value) -> Value:
        if isinstance(first, Fraction) and isinstance(second, Fraction):
            return operation(first, second)
        return operation(number(first), number(second))

    return result


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if base == 0 or abs(exponent) * bits <= MOST_BITS:
            return base ** int(exponent)
    base, exponent = number(base), number(exponent)
    if base == 0:
        return base**exponent
    if abs(exponent) * (abs(MP.log(abs(base), 2)) + 1) > LARGEST_LOG:
        raise TooLargeError("too large")
    return base**exponent


def _root(base: Value, degree: Value) -> Value:
    """The principal root, but the real one of a negative number where the degree is odd."""
    degree = Fraction(degree) if isinstance(degree, Fraction) else degree
    base = number(base)
    if isinstance(degree, Fraction) and degree.denominator == 1 and degree % 2 and real(base) and base.real < 0:
        return -((-base.real) ** (MP.mpf(1) / int(degree)))
    return MP.sqrt(base) if degree == 2 else base ** (1 / number(degree))


def _whole(value: Value) -> int:
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise UnreadError("not a whole number")
    return int(value)


def _factorial(value: Value) -> Value:
    whole = _whole(value)
    if not 0 <= whole <= LARGEST_FACTORIAL:
        raise TooLargeError("too large")
    return Fraction(math.factorial(whole))


def _binomial(above: Value, below: Value) -> Value:
    above, below = _whole(above), _whole(below)
    if not 0 <= above <= 5 * LARGEST_FACTORIAL or below < 0:
        raise TooLargeError("too large")
    return Fraction(math.comb(above, below))


def _rounded(rounding: Callable[[object], int]) -> Callable[[Value], Value]:
    def result(value: Value) -> Value:
        if not isinstance(value, Fraction):
            if not real(value) or abs(value) > 10**50:
                raise TooLargeError("too large")
            nearest = MP.nint(value.real)
            value = Fraction(int(nearest)) if abs(value.real - nearest) < TOLERANCE * 10**10 else value.real
        return Fraction(int(rounding(value)))

    return result


def _of_wholes(function: Callable[..., int]) -> Callable[..., Value]:
    return lambda *values: Fraction(function(*map(_whole, values)))


def _extreme(function: Callable[..., Value]) -> Callable[..., Value]:
    def result(*values: Value) -> Value:
        if len(values) < 2 or not all(map(real, values)):
            raise UnreadError("no real numbers to choose from")
        return function(values, key=lambda value: number(value).real)

    return result


def _function(function: Callable[[object], object]) -> Callable[[Value], Value]:
    def result(value: Value) -> Value:
        value = number(value)
        if abs(value) > LARGEST_LOG:
            raise TooLargeError("too large")
        return function(value)

    return result


def _logarithm(value: Value) -> Value:
    if value == 0:
        raise UnreadError("the logarithm of zero")
    return MP.log(number(value))


def _base(value: Value, base: Value) -> Value:
    """A number in a base stays apart from every other number: it is compared by its spelling alone."""
    raise UnreadError("a number in a base")


CONSTANTS: dict[str, Value] = {"pi": +MP.pi, "e": +MP.e, "oo": MP.inf}
OPERATIONS: dict[str, Callable[..., Value]] = {
    "add": _exact(lambda a, b: a + b),
    "sub": _exact(lambda a, b: a - b),
    "mul": _exact(lambda a, b: a * b),
    "call": _product,
    "neg": lambda a: -a,
    "div": _divide,
    "ratio": _divide,
    "pow": _power,
    "root": _root,
    "abs": abs,
    "factorial": _factorial,
    "binom": _binomial,
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "gcd": _of_wholes(math.gcd),
    "lcm": _of_wholes(math.lcm),
    "min": _extreme(min),
    "max": _extreme(max),
    "percent": lambda a: a,
    "degree": lambda a: a,
    "base": _base,
    "ln": _logarithm,
    "lg": lambda a: _logarithm(a) / MP.log(10),
    "exp": _function(MP.exp),
    **{
        name: _function(getattr(MP, name.replace("arc", "a")))
        for name in names(
            "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot arcsec arccsc arcsinh"
        )
    },
}
