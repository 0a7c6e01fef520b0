"""Seeded problems in short plain English, with splits that cannot overlap.

A fact belongs to one split by a hash of itself, so no seed, wording or count can put an evaluation question into the corpus or
among the prompts of reinforcement learning.
"""

from collections.abc import Iterator
from random import Random

from torl.errors import ConfigError
from torl.files import stable_seed
from torl.problems.schema import Problem, problem_id
from torl.scale_model.families import COMPUTING, FAMILIES, READING, READING_SHARE, Fact, Family, Level, Split, split_of

MAX_DRAWS = 2_000
"""Draws in a row that bring no new fact before a split counts as used up."""


def draw_fact(random: Random, split: Split, level: Level, family: Family) -> Fact:
    """One fact of ``family`` that belongs to ``split``; the same fact may come again."""
    while True:
        values = family.draw(random, level)
        if split_of(family, values) is split:
            return Fact(family=family.name, level=level, values=values)


def draw_family(random: Random) -> Family:
    """A family, one that code does not help with at ``READING_SHARE``."""
    return random.choice(READING if random.random() < READING_SHARE else COMPUTING)


def wording(fact: Fact, phrasing: int) -> str:
    """The question of ``fact`` in one of its family's phrasings."""
    family = FAMILIES[fact.family]
    return family.phrasings[phrasing].template.format(**family.fields(fact.values))


def distinct_facts(random: Random, split: Split, count: int) -> Iterator[Fact]:
    """``count`` different facts, half of them hard, families in their shares.

    Raises:
        ConfigError: the split does not hold that many different facts.
    """
    seen = set()
    for index in range(count):
        level = (Level.EASY, Level.HARD)[index % 2]
        for _ in range(MAX_DRAWS):
            family = draw_family(random)
            fact = draw_fact(random, split, level, family)
            key = (family.name, family.canonical(fact.values))
            if key not in seen:
                break
        else:
            raise ConfigError(
                f"problems asked of the split {split} are {count}, but no new {level} one was found after {index}; ask for fewer."
            )
        seen.add(key)
        yield fact


def generate(split: Split | str, count: int, seed: int) -> list[Problem]:
    """``count`` different problems of a split, the same for the same arguments.

    Raises:
        ConfigError: there is no such split, or it does not hold that many different problems.
    """
    if split not in list(Split):
        raise ConfigError(f"split is {split!r}; choose one of {', '.join(Split)}.")
    random = Random(stable_seed("problems", split, seed))
    facts = distinct_facts(random, Split(split), count)
    return [as_problem(fact, random.randrange(len(FAMILIES[fact.family].phrasings)), seed) for fact in facts]


def as_problem(fact: Fact, phrasing: int, seed: int) -> Problem:
    """The row of a fact in one wording."""
    family = FAMILIES[fact.family]
    text = wording(fact, phrasing)
    answer = str(family.answer(fact.values))
    steps = family.worked(fact.values)
    return Problem(
        id=problem_id(text),
        source="generated",
        subset=fact.family,
        text=text,
        answer=answer,
        solution=f"{steps}. So \\boxed{{{answer}}}." if steps else f"\\boxed{{{answer}}}",
        level=str(fact.level),
        origin=f"seed {seed}",
    )
