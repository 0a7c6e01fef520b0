"""The rules by which two differently written answers may be equal; each can be switched off by its name.

What the rules say in full, with what they must not accept, is in ``docs/grading.md``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from torl.enums import ExplainedEnum
from torl.errors import ConfigError


class Rule(ExplainedEnum):
    """A convention that is not plain equality of values. A grade names the last one that was needed."""

    ROUNDED_GOLD = (
        "rounded_gold",
        "An answer may be more exact than a gold decimal of two places or more: 12.55, 640/51.",
    )
    CUT_OFF_GOLD = "cut_off_gold", "A gold decimal of three places or more may be cut off instead of rounded."
    ROUNDED_ANSWER = "rounded_answer", "An answer of six places or more may be the exact gold rounded: 1/12, 0.083333."
    PERCENT = "percent", "With a percent sign on one side alone, 10 % is 10 or 0.1."
    UNITS = "units", "A unit, or what is counted, may be left out on one side; two units must measure the same."
    DEGREES = "degrees_and_radians", "With a degree sign on one side and pi on the other, 180 degrees are pi."
    DECIMAL_COMMA = "decimal_comma", "1000,99 is 1000.99 where the other side writes the point."
    NAMED = "named_value", "name = value is the value where the other side names nothing."
    DOMAIN = "without_domain", "Where a variable comes from, k in Z, may be said on one side alone."
    LAST_OF_CHAIN = "last_of_chain", "The value of a = b = c is the last, of a = b ≈ c the last before the sign."
    SOLVED = "solved_equation", "An equation linear in a variable is that variable's value where the other side is one."
    RENAMED = (
        "renamed_variable",
        "The argument of a named function, a period's integer or the case of a constant may differ.",
    )
    EQUATIONS = (
        "same_equation",
        "Equations and inequalities are equal up to a constant factor (a negative one turns < round).",
    )
    ORDER = "any_order", "The order of a list or set does not matter; that of a tuple, vector or of named values does."
    ORDERING = "ordering", "a < b < c is the list a, b, c in that order."
    BRACKETS = (
        "without_brackets",
        "A tuple may stand without brackets, in its order; not a rising pair, which may be an interval.",
    )
    VECTOR = "vector_and_tuple", "A row, a column and a tuple of the same entries are equal."
    INTERVAL = (
        "set_by_condition",
        "An inequality, a set with a condition and an interval are equal where they hold the same.",
    )
    PLUS_MINUS = "plus_minus", "a ± b is the list of both values."
    RATIO = "ratio", "a : b is the quotient a/b; longer ratios are equal up to a factor."
    CIRCLED = "circled_numbers", "Circled numbers, and (1)(3), are a list of numbers."
    COMMON_DOMAIN = "common_domain", "Expressions are equal where they agree wherever both are real, at several points."
    SENTENCE = "in_a_sentence", "In a sentence the last box, else the last formula, else the last number is the answer."


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Which rules apply."""

    without: frozenset[Rule] = field(default_factory=frozenset)
    """Rules that are switched off."""

    def allows(self, rule: Rule) -> bool:
        """Whether ``rule`` is on."""
        return rule not in self.without

    @classmethod
    def from_names(cls, names: Iterable[str]) -> "Policy":
        """The policy without the rules named.

        Raises:
            ConfigError: a name is not that of a rule.
        """
        names = list(names)
        unknown = sorted(set(names) - set(Rule))
        if unknown:
            raise ConfigError(f"grading rule {unknown[0]!r} is not known; switch off one of {', '.join(Rule)}.")
        return cls(without=frozenset(map(Rule, names)))
