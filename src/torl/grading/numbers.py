"""Plain numbers, read exactly: integers, decimals, fractions, mixed numbers, percentages."""

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = 1000  # longer ones are compared as text; Python refuses to read more than 4300
DIGITS = r"[1-9]\d{0,2}(?:(?:,|\{,\}| )\d{3})+|\d+"
DECIMAL = re.compile(rf"([+-]?)({DIGITS})?(?:\.(\d*))?(\\?%|percent|pct)?")
FRACTION = re.compile(r"([+-]?)(\d+)?\\frac\{([+-]?\d+)\}\{([+-]?\d+)\}|([+-]?\d+)/(\d+)")
DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)")
SEPARATORS = re.compile(r"[,{} ]")


@dataclass(frozen=True, kw_only=True)
class Number:
    """An exact value and how it was written."""

    value: Fraction
    places: int | None
    """Digits after the point; None for a fraction."""
    percent: bool = False

    @property
    def share(self) -> "Number":
        """The value of a percentage as a plain number; any other number as it is."""
        if not self.percent or self.places is None:
            return self
        return Number(value=self.value / 100, places=self.places + 2)

    def rounds_to(self, other: "Number", *, least_places: int) -> bool:
        """Whether ``other``, a decimal of at least ``least_places`` places, is this number rounded."""
        places = other.places
        if places is None or places < least_places or (self.places is not None and self.places <= places):
            return False
        return abs(self.value - other.value) <= Fraction(1, 2 * 10**places)


def read_number(text: str) -> Number | None:
    """The number that ``text`` (in normal spelling) is; None for anything else."""
    if len(text) > MAX_DIGITS:
        return None
    return _read_decimal(text) or _read_fraction(text)


def read_decimal_comma(text: str) -> Number | None:
    """The number that ``text`` is when its comma is a decimal point."""
    match = DECIMAL_COMMA.fullmatch(text)
    return read_number(f"{match[1]}.{match[2]}") if match and len(text) <= MAX_DIGITS else None


def _read_decimal(text: str) -> Number | None:
    match = DECIMAL.fullmatch(text)
    if not match or not (match[2] or match[3]):
        return None
    whole, part = SEPARATORS.sub("", match[2] or ""), match[3] or ""
    value = Fraction(int(whole + part), 10 ** len(part))
    return Number(value=-value if match[1] == "-" else value, places=len(part), percent=bool(match[4]))


def _read_fraction(text: str) -> Number | None:
    match = FRACTION.fullmatch(text)
    if not match:
        return None
    sign, whole, above, below, plain_above, plain_below = match.groups()
    above, below = int(above or plain_above), int(below or plain_below)
    if below == 0 or (whole and (above < 0 or below < 0)):
        return None
    value = int(whole or 0) + Fraction(above, below)
    return Number(value=-value if sign == "-" else value, places=None)
