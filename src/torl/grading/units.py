"""Units and what they measure. What is not in the table is a thing that is counted, known by its name alone."""

from fractions import Fraction
from typing import NamedTuple

from torl.grading.expressions import names

MULTIPLIERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
CHANGE_MEANING = frozenset(
    names(
        "and or more less least most at not no than over under up above below about between before after plus minus times "
        "mod modulo where if for when except only each half twice double squared cubed factorial root of with without but "
        "because since is are was be unless otherwise to from if any all"
    )
)
"""Words behind a value that make another value of it: it has no unit then, and is not read."""


class Measure(NamedTuple):
    """What a unit measures and how much of it."""

    kind: str
    factor: Fraction


_TABLE = {
    "length": "m meter meters metre metres=1; cm centimeter centimeters centimetre centimetres=1/100; mm millimeter "
    "millimeters=1/1000; km kilometer kilometers kilometre kilometres=1000; dm=1/10; in inch inches=254/10000; "
    "ft foot feet=3048/10000; yd yard yards=9144/10000; mi mile miles=1609344/1000",
    "time": "s sec secs second seconds=1; min mins minute minutes=60; h hr hrs hour hours=3600; day days=86400; "
    "week weeks=604800; ms=1/1000",
    "mass": "g gram grams=1; kg kilogram kilograms=1000; mg=1/1000; t ton tons tonne tonnes=1000000; "
    "lb lbs pound pounds=45359237/100000; oz ounce ounces=45359237/1600000",
    "volume": "l liter liters litre litres=1; ml milliliter milliliters=1/1000; gallon gallons=1; ",
    "angle": "degree degrees deg=1",
    "money": "dollar dollars usd=1; cent cents=1/100",
    "energy": "j joule joules=1; kj=1000; ev=1602176634/10000000000000000000000000000",
    "frequency": "hz hertz=1; khz=1000; mhz=1000000",
    "power": "w watt watts=1; kw=1000",
    "force": "n newton newtons=1",
    "speed": "mph=1; m/s=1; km/h kmh kph=1; miles per hour=1",
    "information": "bit bits=1; byte bytes=8",
    "temperature": "k kelvin=1",
    "amount": "mol mole moles=1",
    "things": "cup cups=1; men=1; pcs pieces=1; yen=1; box boxes=1",
}


def _measures() -> dict[str, Measure]:
    found = {}
    for kind, text in _TABLE.items():
        for entry in filter(None, map(str.strip, text.split(";"))):
            spellings, factor = entry.split("=")
            # a speed or gallon is comparable with its own spellings alone
            own = f"{kind} {spellings}" if kind in ("speed", "things") or "gallon" in spellings else kind
            units = [spellings] if "per" in spellings else spellings.split()
            found |= dict.fromkeys(units, Measure(own, Fraction(factor)))
    return found


MEASURES = _measures()
PERCENT_WORDS = frozenset(("percent", "pct"))
DEGREE_WORDS = frozenset(("degree", "degrees", "deg"))
UNIT_WORDS = frozenset(MEASURES) | frozenset(MULTIPLIERS) | PERCENT_WORDS


def measure_of(unit: str) -> Measure:
    """What ``unit`` (lower case) measures; powers such as ``cm^2``, ``square cm`` and ``sq cm`` included."""
    words = unit.replace(".", "").split()
    power = 1
    if words and words[0] in ("square", "sq", "cubic", "cu"):
        power = 2 if words[0] in ("square", "sq") else 3
        words = words[1:]
    name = " ".join(words)
    base, _, exponent = name.partition("^")
    if base.strip() in MEASURES and exponent.isdigit():
        name, power = base.strip(), int(exponent)
    if name not in MEASURES:
        return Measure(_singular(unit), Fraction(1))
    kind, factor = MEASURES[name]
    return Measure(kind if power == 1 else f"{kind}^{power}", factor**power)


def _singular(thing: str) -> str:
    return " ".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in thing.split())
