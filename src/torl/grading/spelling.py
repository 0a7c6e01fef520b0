r"""One spelling for what LaTeX, plain text and Unicode write in many ways, cut into tokens.

What carries no meaning is dropped: layout commands, spacing, fonts, delimiters of mathematics. Words stay, as tokens of
their own.
"""

import re
import unicodedata
from enum import Enum, auto
from typing import NamedTuple

from torl.grading.expressions import UnreadError, names

LONGEST = 4000  # characters; longer "answers" are not read

UNICODE = {
    "−": "-", "–": "-", "—": "-", "×": r"\cdot ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": r"\div ", "∕": "/",
    "≤": r"\le ", "⩽": r"\le ", "≦": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≧": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
    "∞": r"\infty ", "π": r"\pi ", "√": r"\sqrt ", "°": r"^\circ ", "∘": r"\circ ", "∪": r"\cup ", "∩": r"\cap ",
    "∈": r"\in ", "±": r"\pm ", "∓": r"\mp ", "∅": r"\emptyset ", "′": "'", "’": "'", "″": "''", "∶": ":", "、": ",",
    "⟨": r"\langle ", "⟩": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ",
    "∀": r"\forall ", "∃": r"\exists ", "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}", "\u00a0": " ", "\u200b": "", "\t": " ", "\n": " ", "\r": " ",
}  # fmt: skip
UNICODE |= {
    unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}"): rf"\{name} "
    for name in names(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi rho sigma tau phi chi psi omega"
    )
}
UNICODE |= {mark: f"^{{{digit}}}" for digit, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
UNICODE |= {mark: f"_{{{digit}}}" for digit, mark in enumerate("₀₁₂₃₄₅₆₇₈₉")}
TRANSLATED = str.maketrans(UNICODE)

LAYOUT = re.compile(
    r"\\(?:left|right)(?![A-Za-z])\.?|\\(?:[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|quad|qquad"
    r"|nonumber|bf|rm|it)(?![A-Za-z])|\\(?:hspace|phantom)\s*\{[^{}]*\}|(?<!\\)\\[,;: >/]|~|&nbsp;"
)
DOUBLED = re.compile(
    r"\\\\(?=(?:[bB]igg?[lr]?|[dtc]?frac|sqrt|pi|left|right|infty|text|cdot|times|[lg]eq?|cup|circ|pm|sin|cos)(?![a-z]))"
)
SHORT_FRACTION = re.compile(r"\\[dtc]?frac\s*(\d)\s*(\d)")
HTML = ((re.compile(r"<sup>(.*?)</sup>"), r"^{\1}"), (re.compile(r"<sub>(.*?)</sub>"), r"_{\1}"))
PRICE = re.compile(
    r"(?:\\\$|US\$|\\textdollar(?![A-Za-z]))\s*(\d(?:[\d.]|,(?=\d{3})|\{,\})*)(?=\s*(?:$|[,;$]|and\b|\\text))"
)
THOUSANDS = re.compile(r"(?<=\d)\s*,\s*\\!\s*(?=\d{3})")
SPACED_GROUP = re.compile(r"(?<=\d)\s*\{\s*,\s*\}\s*(?=\d{3})")
NO_SPACE = re.compile(r"\\!|\\null|\\hfill")
MATH_MARKS = re.compile(r"\\[()\[\]](?!\d*\.?\d*(?:pt|em|ex)\])|\$")
CURRENCY = re.compile(r"\\\$|[€£]|\\text(?:dollar|euro)|US\$")
UNIT_IN_BRACKETS = re.compile(r"(?<=[\w}])\s*\(\s*(\\(?:text|mathrm)\s*\{[^{}]*\})\s*\)$")
DOMAIN = re.compile(r"\(\s*([A-Za-z])\s*\\in\b\s*([^()]*?)\s*\)")  # "(k \\in Z)" behind a value
SIGNS = {"<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "=<": r"\le ", ":=": "=", "**": "^"}
SIGN = re.compile("|".join(map(re.escape, SIGNS)))
STRAY_DOT = re.compile(r"(?<=[\w})])\.(?=\s*[\])])")
END = re.compile(r"(?:(?<!\.)\.|[\s,;:^])+$|^[\s,;:]+")
GOES_ON = re.compile(r"([-+]?\d+\.\d+)(?:\.{2,}|…|\\[lc]?dots)")
DOTS = re.compile(r"(?<!\.)\.{2,}$|\.{3}|\\[lcv]?dots[bcim]?(?![A-Za-z])|…")
LOST_BACKSLASH = re.compile(
    r"[\x07\x08\x0b\x0c]|\t(?:ext|imes|heta|frac|an\b)|\r(?:ight|ho\b)|(?<![A-Za-z\\])(?:rac|oxed)\{"
)
"""What becomes of commands whose backslash was taken for an escape: the letters that are left mean something else."""
CIRCLED = re.compile("[①-⑳]")

NAMES = r"text|textbf|textit|textnormal|textrm|textsf|mathrm|mathsf|mathbf|mathit|mathcal|boldsymbol|bm|mbox|hbox|rm"
TOKEN = re.compile(
    rf"\s*(?:(?P<num>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?)"
    rf"|\\(?P<font>{NAMES}|operatorname)\*?\s*\{{(?P<text>[^{{}}]*)\}}"
    r"|(?P<command>\\[A-Za-z]+|\\.)|(?P<word>[^\W\d_]+)|(?P<sign>\S))"
)
GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,|\{,\})\d{3})+(?![\d,])|(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d,])")
SURE_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:\{,\}\d{3})+(?!\d)")
BRACKETS = re.compile(r"[(\[]|\\\{|\\langle")


class Kind(Enum):
    """What a token is."""

    NUM = auto()
    """A number without sign."""
    LETTERS = auto()
    """A run of letters outside commands."""
    TEXT = auto()
    """The content of a text command."""
    COMMAND = auto()
    """A command, or an escaped sign, with its backslash."""
    SIGN = auto()
    """Any other character."""
    END = auto()
    """After the last one."""


class Token(NamedTuple):
    """A piece of an answer."""

    kind: Kind
    text: str
    spaced: bool
    """Whether a blank stands before it."""


def plain(answer: str) -> str:
    """``answer`` in one spelling, still as text: no layout, no delimiters, Unicode signs as commands."""
    text = unicodedata.normalize("NFKC", answer.translate(TRANSLATED)).translate(TRANSLATED)
    for pattern, replacement in HTML:
        text = pattern.sub(replacement, text)
    text = THOUSANDS.sub("{,}", DOUBLED.sub(r"\\", text))
    text = NO_SPACE.sub("", CURRENCY.sub(" ", PRICE.sub(r"\1 \\text{dollars}", text)))
    text = SPACED_GROUP.sub("{,}", text)
    text = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", text)
    text = STRAY_DOT.sub("", MATH_MARKS.sub(" ", LAYOUT.sub(" ", text)))
    text = UNIT_IN_BRACKETS.sub(r" \1", text)
    text = DOMAIN.sub(r", \1 \\in \2", text)
    text = END.sub("", SIGN.sub(lambda match: SIGNS[match[0]], text)).strip()
    decimal = GOES_ON.fullmatch(text)
    return decimal[1] if decimal else text


def ungrouped(text: str) -> str:
    """``text`` with the thousands of its numbers written together: ``1,440`` as ``1440``.

    Within brackets and beside other commas, a comma may as well separate two numbers: only ``{,}`` counts there.
    """
    text = SURE_GROUPS.sub(lambda match: match[0].replace("{,}", ""), text)
    if BRACKETS.search(text):
        return text
    return GROUPED.sub(lambda match: re.sub(r"[,{} ]", "", match[0]), text)


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text in one spelling.

    Raises:
        UnreadError: it is too long, or goes on after dots nobody knows how.
    """
    if len(text) > LONGEST:
        raise UnreadError("too long")
    if DOTS.search(text):
        raise UnreadError("dots")
    tokens, position = [], 0
    while match := TOKEN.match(text, position):
        tokens.append(_token(match))
        position = match.end()
    return [*tokens, Token(Kind.END, "", False)]


def _token(match: re.Match[str]) -> Token:
    spaced = match[0][:1].isspace()
    if match["num"] is not None:
        return Token(Kind.NUM, match["num"], spaced)
    if match["text"] is not None:
        return Token(Kind.TEXT, match["text"].replace("~", " ").strip(), spaced)
    if match["word"] is not None:
        return Token(Kind.LETTERS, match["word"], spaced)
    if match["command"] is not None:
        return Token(Kind.COMMAND, match["command"], spaced)
    return Token(Kind.SIGN, match["sign"], spaced)
