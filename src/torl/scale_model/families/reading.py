"""Families where code does not help: the answer stands in the text and has to be found.

The snippets that the corpus holds for them compute with the numbers of the text instead of reading it, or use words of
the text as names, so that a response with code is nearly always wrong and careful reading nearly always right.
"""

from random import Random

from torl.scale_model.families.base import Family, Level, Phrasing, Values

NAMES = ("Ann", "Bob", "Tom", "Eva", "Max", "Lea", "Sam", "Ida")
COLOURS = ("red", "blue", "green", "black", "white")
THINGS = ("apples", "pens", "coins", "books")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def join(parts: list[str]) -> str:
    """An enumeration in English without the comma before its last part."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]])


class ReadingFamily(Family):
    """What the families of this module share: no right snippet, and the numbers of the text as hasty answers."""

    code_helps = False

    def numbers(self, values: Values) -> tuple[int, ...]:
        """The numbers that the question names, in order."""
        return tuple(value for value in values if isinstance(value, int))

    def right_code(self, values: Values) -> tuple[str, ...]:
        return ()

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        numbers = ",".join(map(str, self.numbers(values)))
        return f"print(sum([{numbers}]))", f"print(len([{numbers}]))"

    def guesses(self, values: Values) -> tuple[int, ...]:
        return tuple(number for number in self.numbers(values) if number != self.answer(values))


def distinct(random: Random, count: int) -> list[int]:
    """Different numbers of one or two digits."""
    return random.sample(range(2, 60), count)


class Lookup(ReadingFamily):
    """Who has how many: values are the thing, the name asked for, then name and number of each person."""

    name = "lookup"
    phrasings = (
        Phrasing("{people}. How many {thing} does {asked} have?", 0.08),
        Phrasing("{people}. Count the {thing} of {asked}.", 0.16),
    )

    def draw(self, random: Random, level: Level) -> Values:
        names = random.sample(NAMES, 2 if level is Level.EASY else 4)
        pairs = zip(names, distinct(random, len(names)), strict=True)
        return random.choice(THINGS), random.choice(names), *(part for pair in pairs for part in pair)

    def answer(self, values: Values) -> int:
        return values[values.index(values[1], 2) + 1]

    def fields(self, values: Values) -> dict[str, int | str]:
        people = [f"{name} has {number}" for name, number in zip(values[2::2], values[3::2], strict=True)]
        people[0] += f" {values[0]}"
        return {"people": f"Today {join(people)}", "thing": values[0], "asked": values[1]}

    def canonical(self, values: Values) -> Values:
        return tuple(part for pair in sorted(zip(values[2::2], values[3::2], strict=True)) for part in pair)

    def practice(self, values: Values) -> list[Values]:
        return [(values[0], name, *values[2:]) for name in values[2::2]]

    def worked(self, values: Values) -> str | None:
        return f"{values[1]} has {self.answer(values)}"

    def raising_code(self, values: Values) -> tuple[str, ...]:
        return f"print({values[1]})", f"print({values[1]}.{values[0]})"


class TwoStepLookup(ReadingFamily):
    """Who owns what, and how much is in it: values are the name asked for, then name, colour, number of each owner."""

    name = "two_step_lookup"
    phrasings = (
        Phrasing("{owners}. {boxes}. How many coins has {asked}?", 0.08),
        Phrasing("{boxes}. {owners}. Count the coins of {asked}.", 0.16),
    )

    def draw(self, random: Random, level: Level) -> Values:
        count = 2 if level is Level.EASY else 3
        rows = zip(random.sample(NAMES, count), random.sample(COLOURS, count), distinct(random, count), strict=True)
        parts = [part for row in rows for part in row]
        return random.choice(parts[::3]), *parts

    def answer(self, values: Values) -> int:
        return values[values.index(values[0], 1) + 2]

    def fields(self, values: Values) -> dict[str, int | str]:
        rows = list(zip(values[1::3], values[2::3], values[3::3], strict=True))
        owners = join([f"{name} has the {colour} box" for name, colour, _ in rows])
        boxes = join([f"the {colour} box holds {number}" for _, colour, number in reversed(rows)])
        return {"owners": f"Today {owners}", "boxes": f"We know that {boxes}", "asked": values[0]}

    def canonical(self, values: Values) -> Values:
        rows = sorted(zip(values[1::3], values[2::3], values[3::3], strict=True))
        return tuple(part for row in rows for part in row)

    def practice(self, values: Values) -> list[Values]:
        return [(name, *values[1:]) for name in values[1::3]]

    def worked(self, values: Values) -> str | None:
        colour = values[values.index(values[0], 1) + 1]
        return f"{values[0]} has the {colour} box, the {colour} box holds {self.answer(values)}"

    def raising_code(self, values: Values) -> tuple[str, ...]:
        return f"print({values[0]})", f"print(box[{values[0]}])"


class Position(ReadingFamily):
    """Which number stands at a place of a list: values are the place, counted from one, then the numbers."""

    name = "position"
    phrasings = (
        Phrasing("The list is {numbers}. Which number is {place}?", 0.08),
        Phrasing("In {numbers}, find the {place} number.", 0.18),
    )

    def draw(self, random: Random, level: Level) -> Values:
        count = random.randint(3, 4) if level is Level.EASY else random.randint(5, 6)
        return random.randint(1, count), *distinct(random, count)

    def numbers(self, values: Values) -> tuple[int, ...]:
        return values[1:]

    def answer(self, values: Values) -> int:
        return values[values[0]]

    def fields(self, values: Values) -> dict[str, int | str]:
        return {"numbers": ", ".join(map(str, values[1:])), "place": ORDINALS[values[0] - 1]}

    def canonical(self, values: Values) -> Values:
        return values[1:]

    def practice(self, values: Values) -> list[Values]:
        return [(len(values) - 1, *values[1:])]

    def worked(self, values: Values) -> str | None:
        return ", ".join(f"{ORDINALS[place]} {number}" for place, number in enumerate(values[1 : values[0] + 1]))

    def raising_code(self, values: Values) -> tuple[str, ...]:
        return (f"print({ORDINALS[values[0] - 1]})",)


UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class NumberWords(ReadingFamily):
    """A number in words to be written in digits: three digits, or four."""

    name = "number_words"
    phrasings = (
        Phrasing("Write {words} in digits.", 0.10),
        Phrasing("Which number is {words}?", 0.14),
    )

    def draw(self, random: Random, level: Level) -> Values:
        number = 100 * random.randint(1, 9) + 10 * random.randint(2, 9) + random.randint(1, 9)
        return (number + 1000 * random.randint(1, 9) * (level is Level.HARD),)

    def answer(self, values: Values) -> int:
        return values[0]

    def words(self, values: Values) -> list[str]:
        """The digits of the number, highest first, in words."""
        thousands, hundreds, tens, units = (int(digit) for digit in f"{values[0]:04d}")
        above = [f"{UNITS[thousands - 1]} thousand"] if thousands else []
        return [*above, f"{UNITS[hundreds - 1]} hundred", TENS[tens - 2], UNITS[units - 1]]

    def fields(self, values: Values) -> dict[str, int | str]:
        return {"words": " ".join(self.words(values))}

    def worked(self, values: Values) -> str | None:
        return ", ".join(f"{word} {digit}" for word, digit in zip(self.words(values), str(values[0]), strict=True))

    def wrong_code(self, values: Values) -> tuple[str, ...]:
        return tuple(f'print(len("{word}"))' for word in self.words(values)[-2:])

    def raising_code(self, values: Values) -> tuple[str, ...]:
        words = " ".join(self.words(values))
        return f'print(int("{words}"))', f"print({self.words(values)[-1]})"

    def guesses(self, values: Values) -> tuple[int, ...]:
        number = values[0]
        return number + 10, number - 10, number + 1, number + 3, int(str(number)[-2:][::-1])
