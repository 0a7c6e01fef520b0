"""A place in the tokens of an answer, and the numbers read there."""

import re
from fractions import Fraction

from torl.grading.expressions import Num, TooLargeError, UnreadError
from torl.grading.spelling import Kind, Token

MOST_DIGITS = 1000
MIXED = re.compile(r"\\[dtc]?frac \{ (\d+) \} \{ (\d+) \}|(\d+) / (\d+)(?! \^)")


class Cursor:
    """Moves over tokens; the last one is ``Kind.END``."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def next(self) -> Token:
        """The token to be read."""
        return self.tokens[self.position]

    def take(self) -> Token:
        """Read one token; the end is read again and again."""
        token = self.tokens[self.position]
        self.position += token.kind is not Kind.END
        return token

    def accept(self, *texts: str) -> str | None:
        """Read the next token if it is one of ``texts``."""
        if self.next.kind in (Kind.SIGN, Kind.COMMAND) and self.next.text in texts:
            return self.take().text
        return None

    def expect(self, *texts: str) -> str:
        """Read one of ``texts``.

        Raises:
            UnreadError: something else comes next.
        """
        found = self.accept(*texts)
        if found is None:
            raise UnreadError(f"{self.next.text!r} instead of {' or '.join(texts)}")
        return found

    def number(self) -> Num:
        """One number; the digits under a line behind it repeat for ever."""
        text = self.take().text
        if len(text) > MOST_DIGITS:
            raise TooLargeError("too many digits")
        mantissa, _, exponent = text.lower().partition("e")
        whole, point, part = mantissa.partition(".")
        power = int(exponent or 0)
        if abs(power) > MOST_DIGITS:
            raise TooLargeError("too large")
        value = Fraction(int(whole + part), 10 ** len(part)) * Fraction(10) ** power
        if point and not exponent and self.accept(r"\overline"):
            return Num(value + self.repeating() / 10 ** len(part))
        return Num(value, len(part) if point else None, power)

    def repeating(self) -> Fraction:
        """The value of digits that repeat behind the point."""
        self.expect("{")
        digits = self.take().text
        self.expect("}")
        if not digits.isdigit() or len(digits) > MOST_DIGITS:
            raise UnreadError("a line over something else than digits")
        return Fraction(int(digits), 10 ** len(digits) - 1)

    def mixed_number(self) -> Num:
        """A number; with a proper fraction of whole numbers behind it, their sum."""
        number = self.number()
        if number.places is not None:
            return number
        following = [token.text for token in self.tokens[self.position : self.position + 7]]
        match = MIXED.match(" ".join(following))
        if not match or (self.next.text.isdigit() and not self.next.spaced):
            return number
        above, below = int(match[1] or match[3]), int(match[2] or match[4])
        if not 0 < above < below:
            return number
        self.position += 7 if match[1] else 3
        return Num(number.value + Fraction(above, below))
