"""Steps for answers of several parts: words, both signs, matrices, lists, sets, tuples."""

from torl.grading.comparison import Comparison
from torl.grading.expressions import Items, Matrix, Node, Op, Words
from torl.grading.plusminus import both_signs
from torl.grading.rules import Rule
from torl.grading.scalars import is_scalar
from torl.grading.values import evaluate, number, real

UNORDERED = ("list", "or", "set")


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


def _may_be_interval(node: Items) -> bool:
    """Whether a pair in round brackets rises, as the ends of an interval do."""
    if node.kind != "()" or len(node.args) != 2 or any(not is_scalar(part) or part.symbols for part in node.args):
        return False
    low, high = (number(evaluate(part, {})) for part in node.args)
    return bool(real(low) and real(high) and low.real < high.real)


SIGNS = (_words, _plus_minus)
PARTS = (_matrices, _items)
