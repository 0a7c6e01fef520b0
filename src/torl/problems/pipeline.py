"""Sources to pool: every row is kept, or dropped for exactly one reason, and the counts add up.

Order of work: rules on one row, then the answers that need the grader's parser, then copies of one problem, then
overlap with benchmarks, then the prompt budget. Of several copies the one with a solution wins, then the one with a
level, then the first.

Differs from ToRL: the paper gives only the totals (75,149 verifiable problems); here each row has its reason.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from tqdm import tqdm

from torl.errors import ConfigError, DataError
from torl.files import write_json, write_table
from torl.problems.answers import AnswerGrader, is_plain_number
from torl.problems.overlap import Hit, find_overlap
from torl.problems.schema import Problem, write_problems
from torl.problems.text import answer_key
from torl.problems.verifiable import DropReason, first_reason

CHECK_CHUNK = 200
"""Answers sent to the parser at once, between two looks at the progress line."""
RESERVED_TOKENS = 10
"""Tokens below the prompt budget that ToRL's own length filter leaves free."""

DROPPED_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("origin", pa.string()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)


@dataclass(frozen=True, kw_only=True)
class FilterSettings:
    """What a user may choose about the filter."""

    max_prompt_tokens: int | None = None
    """Token budget of the prompt; ``None`` leaves the rule out."""
    keep_overlap: bool = False
    """Keep problems that overlap with a benchmark; the hits are listed all the same."""


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A row that is not in the pool."""

    id: str
    source: str
    origin: str
    reason: DropReason
    detail: str


@dataclass(frozen=True, kw_only=True)
class FilterResult:
    """Where each row went: ``len(kept) + len(dropped)`` is the number of rows read."""

    kept: list[Problem]
    dropped: list[Dropped]
    hits: list[Hit]
    settings: FilterSettings

    @property
    def funnel(self) -> dict[str, Any]:
        """Counts a source and reason, in the order of the reasons; each step says how many rows it left."""
        by_reason = {
            reason: Counter(row.source for row in self.dropped if row.reason == reason) for reason in DropReason
        }
        rows = Counter(row.source for row in (*self.kept, *self.dropped))
        left = rows.total()
        steps = []
        for reason, counts in by_reason.items():
            left -= counts.total()
            steps.append(
                {
                    "reason": str(reason),
                    "sentence": reason.sentence,
                    "dropped": counts.total(),
                    "dropped_by_source": dict(counts),
                    "left": left,
                }
            )
        return {
            "rows": rows.total(),
            "rows_by_source": dict(rows),
            "steps": steps,
            "kept": len(self.kept),
            "kept_by_source": dict(Counter(problem.source for problem in self.kept)),
            "overlap": [hit._asdict() for hit in self.hits],
            "settings": asdict(self.settings),
        }


@dataclass(kw_only=True)
class _Sieve:
    """The rows still in, by position, and those that are out."""

    left: dict[int, Problem]
    dropped: dict[int, Dropped] = field(default_factory=dict)

    def drop(self, position: int, reason: DropReason, detail: str) -> None:
        problem = self.left.pop(position)
        self.dropped[position] = Dropped(
            id=problem.id, source=problem.source, origin=problem.origin, reason=reason, detail=detail
        )


def filter_problems(
    problems: Iterable[Problem],
    benchmarks: Sequence[Problem],
    settings: FilterSettings,
    *,
    grader: AnswerGrader,
    count_tokens: Callable[[str], int] | None = None,
    progress: bool = False,
) -> FilterResult:
    """The problems that can be trained on and graded by rule, and why each other row was dropped.

    Args:
        grader: asked to parse each distinct answer that is not a plain number, and to compare answers of copies that
            are spelled differently.
        count_tokens: tokens of the prompt that a text becomes; required when ``settings.max_prompt_tokens`` is set.
        progress: write lines with the remaining time to standard error.

    Raises:
        ConfigError: a token budget without ``count_tokens``.
        DataError: no row came in, or none is left; the message has the funnel.
    """
    if settings.max_prompt_tokens is not None and count_tokens is None:
        raise ConfigError(
            f"max_prompt_tokens is {settings.max_prompt_tokens} but no tokenizer is given: name one, or "
            "leave the budget out."
        )
    sieve = _Sieve(left=dict(enumerate(problems)))
    _drop_by_rules(sieve, progress)
    _drop_unparsed(sieve, grader, progress)
    _drop_copies(sieve, grader, progress)
    hits = find_overlap(sieve.left.values(), benchmarks)
    if not settings.keep_overlap:
        _drop_overlap(sieve, hits)
    if settings.max_prompt_tokens is not None:
        _drop_long(sieve, count_tokens, settings, progress)
    dropped = [sieve.dropped[position] for position in sorted(sieve.dropped)]
    result = FilterResult(kept=list(sieve.left.values()), dropped=dropped, hits=hits, settings=settings)
    if not result.kept:
        raise DataError(
            f"no problem is left after the filter:\n{funnel_text(result.funnel)}\n"
            "Look at the rows of the largest reason, and at the reader that config/sources.yaml names for their source."
        )
    return result


def write_filtered(result: FilterResult, *, pool: Path, dropped: Path, funnel: Path) -> None:
    """Write the kept problems, a row for each dropped one, and the funnel."""
    write_problems(pool, result.kept)
    write_table(dropped, [asdict(row) | {"reason": str(row.reason)} for row in result.dropped], DROPPED_SCHEMA)
    write_json(funnel, result.funnel)


def funnel_text(funnel: dict[str, Any]) -> str:
    """The funnel as lines of text: rows read, rows dropped for each reason with what is left, rows kept."""
    lines = [f"{'rows read':<22}{funnel['rows']:>9,}"]
    for step in funnel["steps"]:
        if step["dropped"]:
            lines.append(f"{step['reason']:<22}{-step['dropped']:>9,}{step['left']:>12,} left   {step['sentence']}")
    return "\n".join([*lines, f"{'kept':<22}{funnel['kept']:>9,}"])


def _bar(items: Iterable[Any], what: str, total: int, shown: bool, unit: str = "rows") -> Iterable[Any]:
    return tqdm(items, desc=what, total=total, unit=f" {unit}", file=sys.stderr, mininterval=2.0, disable=not shown)


def _drop_by_rules(sieve: _Sieve, progress: bool) -> None:
    for position, problem in _bar(list(sieve.left.items()), "filter: rules", len(sieve.left), progress):
        found = first_reason(problem)
        if found:
            sieve.drop(position, *found)


def _drop_unparsed(sieve: _Sieve, grader: AnswerGrader, progress: bool) -> None:
    answers = {problem.answer for problem in sieve.left.values() if not is_plain_number(problem.answer)}
    ordered = sorted(answers)
    starts = range(0, len(ordered), CHECK_CHUNK)
    unparsed = set()
    for start in _bar(starts, f"filter: parse {len(ordered)} answers", len(starts), progress, "chunks"):
        chunk = ordered[start : start + CHECK_CHUNK]
        unparsed.update(answer for answer, parsed in zip(chunk, grader.parse(chunk), strict=True) if not parsed)
    for position, problem in list(sieve.left.items()):
        if problem.answer in unparsed:
            sieve.drop(position, DropReason.UNPARSED_ANSWER, f"answer {problem.answer[:80]!r}")


def _drop_copies(sieve: _Sieve, grader: AnswerGrader, progress: bool) -> None:
    groups: dict[str, list[int]] = defaultdict(list)
    for position, problem in sieve.left.items():
        groups[problem.id].append(position)
    copies = [positions for positions in groups.values() if len(positions) > 1]
    for positions in _bar(copies, "filter: copies", len(copies), progress, "groups"):
        answers = list(
            {answer_key(sieve.left[position].answer): sieve.left[position].answer for position in positions}.values()
        )
        if all(grader.same([(answers[0], other) for other in answers[1:]])):
            _keep_best(sieve, positions)
            continue
        detail = " / ".join(repr(answer[:60]) for answer in answers)
        for position in positions:
            sieve.drop(position, DropReason.CONFLICTING_ANSWERS, detail)


def _keep_best(sieve: _Sieve, positions: list[int]) -> None:
    def rank(position: int) -> tuple[bool, bool, int]:
        return sieve.left[position].solution is None, sieve.left[position].level is None, position

    best = min(positions, key=rank)
    for position in positions:
        if position != best:
            kept = sieve.left[best]
            sieve.drop(position, DropReason.DUPLICATE, f"kept {kept.source} {kept.origin}")


def _drop_overlap(sieve: _Sieve, hits: list[Hit]) -> None:
    first = {}
    for hit in hits:
        first.setdefault(hit.problem_id, hit)
    for position, problem in list(sieve.left.items()):
        hit = first.get(problem.id)
        if hit:
            sieve.drop(position, DropReason.BENCHMARK_OVERLAP, f"{hit.kind}: {hit.benchmark} {hit.benchmark_id}")


def _drop_long(sieve: _Sieve, count_tokens: Callable[[str], int], settings: FilterSettings, progress: bool) -> None:
    budget = settings.max_prompt_tokens - RESERVED_TOKENS
    for position, problem in _bar(list(sieve.left.items()), "filter: prompt budget", len(sieve.left), progress):
        tokens = count_tokens(problem.text)
        if tokens > budget:
            sieve.drop(position, DropReason.TOO_LONG, f"{tokens} tokens, at most {budget}")
