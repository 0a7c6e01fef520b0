"""What begins with a command or a bracket: fractions, roots, functions, tuples, sets, matrices."""

from collections.abc import Callable
from fractions import Fraction

from torl.grading.expressions import Const, Items, Matrix, Node, Num, Op, Rel, Sym, UnreadError, Words, names
from torl.grading.parser import RELATIONS, Parser
from torl.grading.scalars import in_radians
from torl.grading.spelling import Kind, plain, tokens_of, ungrouped

FUNCTIONS = names(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot arcsec arccsc ln lg exp det min max gcd lcm"
)
INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
GREEK = names(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau upsilon "
    "phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar mho"
)
MARKS = names("overline overrightarrow vec hat bar tilde widehat underline mathbb mathscr mathfrak angle triangle")
SYMBOLS = names("angle triangle sphericalangle measuredangle partial nabla")
MATRICES = {"matrix", "pmatrix", "bmatrix", "Bmatrix", "array", "smallmatrix"}


def read(text: str) -> Node:
    """The expression that a text in one spelling is (see ``spelling.plain``).

    Raises:
        UnreadError: not all of it can be read.
    """
    node = Parser(tokens_of(text), COMMANDS).answer()
    if any(map(_holds_words, node.walk())):
        raise UnreadError("words within a formula")
    return node


def _holds_words(node: Node) -> bool:
    """Whether words stand where a value should; they may be an answer of a list or the name of a value."""
    words = [isinstance(part, Words) for part in node.args]
    if isinstance(node, Items):
        return any(words) and not all(words)
    if isinstance(node, Rel) and node.signs[0] in ("=", "in"):
        return any(words[1:]) and node.signs != ("in",)
    return any(words)


def read_answer(answer: str) -> Node:
    """The expression that an answer is; a comma within digits as ``spelling.ungrouped`` takes it.

    Raises:
        UnreadError: not all of it can be read.
    """
    return read(ungrouped(plain(answer)))


def _fraction(parser: Parser) -> Node:
    above = _digit_or_group(parser)
    return Op("div", (above, _digit_or_group(parser)))


def _digit_or_group(parser: Parser) -> Node:
    r"""The argument of ``\frac``: a group, or one digit of a number (``\frac12``)."""
    token = parser.next
    if token.kind is Kind.NUM and token.text.isdigit() and len(token.text) > 1:
        parser.tokens[parser.position] = token._replace(text=token.text[1:])
        return Num(Fraction(int(token.text[0])))
    return parser.number() if token.kind is Kind.NUM else parser.group_or_token()


def _root(parser: Parser) -> Node:
    if parser.accept("["):
        degree = parser.listing()
        parser.expect("]")
        return Op("root", (parser.group_or_token(), degree))
    return Op("root", (parser.group_or_token(), Num(Fraction(2))))


def _binomial(parser: Parser) -> Node:
    above = _digit_or_group(parser)
    return Op("binom", (above, _digit_or_group(parser)))


def _function(name: str) -> Callable[[Parser], Node]:
    def application(parser: Parser) -> Node:
        power, base = None, None
        while sign := parser.accept("^", "_"):
            if sign == "^":
                power = _power_of_function(parser)
            else:
                base = parser.group_or_token()
        inverse = power == Op("neg", (Num(Fraction(1)),)) and name in INVERSES
        node = _applied(INVERSES[name] if inverse else name, base, _argument(parser))
        return node if power is None or inverse else Op("pow", (node, power))

    return application


def _power_of_function(parser: Parser) -> Node:
    if parser.next.text == "-":
        return parser.signed_power()
    return parser.group_or_token()


def _applied(name: str, base: Node | None, argument: Node) -> Node:
    if name in ("min", "max", "gcd", "lcm"):
        return Op(name, argument.args if isinstance(argument, Items) else (argument,))
    if isinstance(argument, Items):
        raise UnreadError(f"several arguments of {name}")
    if argument.has("degree"):
        argument = in_radians(argument)
    if base is not None:
        return Op("div", (Op("ln", (argument,)), Op("ln", (base,))))
    return Op(name, (argument,))


def _argument(parser: Parser) -> Node:
    """What stands in brackets behind a function, else the factors up to the next sign or function."""
    if parser.next.text in ("(", "{", "["):
        return parser.atom()
    node = parser.power()
    while parser.starts_factor() and parser.next.text.removeprefix("\\") not in FUNCTIONS:
        node = Op("mul", (node, parser.power()))
    if parser.accept("/"):
        node = Op("div", (node, parser.power()))
    return node


def _bracket(opening: str, closing: tuple[str, ...]) -> Callable[[Parser], Node]:
    def group(parser: Parser) -> Node:
        bars, parser.in_bars = parser.in_bars, 0
        node = parser.listing()
        parser.in_bars = bars
        kind = opening + parser.expect(*closing)
        if isinstance(node, Items) and node.kind in ("list", "or"):
            return Items(kind, node.args)
        if kind not in ("()", "[]", r"\langle\rangle"):
            raise UnreadError(f"one value between {opening} and {closing}")
        return node

    return group


def _braces(parser: Parser) -> Node:
    node = parser.listing()
    parser.expect("}")
    return Items("set", node.args) if isinstance(node, Items) and node.kind in ("list", "or") else node


def _set(parser: Parser) -> Node:
    if parser.accept(r"\}"):
        return Items("set", ())
    colon, parser.no_colon, bars, parser.in_bars = parser.no_colon, True, parser.in_bars, 1
    node = parser.listing()
    builder = parser.accept("|", r"\mid", r"\vert", ":", r"\colon") is not None
    parser.no_colon, parser.in_bars = colon, bars
    if builder:
        node = Op("builder", (node, parser.listing()))
    parser.expect(r"\}")
    if builder:
        return node
    return Items("set", node.args if isinstance(node, Items) and node.kind in ("list", "or") else (node,))


def _repeated(name: str) -> Callable[[Parser], Node]:
    r"""``\sum`` and ``\prod``: compared by their limits and what stands behind them, never computed."""

    def operation(parser: Parser) -> Node:
        limits = {}
        while sign := parser.accept("^", "_"):
            limits[sign] = parser.group_or_token()
        if limits.keys() != {"^", "_"}:
            raise UnreadError(f"{name} without limits")
        return Op(name, (limits["_"], limits["^"], parser.product()))

    return operation


def _between(name: str, *closing: str) -> Callable[[Parser], Node]:
    def value(parser: Parser) -> Node:
        parser.in_bars += 1
        node = parser.sum()
        parser.in_bars -= 1
        parser.expect(*closing)
        return Op(name, (node,))

    return value


def _environment(parser: Parser) -> Node:
    name = _name_of_environment(parser)
    if name == "array" and parser.accept("{"):
        while parser.take().text != "}":
            if parser.next.kind is Kind.END:
                raise UnreadError("an array without columns")
    rows: list[list[Node]] = [[]]
    while not parser.accept(r"\end"):
        if parser.accept(r"\\"):
            rows.append([])
        elif not parser.accept("&"):
            rows[-1].append(parser.relation())
    if _name_of_environment(parser) != name:
        raise UnreadError("an environment that is closed by another")
    rows = [row for row in rows if row]
    if name not in MATRICES or not rows or len({len(row) for row in rows}) != 1:
        raise UnreadError(f"an environment {name}")
    return Matrix(tuple(map(tuple, rows)))


def _name_of_environment(parser: Parser) -> str:
    parser.expect("{")
    name = ""
    while not parser.accept("}"):
        token = parser.take()
        if token.kind is Kind.END:
            raise UnreadError("an environment without a name")
        name += token.text
    return name


def _marked(mark: str) -> Callable[[Parser], Node]:
    def symbol(parser: Parser) -> Node:
        node = parser.group_or_token()
        letters = [part.name for part in node.walk() if isinstance(part, Sym)]
        if not letters or any(not isinstance(part, Sym) and part.__class__ is not Op for part in node.walk()):
            raise UnreadError(f"{mark} over something else than letters")
        return Sym(letters[0] if mark == "mathbb" else f"{mark} {''.join(letters)}")

    return symbol


def _text_group(parser: Parser) -> Node:
    node = parser.group_or_token()
    if not isinstance(node, Words):
        raise UnreadError("a text that holds formulas")
    return node


def _not(parser: Parser) -> Node:
    raise UnreadError(f"negated {parser.next.text}")


def _constant(name: str) -> Callable[[Parser], Node]:
    return lambda parser: Const(name)


def _symbol(name: str) -> Callable[[Parser], Node]:
    return lambda parser: Sym(name)


COMMANDS: dict[str, Callable[[Parser], Node]] = {
    **{rf"\{name}": _fraction for name in ("frac", "dfrac", "tfrac", "cfrac")},
    **{rf"\{name}": _binomial for name in ("binom", "dbinom", "tbinom")},
    **{rf"\{name}": _function(name) for name in FUNCTIONS},
    **{rf"\{name}": _symbol(name) for name in (*GREEK, *SYMBOLS)},
    **{rf"\{name}": _marked(name) for name in MARKS if name not in SYMBOLS},
    r"\log": _function("ln"),
    r"\arcsinh": _function("arcsinh"),
    r"\sqrt": _root,
    r"\sum": _repeated("sum"),
    r"\prod": _repeated("prod"),
    r"\pi": _constant("pi"),
    r"\infty": _constant("oo"),
    r"\emptyset": lambda parser: Items("set", ()),
    r"\varnothing": lambda parser: Items("set", ()),
    "(": _bracket("(", (")", "]")),
    "[": _bracket("[", ("]", ")")),
    "]": _bracket("]", ("[", "]")),
    r"\langle": _bracket(r"\langle", (r"\rangle",)),
    r"\{": _set,
    r"\lbrace": _set,
    "{": _braces,
    "|": _between("abs", "|"),
    r"\lvert": _between("abs", r"\rvert"),
    r"\lfloor": _between("floor", r"\rfloor"),
    r"\lceil": _between("ceil", r"\rceil"),
    r"\floor": _function("floor"),
    r"\ceil": _function("ceil"),
    r"\begin": _environment,
    r"\text": _text_group,
    r"\mathrm": _text_group,
    r"\not": _not,
}
assert not COMMANDS.keys() & RELATIONS.keys()
