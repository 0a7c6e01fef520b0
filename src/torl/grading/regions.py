"""Sets of real numbers: intervals, inequalities and sets with a condition as the pieces that they consist of."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, reduce
from itertools import pairwise

from torl.grading.expressions import Const, Items, Node, Num, Op, Rel, Sym, UnreadError
from torl.grading.scalars import is_scalar, same_value
from torl.grading.values import constant, number

REALS = "R"
INFINITY = Const("oo")
MINUS_INFINITY = Op("neg", (INFINITY,))
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, kw_only=True)
class Piece:
    """An interval; a point where both ends are the same."""

    low: Node
    high: Node
    low_closed: bool
    high_closed: bool


def region(node: Node) -> list[Piece] | None:
    """The pieces of a set of real numbers, in no order; None where ``node`` is nothing of the kind."""
    if isinstance(node, Items):
        return _of_items(node)
    if isinstance(node, Rel):
        return _of_relation(node)
    if isinstance(node, Sym) and node.name == REALS:
        return [Piece(low=MINUS_INFINITY, high=INFINITY, low_closed=False, high_closed=False)]
    if isinstance(node, Op):
        return _of_operation(node)
    return None


def is_condition(node: Node) -> bool:
    """Whether ``node`` states its set by inequalities or a condition, or joins sets."""
    if isinstance(node, Rel):
        return node.signs != ("=",)
    if isinstance(node, Op):
        return node.name in ("builder", "cup", "cap", "minus")
    return isinstance(node, Items) and node.kind == "or" and all(isinstance(part, Rel) for part in node.args)


def is_name(node: Node) -> bool:
    """Whether ``node`` is a variable or a named function of one."""
    return isinstance(node, Sym) or (isinstance(node, Op) and node.name == "call")


def same_region(first: list[Piece], second: list[Piece]) -> bool:
    """Whether two sets are equal.

    Raises:
        UnreadError: an end has no value.
    """
    if _is_constant(first + second):
        first, second = merged(first), merged(second)
    left = list(second)
    for piece in first:
        found = next((other for other in left if _same_piece(piece, other)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def merged(pieces: list[Piece]) -> list[Piece]:
    """Pieces with constant ends in order, those that touch joined."""
    ordered = sorted(filter(_is_not_empty, pieces), key=cmp_to_key(_compare_lows))
    result: list[Piece] = []
    for piece in ordered:
        if result and _touch(result[-1], piece):
            result[-1] = _joined(result[-1], piece)
        else:
            result.append(piece)
    return result


def _value(node: Node) -> object:
    return number(constant(node)).real


def _is_not_empty(piece: Piece) -> bool:
    low, high = _value(piece.low), _value(piece.high)
    return low < high or (low == high and piece.low_closed and piece.high_closed)


def _compare_lows(first: Piece, second: Piece) -> int:
    low, other = _value(first.low), _value(second.low)
    if low != other:
        return -1 if low < other else 1
    return second.low_closed - first.low_closed


def _touch(first: Piece, second: Piece) -> bool:
    end, begin = _value(first.high), _value(second.low)
    return begin < end or (begin == end and (first.high_closed or second.low_closed))


def _joined(first: Piece, second: Piece) -> Piece:
    end, other = _value(first.high), _value(second.high)
    last = first if end > other else second
    closed = last.high_closed or (end == other and first.high_closed)
    return Piece(low=first.low, high=last.high, low_closed=first.low_closed, high_closed=closed)


def _same_piece(first: Piece, second: Piece) -> bool:
    closed = (first.low_closed, first.high_closed) == (second.low_closed, second.high_closed)
    return closed and all(same_value(*ends) for ends in ((first.low, second.low), (first.high, second.high)))


def _of_items(node: Items) -> list[Piece] | None:
    if node.kind == "or" and _about_one_thing(node.args):
        return _all_of([_of_relation(part) if isinstance(part, Rel) else region(part) for part in node.args])
    if node.kind == "set":
        return [_point(part) for part in node.args] if all(map(is_scalar, node.args)) else None
    if node.kind in ("()", "(]", "[)", "[]", "][") and len(node.args) == 2 and all(map(is_scalar, node.args)):
        low, high = node.args
        return [Piece(low=low, high=high, low_closed=node.kind[0] == "[", high_closed=node.kind[1] == "]")]
    return None


def _of_operation(node: Op) -> list[Piece] | None:
    if node.name == "cup":
        return _all_of([region(part) for part in node.args])
    if node.name == "builder":
        variable, condition = node.args
        if isinstance(variable, Rel) and variable.signs == ("in",):
            variable = variable.args[0] if region(variable.args[1]) == region(Sym("R")) else variable
        return region(condition) if isinstance(variable, Sym) and variable.name in condition.symbols else None
    if node.name in ("cap", "minus") and _about_one_thing(node.args):
        whole, *others = [region(part) for part in node.args]
        if whole is None or None in others or not all(map(_is_constant, [whole, *others])):
            return None
        return reduce(_common, [other if node.name == "cap" else _outside(other) for other in others], whole)
    return None


def _about_one_thing(parts: tuple[Node, ...]) -> bool:
    """Whether the relations among ``parts`` all say something about the same variable."""
    return len({side for part in parts if isinstance(part, Rel) for side in part.args if is_name(side)}) <= 1


def _is_constant(pieces: list[Piece]) -> bool:
    return all(not end.symbols for piece in pieces for end in (piece.low, piece.high))


def _common(first: list[Piece], second: list[Piece]) -> list[Piece]:
    """What two sets with constant ends have in common."""
    return list(filter(_is_not_empty, (_overlap(piece, other) for piece in first for other in second)))


def _overlap(first: Piece, second: Piece) -> Piece:
    low = max((first, second), key=lambda piece: (_value(piece.low), not piece.low_closed))
    high = min((first, second), key=lambda piece: (_value(piece.high), piece.high_closed))
    return Piece(low=low.low, high=high.high, low_closed=low.low_closed, high_closed=high.high_closed)


def _outside(pieces: list[Piece]) -> list[Piece]:
    """The real numbers that are not in a set with constant ends."""
    low, closed, result = MINUS_INFINITY, False, []
    for piece in merged(pieces):
        result.append(Piece(low=low, high=piece.low, low_closed=closed, high_closed=not piece.low_closed))
        low, closed = piece.high, not piece.high_closed
    result.append(Piece(low=low, high=INFINITY, low_closed=closed, high_closed=False))
    return list(filter(_is_not_empty, result))


def _of_relation(node: Rel) -> list[Piece] | None:
    if node.signs == ("in",):
        return region(node.args[1]) if is_name(node.args[0]) else None
    if len(node.signs) == 1:
        return _of_single(node.signs[0], *node.args)
    if len(node.signs) == 2 and is_name(node.args[1]) and all(sign in ("<", "<=") for sign in node.signs):
        low, _, high = node.args
        return _bounded(low, high, node, closed=tuple(sign == "<=" for sign in node.signs))
    if len(node.signs) == 2 and is_name(node.args[1]) and all(sign in (">", ">=") for sign in node.signs):
        high, _, low = node.args
        return _bounded(low, high, node, closed=tuple(sign == ">=" for sign in reversed(node.signs)))
    return None


def _of_single(sign: str, left: Node, right: Node) -> list[Piece] | None:
    if is_name(right) and not is_name(left):
        left, right, sign = right, left, TURNED.get(sign, sign)
    if not is_name(left) or is_name(right) or left.symbols & right.symbols or not is_scalar(right):
        return None
    if sign == "=":
        return [_point(right)]
    if sign == "!=":
        point = [_point(right)]
        return _outside(point) if _is_constant(point) else _around(right)
    if sign in ("<", "<="):
        return [Piece(low=MINUS_INFINITY, high=right, low_closed=False, high_closed=sign == "<=")]
    if sign in (">", ">="):
        return [Piece(low=right, high=INFINITY, low_closed=sign == ">=", high_closed=False)]
    return None


def _bounded(low: Node, high: Node, node: Rel, *, closed: tuple[bool, ...]) -> list[Piece] | None:
    if node.args[1].symbols & (low.symbols | high.symbols) or not (is_scalar(low) and is_scalar(high)):
        return None
    return [Piece(low=low, high=high, low_closed=closed[0], high_closed=closed[1])]


def _point(node: Node) -> Piece:
    return Piece(low=node, high=node, low_closed=True, high_closed=True)


def _around(node: Node) -> list[Piece]:
    """The real numbers without one that depends on variables."""
    ends = [MINUS_INFINITY, node, INFINITY]
    return [Piece(low=low, high=high, low_closed=False, high_closed=False) for low, high in pairwise(ends)]


def _all_of(parts: list[list[Piece] | None]) -> list[Piece] | None:
    return None if None in parts else [piece for part in parts for piece in part]


def shift_to_zero(node: Rel) -> Node:
    """Left side minus right side of a relation with one sign.

    Raises:
        UnreadError: it has several.
    """
    if len(node.signs) != 1:
        raise UnreadError("a chain of relations")
    left, right = node.args
    return left if right == Num(Fraction(0)) else Op("sub", (left, right))
