"""Values with a name: ``x = 5``, ``f(x) = x + 1``, ``(x, y) = (1, 2)``, ``a = b = 3``, and equations that give one."""

from fractions import Fraction

from torl.grading.expressions import Items, Node, Num, Op, Rel, Sym, Words
from torl.grading.regions import is_name
from torl.grading.scalars import is_scalar
from torl.grading.values import POINTS, close, evaluate, number, point

SMALLEST_SLOPE = (
    1e-20  # an equation that changes less with its variable does not depend on it: that is a rounding error
)


def is_named(node: Node) -> bool:
    """Whether ``node`` is ``name = value``, or a list with such a part."""
    if isinstance(node, Rel):
        lengths = _is_length(node.args[0]) and _is_length(node.args[1])  # BD = CD states something
        return node.signs == ("=",) and _is_label(node.args[0]) and (not lengths or is_name(node.args[0]))
    return isinstance(node, Items) and node.kind in ("list", "or") and any(map(is_named, node.args))


def _is_label(node: Node) -> bool:
    """Whether ``node`` names something: a variable, a function, a tuple of them, an angle, lengths and their ratio."""
    if (
        is_name(node)
        or isinstance(node, Words)
        or (isinstance(node, Items) and node.kind == "()" and all(map(_is_label, node.args)))
    ):
        return True
    if isinstance(node, Op) and node.name == "abs":
        return _is_label(node.args[0])
    if isinstance(node, Op) and node.name in ("min", "max"):
        return bool(node.symbols)
    return isinstance(node, Op) and node.name in ("mul", "div", "ratio") and all(map(_is_length, node.args))


def _is_length(node: Node) -> bool:
    if isinstance(node, Op):
        return node.name in ("mul", "div") and all(map(_is_length, node.args))
    return isinstance(node, Sym) and (node.name.split("_")[0].isupper() or " " in node.name or node.name == "angle")


def unnamed(node: Node) -> Node:
    """The value of ``name = value``; lists of them as lists of values."""
    if isinstance(node, Rel) and is_named(node):
        return node.args[1]
    if isinstance(node, Items) and is_named(node):
        return Items(node.kind, tuple(map(unnamed, node.args)))
    return node


def names_one_thing(node: Node) -> bool:
    """Whether all names of a list are one letter (``x_1 = 1, x_2 = 3``): the order of the values says nothing then."""
    if not isinstance(node, Items):
        return True
    names = {repr(part.args[0]).split("_")[0] for part in node.args if isinstance(part, Rel)}
    return len(names) == 1 and not any(isinstance(part, Items) for part in node.args if is_named(part))


def entrywise(node: Node) -> Items | None:
    """An equation of two tuples as the list of the equations of their entries; None for anything else."""
    if not (isinstance(node, Rel) and node.signs == ("=",) and all(isinstance(side, Items) for side in node.args)):
        return None
    names, values = node.args
    if names.kind != "()" or len(names.args) != len(values.args):
        return None
    return Items("list", tuple(Rel(("=",), pair) for pair in zip(names.args, values.args, strict=True)))


def without_domains(node: Node) -> Node:
    """A list without the parts that only say where a variable comes from (``k \\in \\mathbb{Z}``)."""
    if not (isinstance(node, Items) and node.kind in ("list", "or")):
        return node
    kept = [
        part for part in node.args if not (isinstance(part, Rel) and part.signs == ("in",) and is_name(part.args[0]))
    ]
    if not kept or len(kept) == len(node.args):
        return node
    return kept[0] if len(kept) == 1 else Items(node.kind, tuple(kept))


def chain_value(node: Node) -> Node | None:
    """What a chain of equalities comes to; None where ``node`` is none.

    ``a = b = c`` is ``c``; of an approximation it is the exact side, unless that is only a name.
    """
    if not isinstance(node, Rel) or not set(node.signs) <= {"=", "~"}:
        return None
    if "~" not in node.signs:
        of_numbers = not node.symbols and all(map(is_scalar, node.args))  # 52/25 = 2.08
        return node.args[-1] if len(node.signs) > 1 or of_numbers else None
    before = node.args[node.signs.index("~")]
    return node.args[-1] if _is_label(before) or not is_scalar(before) or before.symbols else before


def labels(node: Node) -> set[Node]:
    """What a relation, or the relations of a list, give values to; the variable of a set with a condition is none."""
    if isinstance(node, Items):
        return set().union(*map(labels, node.args))
    return {side for side in node.args if _is_label(side)} if isinstance(node, Rel) else set()


def solves(value: Node, equation: Rel) -> bool:
    """Whether ``equation`` is linear in the one variable that ``value`` lacks, and ``value`` is its solution.

    Raises:
        UnreadError: a side has no value.
    """
    names = equation.symbols - value.symbols
    if equation.signs != ("=",) or len(names) != 1 or not all(map(is_scalar, equation.args)):
        return False
    (name,) = names
    return all(_solves_at(value, equation, name, index) for index in range(POINTS))


def _solves_at(value: Node, equation: Rel, name: str, index: int) -> bool:
    variables = point((equation.symbols | value.symbols) - {name}, index, integers=False)
    solution = number(evaluate(value, variables))

    def difference(shift: int) -> object:
        at = variables | {name: evaluate(Op("add", (Sym(name), Num(Fraction(shift)))), {name: solution})}
        left, right = (number(evaluate(side, at)) for side in equation.args)
        return left - right

    zero, one, two = difference(0), difference(1), difference(2)
    depends = abs(one) > SMALLEST_SLOPE * (1 + abs(solution))
    return bool(depends) and close(zero + one, one) and close(two, 2 * one)
