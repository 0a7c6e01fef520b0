r"""Every gold answer of the benchmarks equals itself, however it is spelled, and is found in a response.

The benchmarks are not part of the project; without them these tests are skipped.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from torl.files import read_jsonl
from torl.grading.equality import equal
from torl.grading.extract import extract_answer
from torl.grading.text import normal_text
from torl.problems.readers import ReadCounts, read_file
from torl.problems.text import bare_answer

BENCHMARKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "benchmarks"
READERS = {"minerva_qwen.jsonl": "math"}
SAMPLE = 12  # every so manyth gold in the quick run
INTEGER = re.compile(r"-?\d+")
WITH_WORDS = re.compile(r"\\text|\\mathrm|\\mbox|[A-Za-z]{4,}")
needs_data = pytest.mark.skipif(not BENCHMARKS.exists(), reason=f"no {BENCHMARKS}: not part of the project")


def golds() -> list[str]:
    found: dict[str, None] = {}
    for path in sorted(BENCHMARKS.glob("*.jsonl")):
        reader = READERS.get(path.name, "plain")
        found |= dict.fromkeys(
            problem.answer for problem in read_file(path, reader=reader, source="b", counts=ReadCounts())
        )
    return [gold for gold in found if gold]


def in_reverse(gold: str) -> str:
    """A list of plain parts in the opposite order; any other answer as it is."""
    parts = gold.replace("$", "").split(",")
    plain = len(parts) > 1 and all(re.fullmatch(r"\s*-?[\w./\\{}^]+\s*", part) for part in parts)
    return ", ".join(reversed(parts)) if plain and not WITH_WORDS.search(gold) and "=" not in gold else gold


def with_decimals(gold: str) -> str:
    return f"{gold}.0" if INTEGER.fullmatch(gold) else gold


def with_thousands(gold: str) -> str:
    return f"{int(gold):,}" if INTEGER.fullmatch(gold) else gold


def with_unit(gold: str) -> str:
    return rf"{gold} \text{{ units}}" if INTEGER.fullmatch(gold) else gold


def with_degree_sign(gold: str) -> str:
    return re.sub(r"\^\s*\{?\s*\\circ\s*\}?", "°", gold)


def with_plus(gold: str) -> str:
    return f"+{gold}" if re.match(r"\d", gold) and "," not in gold and not WITH_WORDS.search(gold) else gold


def without_spaces(gold: str) -> str:
    return gold if WITH_WORDS.search(gold) else re.sub(r"(?<![A-Za-z])\s+|\s+(?![A-Za-z])", "", gold)


def spaced(gold: str) -> str:
    return gold if WITH_WORDS.search(gold) else re.sub(r"([+=,()])", r" \1 ", gold)


def with_left_and_right(gold: str) -> str:
    if r"\left" in gold or gold.count("(") != gold.count(")") or re.search(r"[\[\]]", gold):
        return gold
    return gold.replace("(", r"\left(").replace(")", r"\right)")


SPELLINGS: dict[str, Callable[[str], str]] = {
    "dollar signs": lambda gold: f"${gold.replace('$', ' ')}$",
    "brackets of mathematics": lambda gold: rf"\({gold.replace('$', ' ')}\)",
    "a box": lambda gold: rf"\boxed{{{gold}}}",
    "dfrac": lambda gold: gold.replace(r"\frac", r"\dfrac"),
    "left and right": with_left_and_right,
    "more spaces": spaced,
    "no spaces": without_spaces,
    "a full stop": lambda gold: f" {gold}. ",
    "thousands": with_thousands,
    "trailing zero": with_decimals,
    "a unit": with_unit,
    "a degree sign": with_degree_sign,
    "a plus sign": with_plus,
    "another order": in_reverse,
    "a text command": lambda gold: rf"\text{{{gold}}}" if gold.isalpha() or gold.isdigit() else gold,
    "display style": lambda gold: rf"\displaystyle {gold.replace('$', ' ')}",
}


def respellings(every: int) -> Iterator[tuple[str, str, str]]:
    for gold in golds()[::every]:
        for name, spell in SPELLINGS.items():
            if spell(gold) != gold:
                yield name, gold, spell(gold)


def failures(every: int) -> list[tuple[str, str, str]]:
    return [case for case in respellings(every) if not equal(case[1], case[2]).correct]


@needs_data
def test_a_sample_of_golds_equals_its_respellings() -> None:
    assert failures(SAMPLE) == []


@needs_data
@pytest.mark.slow
def test_every_gold_equals_its_respellings() -> None:
    assert len(golds()) > 800
    assert failures(1) == []


@needs_data
def test_every_gold_equals_itself_and_is_found_in_a_response() -> None:
    for gold in golds():
        assert equal(gold, gold).correct
        response = f"```python\nprint(r'\\boxed{{0}}')\n```output\n\\boxed{{1}}\n```\nSo it is $\\boxed{{{gold}}}$."
        found = extract_answer(response)
        assert found is not None
        assert normal_text(found) == normal_text(gold)


@needs_data
def test_no_integer_gold_equals_its_neighbour() -> None:
    for gold in filter(INTEGER.fullmatch, golds()):
        assert not equal(gold, str(int(gold) + 1)).correct


@needs_data
def test_the_gold_with_a_stated_tolerance_accepts_what_is_within_it() -> None:
    rows = [row for row in read_jsonl(BENCHMARKS / "olympiadbench_qwen.jsonl") if row["error"]]
    assert rows
    for row in rows:
        gold, tolerance = bare_answer(row["final_answer"][0]), float(row["error"])
        inside, outside = float(gold) + 0.9 * tolerance, float(gold) + 1.1 * tolerance
        assert equal(gold, f"{inside:.4f}", tolerance=tolerance).correct
        assert not equal(gold, f"{outside:.4f}", tolerance=tolerance).correct
        assert not equal(gold, f"{inside:.4f}").correct
