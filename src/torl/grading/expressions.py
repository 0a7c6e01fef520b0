"""What an answer is once it is read: numbers, symbols, operations, lists, relations and words."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property


def names(text: str) -> tuple[str, ...]:
    """The words of a list that is written as one text."""
    return tuple(text.split())


MOST_OPERATIONS = 200  # one on another's result: each takes two frames of Python's thousand


class UnreadError(ValueError):
    """An answer, or a part of it, cannot be read or has no value."""


class TooLargeError(UnreadError):
    """A value is astronomically large and not computed: it equals nothing but its own spelling."""


class Node:
    """Part of an answer. Equal nodes are spelled alike."""

    args: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """The node and all below it."""
        yield self
        for part in self.args:
            yield from part.walk()

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of the variables in it."""
        return frozenset(node.name for node in self.walk() if isinstance(node, Sym))

    def has(self, *names: str) -> bool:
        """Whether one of these operations is in it."""
        return any(isinstance(node, Op) and node.name in names for node in self.walk())


@dataclass(frozen=True)
class Num(Node):
    """A number, exactly as written."""

    value: Fraction
    places: int | None = None
    """Digits after the point of the mantissa; None for an integer."""
    exponent: int = 0
    """Power of ten that the mantissa is multiplied with."""


@dataclass(frozen=True)
class Sym(Node):
    """A variable, with its subscript."""

    name: str


@dataclass(frozen=True)
class Const(Node):
    """``pi``, ``e`` or ``oo``."""

    name: str


@dataclass(frozen=True)
class Op(Node):
    """An operation or function: ``add``, ``neg``, ``mul``, ``div``, ``pow``, ``percent``, ``sin``, ..."""

    name: str
    args: tuple[Node, ...]

    def __post_init__(self) -> None:
        depth = 1 + max((part.depth for part in self.args if isinstance(part, Op)), default=0)
        if depth > MOST_OPERATIONS:
            raise UnreadError("too many operations")
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True)
class Unit(Node):
    """A value with a unit or with what is counted."""

    value: Node
    unit: str

    @property
    def args(self) -> tuple[Node, ...]:
        """The value."""
        return (self.value,)


@dataclass(frozen=True)
class Items(Node):
    """Several answers: ``kind`` is ``list``, ``or``, ``set``, or the two brackets of a tuple or an interval."""

    kind: str
    args: tuple[Node, ...]


@dataclass(frozen=True)
class Matrix(Node):
    """Rows of entries."""

    rows: tuple[tuple[Node, ...], ...]

    @property
    def args(self) -> tuple[Node, ...]:
        """All entries."""
        return tuple(entry for row in self.rows for entry in row)


@dataclass(frozen=True)
class Rel(Node):
    """A chain of relations: one sign fewer than sides."""

    signs: tuple[str, ...]
    args: tuple[Node, ...]


@dataclass(frozen=True)
class Words(Node):
    """An answer in words, in lower case."""

    text: str
