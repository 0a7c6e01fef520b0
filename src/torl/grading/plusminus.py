"""The values that plus-minus signs stand for."""

from collections.abc import Iterator
from itertools import product

from torl.grading.expressions import Items, Node, Op, Rel, UnreadError

MOST_SIGNS = 4  # in one value
MOST_SIGNS_IN_ALL = 10
SIGNS = ("pm", "mp")


def both_signs(node: Node) -> Iterator[Node]:
    """Readings of ``node`` without plus-minus signs: its signs together, and, where that differs, each for itself.

    Raises:
        UnreadError: there are too many.
    """
    if not node.has(*SIGNS):
        yield node
        return
    if _number_of_signs(node) > MOST_SIGNS_IN_ALL:
        raise UnreadError("too many plus-minus signs")
    yield Items("list", tuple(_expanded(node, together=True)))
    if _number_of_signs(node) > 1:
        yield Items("list", tuple(_expanded(node, together=False)))


def _number_of_signs(node: Node) -> int:
    return sum(isinstance(part, Op) and part.name in SIGNS for part in node.walk())


def _expanded(node: Node, *, together: bool) -> list[Node]:
    if isinstance(node, Items) and node.kind in ("list", "or", "set"):
        return [value for part in node.args for value in _expanded(part, together=together)]
    count = _number_of_signs(node)
    if not count:
        return [node]
    if count > MOST_SIGNS:
        raise UnreadError("too many plus-minus signs")
    choices = [(True,) * count, (False,) * count] if together else list(product((True, False), repeat=count))
    return [_signed(node, iter(choice)) for choice in choices]


def _signed(node: Node, positive: Iterator[bool]) -> Node:
    if isinstance(node, Op) and node.name in SIGNS:
        args = [_signed(part, positive) for part in node.args]
        plus = next(positive) == (node.name == "pm")
        if len(args) == 1:
            return args[0] if plus else Op("neg", tuple(args))
        return Op("add" if plus else "sub", tuple(args))
    if isinstance(node, Op):
        return Op(node.name, tuple(_signed(part, positive) for part in node.args))
    if isinstance(node, Items):
        return Items(node.kind, tuple(_signed(part, positive) for part in node.args))
    if isinstance(node, Rel):
        return Rel(node.signs, tuple(_signed(part, positive) for part in node.args))
    if node.has(*SIGNS):
        raise UnreadError("a plus-minus sign in a matrix or before a unit")
    return node
