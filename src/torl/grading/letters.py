"""What a run of letters is: a function, a constant, a unit, a word, something between two answers, or a product of symbols."""

import re

from torl.grading.expressions import UnreadError, names
from torl.grading.spelling import Kind, Token
from torl.grading.units import UNIT_WORDS

SEPARATORS = {",": ",", ";": ";", "and": "and", "or": "or", "&": ","}
QUANTIFIERS = {"for", "where", "with", "all", "any", "every", r"\forall"}
SEPARATORS |= dict.fromkeys(QUANTIFIERS, "for")
SHORT_WORDS = names("is the yes no not for all any if are of to in on by we so")
CONSTANTS = {"pi": r"\pi", "inf": r"\infty", "infty": r"\infty", "infinity": r"\infty", "oo": r"\infty"}
PLAIN_FUNCTIONS = names(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp sqrt min max gcd lcm floor ceil"
)
ORDINAL = {"st", "nd", "rd", "th"}


def split_words(tokens: list[Token]) -> list[Token]:
    """``tokens`` with runs of letters as functions, units, words, separators or the symbols that are multiplied."""
    result: list[Token] = []
    for token in tokens:
        if token.kind is Kind.TEXT:
            result += _text_tokens(token, result[-1] if result else None)
        elif token.kind is Kind.LETTERS:
            result += _letter_tokens(token, result[-1] if result else None)
        else:
            result.append(token)
    return result


def _letter_tokens(token: Token, before: Token | None) -> list[Token]:
    text = token.text
    lower = text.casefold()
    if text in PLAIN_FUNCTIONS and not (text in UNIT_WORDS and before is not None and before.kind is Kind.NUM):
        return [Token(Kind.COMMAND, f"\\{text}", token.spaced)]
    if lower in CONSTANTS:
        return [Token(Kind.COMMAND, CONSTANTS[lower], token.spaced)]
    if lower in SEPARATORS:
        return [Token(Kind.TEXT, lower, token.spaced)]
    if not text.isascii():
        return [Token(Kind.TEXT, lower, token.spaced)]
    if len(text) == 1:
        return [token]
    after_value = before is not None and (before.kind in (Kind.NUM, Kind.TEXT) or before.text in ("/", ")", "}"))
    is_word = len(text) > 3 or lower in ORDINAL or (lower in SHORT_WORDS and not text.isupper())
    if is_word or (after_value and lower in UNIT_WORDS):
        return [Token(Kind.TEXT, lower, token.spaced)]
    return [token._replace(text=letter) for letter in text]


def _text_tokens(token: Token, before: Token | None) -> list[Token]:
    """The words of a text command: names of functions and single letters are mathematics, "and" and "or" separate."""
    text = token.text.strip()
    if text in PLAIN_FUNCTIONS and text not in UNIT_WORDS:
        return [Token(Kind.COMMAND, f"\\{text}", True)]
    if before is not None and before.kind is Kind.NUM and len(text) == 1:
        return [Token(Kind.TEXT, text.casefold(), True)]
    if (letter := re.fullmatch(r"\(?([A-Za-z])\)?", text)) and text not in UNIT_WORDS:
        return [Token(Kind.LETTERS, letter[1], True)]
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return [Token(Kind.NUM, text, True)]
    if re.search(r"\d", text):
        raise UnreadError("numbers within a text")
    words = re.findall(r"[,;]|[^\s,;]+", text)
    return [Token(Kind.TEXT, word.casefold(), True) for word in words]
