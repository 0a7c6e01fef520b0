"""The families of generated problems, and their shares among the problems of a split.

Differs from ToRL: no competition problems; seven families in which a program computes the answer and four in which it
does not.
"""

from torl.scale_model.families.arithmetic import Addition, LinearEquation, Multiplication, RangeSum
from torl.scale_model.families.base import Fact, Family, Level, Phrasing, Split, Values, split_of
from torl.scale_model.families.number_theory import DivisorCount, GreatestCommonDivisor, ModularPower
from torl.scale_model.families.reading import Lookup, NumberWords, Position, TwoStepLookup

COMPUTING = (
    Addition(),
    Multiplication(),
    ModularPower(),
    RangeSum(),
    GreatestCommonDivisor(),
    DivisorCount(),
    LinearEquation(),
)
READING = (Lookup(), TwoStepLookup(), Position(), NumberWords())
FAMILIES = {family.name: family for family in (*COMPUTING, *READING)}

READING_SHARE = 0.23
"""Share of the problems that code does not help with: a good policy's code ratio settles near 1 minus this."""

__all__ = [
    "COMPUTING",
    "FAMILIES",
    "READING",
    "READING_SHARE",
    "Fact",
    "Family",
    "Level",
    "Phrasing",
    "Split",
    "Values",
    "split_of",
]
