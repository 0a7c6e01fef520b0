"""Each family: right answers, steps whose every equation holds, snippets that do what their name says."""

import re
from math import gcd
from random import Random

import pytest

from torl.rollout.trajectory import CallOutcome
from torl.scale_model.corpus import run
from torl.scale_model.families import COMPUTING, FAMILIES, READING, Family, Level
from torl.scale_model.families.reading import ORDINALS

EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
FACTS = 40


def facts(family: Family) -> list[tuple[Level, tuple]]:
    random = Random(family.name)
    return [(level, family.draw(random, level)) for level in Level for _ in range(FACTS)]


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def divisors(number: int) -> int:
    found, left, prime = 1, number, 2
    while left > 1:
        power = 0
        while left % prime == 0:
            left, power = left // prime, power + 1
        found *= power + 1
        prime += 1
    return found


def words_to_number(text: str) -> int:
    ones = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    total = current = 0
    for word in text.split():
        if word in ones:
            current += ones.index(word) + 1
        elif word in tens:
            current += 10 * (tens.index(word) + 2)
        elif word in ("hundred", "thousand"):
            total, current = total + current * {"hundred": 100, "thousand": 1000}[word], 0
    return total + current


def read_person(text: str) -> int:
    *_, asked = re.findall(r"(?:does|of) ([A-Z][a-z]+)", text)
    return int(re.search(rf"{asked} has (\d+)", text)[1])


def read_box(text: str) -> int:
    asked = re.search(r"(?:coins has|coins of) ([A-Z][a-z]+)", text)[1]
    colour = re.search(rf"{asked} has the (\w+) box", text)[1]
    return int(re.search(rf"{colour} box holds (\d+)", text)[1])


def read_place(text: str) -> int:
    place = next(place for place in ORDINALS if re.search(rf"\b{place}\b", text))
    return numbers(text)[ORDINALS.index(place)]


def solve(text: str) -> int:
    coefficient, a, b = re.search(r"(\d*)x \+ (\d+) = (\d+)", text).groups()
    return next(x for x in range(1000) if int(coefficient or 1) * x + int(a) == int(b))


def divisors_as_written(text: str) -> int:
    written = re.search(r"\d[\d^ *]*\d|\d+", text)[0]
    return divisors(eval(written.replace("^", "**")))


BY_THE_TEXT = {
    "addition": lambda text: sum(numbers(text)),
    "multiplication": lambda text: sum([numbers(text)[0]] * numbers(text)[1]),
    "range_sum": lambda text: (
        sum(range(0, numbers(text)[2] + 1, numbers(text)[0])) - sum(range(0, numbers(text)[1], numbers(text)[0]))
    ),
    "linear_equation": solve,
    "modular_power": lambda text: numbers(text)[0] ** numbers(text)[1] % numbers(text)[2],
    "gcd": lambda text: max(d for d in range(1, 1000) if numbers(text)[0] % d == numbers(text)[1] % d == 0),
    "divisor_count": divisors_as_written,
    "lookup": read_person,
    "two_step_lookup": read_box,
    "position": read_place,
    "number_words": lambda text: words_to_number(re.search(r"(?:Write|is) (.*?)(?: in digits\.|\?)", text)[1]),
}
"""Family -> the answer from the question's text alone, by another way than the family's own."""


@EVERY_FAMILY
def test_the_answer_is_what_the_question_asks_for_in_every_wording(family):
    for _, values in facts(family):
        for phrasing in family.phrasings:
            text = phrasing.template.format(**family.fields(values))
            assert BY_THE_TEXT[family.name](text) == family.answer(values), text


@EVERY_FAMILY
def test_answers_are_whole_numbers_from_zero_on_and_no_guess_is_one(family):
    for _, values in facts(family):
        answer = family.answer(values)
        assert isinstance(answer, int)
        assert answer >= 0
        assert family.guesses(values)
        assert all(guess >= 0 and guess != answer for guess in family.guesses(values))


@EVERY_FAMILY
def test_every_equation_of_a_worked_solution_holds_and_its_end_shows_the_answer(family):
    for level, values in facts(family):
        steps = family.worked(values)
        assert (steps is None) == (family.code_helps and level is Level.HARD)
        if steps is None:
            continue
        for equation in re.findall(r"[\d()+*\-]+(?: mod \d+)?(?:=[\d()+*\-]+)+", steps):
            sides = [eval(side.replace(" mod ", "%")) for side in equation.split("=")]
            assert len(set(sides)) == 1, equation
        shown = [digit for number in re.findall(r"\d+", steps) for digit in number]
        assert set(str(family.answer(values))) <= set(shown)


@EVERY_FAMILY
def test_snippets_do_what_their_name_says(family):
    for _, values in facts(family):
        answer = str(family.answer(values))
        for code in family.right_code(values):
            assert run(code).stdout.strip() == answer
        for code in family.raising_code(values):
            assert run(code).outcome is CallOutcome.RAISED, code
        wrong = [run(code) for code in family.wrong_code(values)]
        assert all(execution.outcome is CallOutcome.PASSED for execution in wrong)


def share_of_wrong_code_that_is_right(family: Family) -> float:
    outcomes = [
        run(code).stdout.strip() == str(family.answer(values))
        for _, values in facts(family)
        for code in family.wrong_code(values)
    ]
    return sum(outcomes) / len(outcomes)


@EVERY_FAMILY
def test_wrong_code_is_hardly_ever_right(family):
    assert share_of_wrong_code_that_is_right(family) <= 0.1


def test_code_helps_in_seven_families_and_in_four_it_does_not():
    assert [family.code_helps for family in COMPUTING] == [True] * 7
    assert [family.code_helps for family in READING] == [False] * 4
    assert not any(family.right_code(values) for family in READING for _, values in facts(family))


@EVERY_FAMILY
def test_canonical_parameters_are_the_same_for_the_same_question(family):
    random = Random(1)
    for _, values in facts(family):
        if family.name in ("addition", "multiplication"):
            other = tuple(random.sample(values, len(values)))
            assert family.canonical(other) == family.canonical(values)
        assert family.canonical(values) == family.canonical(tuple(values))


def test_one_number_of_divisors_is_one_fact_however_it_is_written():
    family = FAMILIES["divisor_count"]
    assert family.canonical((2, 3, 5, 1)) == family.canonical((5, 1, 2, 3)) == family.canonical((40,))


def test_gcd_of_the_check_is_gcd():
    assert BY_THE_TEXT["gcd"]("84 36") == gcd(84, 36)
