"""Tokens to an expression, by recursive descent. Everything must be read: what is left over makes the answer unread."""

from collections.abc import Callable
from fractions import Fraction

from torl.grading.cursor import Cursor
from torl.grading.expressions import Const, Items, Node, Num, Op, Rel, Sym, Unit, UnreadError, Words
from torl.grading.letters import ORDINAL, SEPARATORS, split_words
from torl.grading.spelling import Kind, Token
from torl.grading.units import CHANGE_MEANING, DEGREE_WORDS, MULTIPLIERS, PERCENT_WORDS, UNIT_WORDS

DEEPEST = 40  # groups within groups: each takes a dozen frames of Python's thousand
RELATIONS = {
    "=": "=", "<": "<", ">": ">", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\ge": ">=", r"\geq": ">=",
    r"\geqslant": ">=", r"\lt": "<", r"\gt": ">", r"\ne": "!=", r"\neq": "!=", r"\approx": "~", r"\simeq": "~",
    r"\in": "in", r"\equiv": "==",
}  # fmt: skip
INEQUALITIES = {"<", ">", "<=", ">=", "!="}
SET_SIGNS = {
    r"\cup": "cup",
    r"\bigcup": "cup",
    r"\cupdot": "cup",
    r"\sqcup": "cup",
    r"\cap": "cap",
    r"\setminus": "minus",
    r"\backslash": "minus",
}
SUM_SIGNS = {"+": "add", "-": "sub", r"\pm": "pm", r"\mp": "mp"}
TIMES = {"*", r"\cdot", r"\times", r"\ast"}
OVER = {"/", r"\div"}
CLOSERS = {")", "]", "}", r"\}", r"\rangle", r"\rfloor", r"\rceil", r"\rvert", r"\mid", r"\\", r"\end", r"\colon"}
LEADING = {"only", "exactly", "approximately", "approx", "the answer is", "only when", "only if"}
INFINITE = {"infinitely many", "infinite", "infinity"}
FUNCTION_NAMES = frozenset("fghpqPQFGNST")
DEGREE = {r"\circ", r"\degree"}


class Parser(Cursor):
    """Reads the tokens of one answer."""

    def __init__(self, tokens: list[Token], commands: dict[str, Callable[["Parser"], Node]]) -> None:
        super().__init__(split_words(tokens))
        self.commands, self.depth = commands, 0
        self.no_colon, self.in_bars = False, 0

    def answer(self) -> Node:
        """The whole answer.

        Raises:
            UnreadError: not all of it can be read.
        """
        node = self.listing()
        if self.next.kind is not Kind.END:
            raise UnreadError(f"{self.next.text!r} is left over")
        return node

    def listing(self) -> Node:
        """Relations between commas, semicolons, "and" and "or"; one alone is itself."""
        signs = [self.separator()]
        parts = [self.part(signs[0])]
        while separator := self.separator():
            signs.append(separator)
            parts.append(self.part(separator))
        return _joined(parts, signs)

    def part(self, separator: str | None) -> Node:
        """One part of a list; behind a quantifier, the variable that it is about and where that comes from."""
        if separator != "for":
            return self.relation()
        words = [self.take().text for _ in iter(lambda: self.next.kind is Kind.TEXT, False)]
        node = self.relation()
        return Rel(("in",), (node, Words(" ".join(words)))) if words and isinstance(node, Sym) else node

    def separator(self) -> str | None:
        """The strongest of the separators that come next."""
        found = None
        while self.next.text in SEPARATORS and self.next.kind is not Kind.NUM:
            sign = SEPARATORS[self.take().text]
            found = sign if found in (None, ",", "and") else found
        return found

    def relation(self) -> Node:
        """Sides between signs of relation."""
        sides, signs = [self.union()], []
        while self.next.kind in (Kind.SIGN, Kind.COMMAND) and self.next.text in RELATIONS:
            signs.append(RELATIONS[self.take().text])
            sides.append(self.union())
        return Rel(tuple(signs), tuple(sides)) if signs else sides[0]

    def union(self) -> Node:
        """Sets joined, intersected or taken away."""
        node = self.ratio()
        while self.next.kind is Kind.COMMAND and self.next.text in SET_SIGNS:
            node = Op(SET_SIGNS[self.take().text], (node, self.ratio()))
        return node

    def ratio(self) -> Node:
        """Sums between colons."""
        parts = [self.sum()]
        while not self.no_colon and self.accept(":"):
            parts.append(self.sum())
        return Op("ratio", tuple(parts)) if len(parts) > 1 else parts[0]

    def sum(self) -> Node:
        """Products between signs of addition; a sign may come first."""
        sign = self.accept(*SUM_SIGNS)
        node = self.product()
        if sign in ("-", r"\pm", r"\mp"):
            node = _signed("neg" if sign == "-" else SUM_SIGNS[sign], node)
        while sign := self.accept(*SUM_SIGNS):
            node = Op(SUM_SIGNS[sign], (node, self.product()))
        return node

    def product(self) -> Node:
        """Factors, with or without signs between them, and a unit after them."""
        node = self.power()
        while not isinstance(node, Words):
            if self.accept(*TIMES):
                node = Op("mul", (node, self.signed_power()))
            elif self.accept(*OVER):
                node = Op("div", (node, self.signed_power()))
            elif self.next.kind is Kind.TEXT and self.next.text not in SEPARATORS:
                node = self.unit_of(node)
            elif self.starts_factor():
                node = Op("mul", (node, self.power()))
            else:
                break
        return node

    def signed_power(self) -> Node:
        """A factor that may have a sign, as after a sign of multiplication."""
        sign = self.accept("+", "-")
        node = self.power()
        return Op("neg", (node,)) if sign == "-" else node

    def starts_factor(self) -> bool:
        """Whether another factor follows without a sign."""
        kind, text, _ = self.next
        if kind is Kind.LETTERS:
            return True
        if kind is Kind.NUM:
            return self.tokens[self.position - 1].kind is not Kind.NUM
        if kind is Kind.COMMAND:
            known = RELATIONS.keys() | SET_SIGNS.keys() | SUM_SIGNS.keys() | CLOSERS | DEGREE
            return text not in known and text not in TIMES and text not in OVER
        return text in ("(", "{", "[") or (text == "|" and not self.in_bars)

    def unit_of(self, node: Node) -> Node:
        """``node`` with the words, powers and quotients of words that follow it.

        Raises:
            UnreadError: they change the value instead ("5 or more").
        """
        words = [self.unit_word()]
        while self.next.kind is Kind.TEXT and self.next.text not in SEPARATORS:
            words.append(self.unit_word())
        if words[0] in ORDINAL:
            words = words[1:]
        while words and words[0] in MULTIPLIERS:
            node = Op("mul", (node, Num(Fraction(MULTIPLIERS[words.pop(0)]))))
        if "of" in words and words[0] in UNIT_WORDS:
            words = words[: words.index("of")]  # "1 kg of cereal" is one kilogram
        if CHANGE_MEANING.intersection(words):
            raise UnreadError(f"{' '.join(words)} behind a value")
        return _with_unit(node, " ".join(words)) if words else node

    def unit_word(self) -> str:
        """One word of a unit with its power, and what it is divided by."""
        word = self.take().text.casefold()
        if self.accept("^"):
            word += f"^{_name_of(self.group_or_token())}"
        divided = self.tokens[self.position + 1] if self.next.text in OVER else None
        if divided and (divided.kind is Kind.TEXT or (divided.kind is Kind.LETTERS and divided.text in UNIT_WORDS)):
            self.take()
            word += f"/{self.unit_word()}"
        return word

    def call(self, name: Node) -> Node | None:
        """A named function of variables, ``f(x)``: usual letters, or any letter before a sign of equality."""
        if not isinstance(name, Sym) or self.next.text != "(":
            return None
        end = self.position + 1
        while self.tokens[end].kind is Kind.LETTERS and self.tokens[end + 1].text == ",":
            end += 2
        if self.tokens[end].kind is not Kind.LETTERS or self.tokens[end + 1].text != ")":
            return None
        end += 1
        arguments = self.tokens[self.position + 1 : end : 2]
        if name.name.split("_")[0] not in FUNCTION_NAMES and self.tokens[end + 1].text != "=":
            return None
        self.position = end + 1
        return Op("call", (name, *(Sym(token.text) for token in arguments)))

    def power(self) -> Node:
        """An atom with what stands behind it: powers, subscripts, factorials, percent and degree signs."""
        node = self.atom()
        while True:
            if called := self.call(node):
                node = called
            elif self.accept("^"):
                node = self.raised(node)
            elif self.accept("_"):
                node = _with_subscript(node, self.subscript())
            elif self.accept(*DEGREE):
                node = self.degrees(node)
            elif self.accept("%", r"\%"):
                node = Op("percent", (node,))
            elif self.accept("!"):
                node = Op("factorial", (node,))
            elif isinstance(node, Sym) and self.accept("'"):
                node = Sym(node.name + "'")
            else:
                return node

    def subscript(self) -> str:
        """The text of a subscript."""
        if not self.accept("{"):
            return self.take().text
        text, depth = "", 1
        while self.next.kind is not Kind.END:
            token = self.take()
            depth += (token.text == "{") - (token.text == "}")
            if depth == 0:
                return text
            text += token.text
        raise UnreadError("a subscript without end")

    def raised(self, node: Node) -> Node:
        """``node`` to the power that follows; ``^\\circ`` is degrees, ``^{th}`` nothing."""
        if self.accept(*DEGREE):
            return self.degrees(node)
        if self.next.kind is Kind.SIGN and self.next.text == "-":
            return Op("pow", (node, self.signed_power()))
        group = self.next.text == "{"
        if group and self.tokens[self.position + 1].text in DEGREE and self.tokens[self.position + 2].text == "}":
            self.position += 3
            return self.degrees(node)
        exponent = self.group_or_token()
        return node if isinstance(exponent, Words) and exponent.text in ORDINAL else Op("pow", (node, exponent))

    def degrees(self, node: Node) -> Node:
        """Degrees, and the minutes that may follow."""
        whole = Op("degree", (node,))
        if self.next.kind is Kind.NUM and self.tokens[self.position + 1].text == "'":
            minutes = self.number()
            self.take()
            return Op("degree", (Op("add", (node, Op("div", (minutes, Num(Fraction(60)))))),))
        return whole

    def group_or_token(self) -> Node:
        """A group in braces, or the single token that LaTeX takes in its place."""
        if self.accept("{"):
            node = self.listing()
            self.expect("}")
            return node
        return self.atom()

    def atom(self) -> Node:
        """A number, a symbol, a word, a group or a command with its arguments."""
        kind, text, _ = self.next
        if kind is Kind.NUM:
            return self.mixed_number()
        if kind is Kind.LETTERS:
            return Const("e") if self.take().text == "e" else Sym(text)
        if kind is Kind.TEXT:
            return self.words()
        if kind is Kind.END or text not in self.commands:
            raise UnreadError(f"{text or 'the end'!r} is not the beginning of a value")
        self.take()
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadError("nested too deep")
        node = self.commands[text](self)
        self.depth -= 1
        return node

    def words(self) -> Node:
        """Words up to the next separator or formula.

        Raises:
            UnreadError: there are none.
        """
        found = []
        while self.next.kind is Kind.TEXT and self.next.text not in SEPARATORS:
            found.append(self.take().text)
        if not found:
            raise UnreadError(f"{self.next.text!r} is no value")
        text = " ".join(found).casefold().strip(" .:")
        if text in INFINITE:
            return Const("oo")
        return self.power() if text in LEADING and self.next.kind is not Kind.END else Words(text)


def _joined(parts: list[Node], signs: list[str | None]) -> Node:
    """A list of what stands between separators; with both semicolons and commas, a list of lists.

    ``signs`` are the separators before each part.
    """
    if any(sign == "for" and not isinstance(part, Rel) for sign, part in zip(signs, parts, strict=True)):
        raise UnreadError("for something else than a condition")
    if len(parts) == 1:
        return parts[0]
    if ";" in signs and ("," in signs or "and" in signs):
        groups: list[list[Node]] = []
        for sign, part in zip(signs, parts, strict=True):
            if sign in (",", "and") and groups:
                groups[-1].append(part)
            else:
                groups.append([part])
        parts = [group[0] if len(group) == 1 else Items("list", tuple(group)) for group in groups]
    if "and" in signs and all(isinstance(part, Rel) and part.signs[0] in INEQUALITIES for part in parts):
        return Op("cap", tuple(parts))
    return Items("or" if "or" in signs else "list", tuple(parts))


def _signed(sign: str, node: Node) -> Node:
    """``node`` under a sign; that of a value with a unit is the value's."""
    return Unit(Op(sign, (node.value,)), node.unit) if isinstance(node, Unit) else Op(sign, (node,))


def _with_unit(node: Node, unit: str) -> Node:
    if unit in DEGREE_WORDS:
        return Op("degree", (node,))
    return Op("percent", (node,)) if unit in PERCENT_WORDS else Unit(node, unit)


def _with_subscript(node: Node, subscript: str) -> Node:
    if isinstance(node, Sym):
        return Sym(f"{node.name}_{subscript}")
    if isinstance(node, Num):
        return node if subscript == "10" else Op("base", (node, Sym(subscript)))
    raise UnreadError("a subscript that is neither a variable's nor a base")


def _name_of(node: Node) -> str:
    """A short text of a subscript or of a unit's power, the same for the same node."""
    if isinstance(node, Num):
        return str(node.value)
    if isinstance(node, Sym):
        return node.name
    if isinstance(node, Words):
        return node.text
    return repr(node)
