"""Problems, a grader, and the whole filter for tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torl.files import read_json, read_table
from torl.problems.check import Checker, write_checked
from torl.problems.funnel import FilterSettings
from torl.problems.reasons import DropReason
from torl.problems.schema import Problem, problem_id, read_problems
from torl.problems.sieve import Sieve


def problem(text: str = "What is 6 times 7?", answer: str = "42", **fields: Any) -> Problem:
    """A problem with the given text and answer; other fields have plain defaults."""
    row = {"source": "made", "subset": "", "solution": None, "level": None, "origin": "made:0"} | fields
    return Problem(id=problem_id(text), text=text, answer=answer, **row)


class FakeGrader:
    """Parses every answer but those in ``unparsed``.

    Answers are the same when they are alike without blanks and dollars, or in one of ``equal``, and not in ``odd``.
    """

    def __init__(
        self, *, unparsed: Sequence[str] = (), equal: Sequence[set[str]] = (), odd: Sequence[str] = ()
    ) -> None:
        self.unparsed = set(unparsed)
        self.equal = equal
        self.odd = set(odd)
        self.asked: list[str] = []

    def parse(self, answers: Sequence[str]) -> list[bool]:
        self.asked += answers
        return [answer not in self.unparsed for answer in answers]

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        return [self._same(*pair) for pair in pairs]

    def _same(self, first: str, second: str) -> bool:
        bare = [text.replace(" ", "").strip("$") for text in (first, second)]
        return first not in self.odd and (bare[0] == bare[1] or any({first, second} <= group for group in self.equal))


@dataclass(frozen=True, kw_only=True)
class Filtered:
    """The files of a run of the filter, read."""

    kept: list[Problem]
    dropped: list[dict[str, Any]]
    overlap: list[dict[str, Any]]
    funnel: dict[str, Any]

    @property
    def reasons(self) -> list[tuple[str, DropReason]]:
        """Origin and reason of each dropped row, in order."""
        return [(row["origin"], DropReason(row["reason"])) for row in self.dropped]


def run_filter(
    folder: Path,
    problems: Sequence[Problem],
    benchmarks: Sequence[Problem] = (),
    *,
    grader: FakeGrader | None = None,
    count_tokens: Callable[[Sequence[str]], list[int]] | None = None,
    shards: int = 1,
    **settings: Any,
) -> Filtered:
    """Both halves of the filter on ``problems``, cut into ``shards``, with files in ``folder``."""
    grader = grader or FakeGrader()
    files = []
    for shard in range(shards):
        part = problems[shard * len(problems) // shards : (shard + 1) * len(problems) // shards]
        files.append(folder / f"shard{shard}.parquet")
        write_checked(files[-1], Checker(benchmarks, grader, count_tokens).check(part))
    sieve = Sieve(files, FilterSettings(**settings))
    out = {name: folder / f"{name}.parquet" for name in ("pool", "dropped", "overlap")}
    sieve.write(sieve.run(grader), **out, funnel_file=folder / "funnel.json")
    return Filtered(
        kept=read_problems(out["pool"]),
        dropped=read_table(out["dropped"]),
        overlap=read_table(out["overlap"]),
        funnel=read_json(folder / "funnel.json"),
    )
