"""Seeded problems in short plain English, with splits that cannot overlap.

A fact belongs to one split by a hash of itself, so no seed, wording or count can put an evaluation question into the
corpus or among the prompts of reinforcement learning.
"""

from collections.abc import Iterator
from random import Random

from torl.errors import ConfigError
from torl.files import stable_seed
from torl.problems.schema import Problem, problem_id
from torl.scale_model.families import COMPUTING, FAMILIES, READING, READING_SHARE, Fact, Family, Level, Split, split_of

MAX_DRAWS = 500
"""Draws in a row without a new question after which a family counts as used up."""


def draw_fact(random: Random, split: Split, level: Level, family: Family) -> Fact:
    """One fact of ``family`` that belongs to ``split``; the same fact may come again."""
    while True:
        values = family.draw(random, level)
        if split_of(family, values) is split:
            return Fact(family=family.name, level=level, values=values)


def draw_family(random: Random) -> Family:
    """A family, one that code does not help with at ``READING_SHARE``."""
    return random.choice(READING if random.random() < READING_SHARE else COMPUTING)


def draw_question(random: Random, fact: Fact) -> tuple[str, float]:
    """A wording of ``fact``, and the share of code that the corpus has under it."""
    family = FAMILIES[fact.family]
    phrasing = random.choice(family.phrasings)
    return phrasing.template.format(**family.fields(fact.values)), phrasing.code_share


def generate(split: Split | str, count: int, seed: int) -> list[Problem]:
    """``count`` different questions of a split, every second one hard; the same for the same arguments.

    Raises:
        ConfigError: there is no such split, or it does not hold that many different questions.
    """
    if split not in list(Split):
        raise ConfigError(f"split is {split!r}; choose one of {', '.join(Split)}.")
    random = Random(stable_seed("problems", split, seed))
    return [as_problem(fact, text, seed) for fact, text in questions(random, Split(split), count)]


def questions(random: Random, split: Split, count: int) -> Iterator[tuple[Fact, str]]:
    """``count`` facts of a split with a wording each, no wording twice, families in their shares.

    Raises:
        ConfigError: a family of the split has no new question left.
    """
    seen: set[str] = set()
    for index in range(count):
        family, level = draw_family(random), (Level.EASY, Level.HARD)[index % 2]
        for _ in range(MAX_DRAWS):
            fact = draw_fact(random, split, level, family)
            text, _ = draw_question(random, fact)
            if text not in seen:
                break
        else:
            raise ConfigError(
                f"{count} problems are asked of the split {split}, but {family.name} has no new {level} question after "
                f"{index} problems; ask for at most that many."
            )
        seen.add(text)
        yield fact, text


def as_problem(fact: Fact, text: str, seed: int) -> Problem:
    """The row of a question."""
    family = FAMILIES[fact.family]
    answer = family.answer(fact.values)
    steps = family.worked(fact.values)
    return Problem(
        id=problem_id(text),
        source="generated",
        subset=fact.family,
        text=text,
        answer=str(answer),
        solution=f"{steps}. So \\boxed{{{answer}}}." if steps else f"\\boxed{{{answer}}}.",
        level=str(fact.level),
        origin=f"seed {seed}",
    )
