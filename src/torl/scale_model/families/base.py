"""What a family of problems is: it draws facts, words them, answers them, and knows ways to solve and to spoil them.

A *fact* is a family with its parameters, whatever the wording. Splits are made of facts, so a held-out problem is not in
the corpus in other words either. What is held out are questions: a step of a worked solution, such as 7*8=56 or 27+8=35,
may occur in every split.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import NamedTuple

from torl.files import stable_seed


class Level(StrEnum):
    """How hard a problem is. Each problem has exactly one."""

    EASY = "easy"
    """A worked solution in plain language fits in the response."""
    HARD = "hard"
    """Numbers too large for plain language, or more to read than at the easy level."""


class Split(StrEnum):
    """Which part of a run may see a fact. Each fact has exactly one."""

    CORPUS = "corpus"
    """The base model is pretrained on it."""
    TRAIN = "train"
    """Reinforcement learning prompts with it."""
    TEST = "test"
    """Evaluation alone."""


class Phrasing(NamedTuple):
    """One wording of a family's question."""

    template: str
    """A format string over the fields that ``Family.fields`` returns."""
    code_share: float
    """Share of the corpus documents with this wording, under the prompt with programs, that write code."""


Values = tuple[int | str, ...]
"""The parameters of a fact, in the order in which its question names them."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One question of a family, independent of its wording."""

    family: str
    level: Level
    values: Values


class Family(ABC):
    """A family of problems. Subclasses are stateless; every random choice comes from the ``Random`` passed in."""

    name: str
    """Identifier, also the ``subset`` of its problems."""
    code_helps: bool
    """Whether the code that the corpus holds for this family computes the answer."""
    phrasings: tuple[Phrasing, ...]

    @abstractmethod
    def draw(self, random: Random, level: Level) -> Values:
        """Parameters of one fact."""

    @abstractmethod
    def answer(self, values: Values) -> int:
        """The only right answer."""

    @abstractmethod
    def fields(self, values: Values) -> dict[str, int | str]:
        """What the templates of ``phrasings`` are filled with."""

    @abstractmethod
    def worked(self, values: Values) -> str | None:
        """Steps in plain language that lead to the answer; None where they do not fit in a response."""

    @abstractmethod
    def right_code(self, values: Values) -> tuple[str, ...]:
        """Snippets that print the answer; empty where code does not help."""

    @abstractmethod
    def wrong_code(self, values: Values) -> tuple[str, ...]:
        """Snippets that run and print something else."""

    def raising_code(self, values: Values) -> tuple[str, ...]:
        """Snippets that end in an exception: by default the ways to spoil a right one that any family has."""
        return tuple(spoiled for code in self.right_code(values) for spoiled in spoil(code))

    def guesses(self, values: Values) -> tuple[int, ...]:
        """Wrong answers that a hasty reader gives."""
        answer = self.answer(values)
        return tuple(guess for guess in (answer + 1, answer - 1, answer + 2, answer + 10, answer - 10) if guess > 0)

    def canonical(self, values: Values) -> Values:
        """What decides on the split: the same for two facts that ask the same thing."""
        return values

    def practice(self, values: Values) -> list[Values]:
        """Facts about the same text as ``values``, itself included, all of one split."""
        return [values]


def spoil(code: str) -> tuple[str, str]:
    """A right snippet without its last parenthesis, and the same one printing a name that it never set."""
    lines = code.splitlines()
    return code.removesuffix(")"), "\n".join([*lines[:-1], "print(result)"])


def split_of(family: Family, values: Values) -> Split:
    """The split that a fact belongs to: a function of the fact alone, whatever the seed, level and wording."""
    bucket = stable_seed("split", family.name, *family.canonical(values)) % 10
    return Split.CORPUS if bucket < 6 else Split.TRAIN if bucket < 8 else Split.TEST
