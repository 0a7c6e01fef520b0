"""Three responses to read: one that code helped, one whose code failed, one in plain words.

The choice is a rule and not a taste: the first file in which a kind occurs (last evaluated step first), then right
answers before wrong ones, then the smallest problem id.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torl.analysis.behaviour import ERROR_FREE, Row, responses, usable
from torl.analysis.results import Evaluation, last_step
from torl.analysis.untrusted import clean, clip
from torl.evaluation.statistics import Scores
from torl.files import read_table

CODE = re.compile(r"^[ \t]*```python[^\n]*\n.*?(?:^[ \t]*```[^\n]*\n?|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of response that the report shows one of."""

    name: str
    heading: str
    matches: Callable[[Row], bool]


KINDS = (
    Kind(
        name="helped",
        heading="Code led to the right answer",
        matches=lambda row: (
            row["correct"] is True
            and any(call["outcome"] in ERROR_FREE and call["before_answer"] for call in row["calls"])
        ),
    ),
    Kind(
        name="failed",
        heading="Code failed",
        matches=lambda row: any(call["outcome"] not in ERROR_FREE for call in row["calls"]),
    ),
    Kind(name="plain", heading="No code", matches=lambda row: row["code_blocks"] == 0),
)


def choose_samples(evaluations: Sequence[Evaluation], experiments: Sequence[str]) -> list[dict[str, Any]]:
    """For each kind the response to show, ready for the page, or a note that no evaluated response is of it.

    The experiment with the tool comes first; for a right answer, questions that another experiment got wrong do.
    """
    order = _reading_order(evaluations, experiments)
    rivals = _missed_by_others(evaluations, experiments)
    chosen: dict[str, dict[str, Any]] = {}
    for evaluation in order:
        wanted = [kind for kind in KINDS if kind.name not in chosen]
        if not wanted:
            break
        rows = responses(usable(read_table(evaluation.path)))
        for kind in wanted:
            matching = [row for row in rows if kind.matches(row)]
            if matching:
                chosen[kind.name] = min(
                    matching, key=lambda row: _rank(row, kind, rivals.get(evaluation.benchmark, {}))
                )
    return [
        {
            "kind": kind.name,
            "heading": kind.heading,
            "response": shown(chosen[kind.name]) if kind.name in chosen else None,
        }
        for kind in KINDS
    ]


def shown(row: Row) -> dict[str, Any]:
    """A row as the page shows it: cleaned, cut to a readable length, in pieces with their kind."""
    question, _ = clip(clean(row["question"]))
    return {
        "experiment": row["experiment"],
        "step": row["step"],
        "benchmark": row["benchmark"],
        "problem_id": row["problem_id"],
        "sample_index": row["sample_index"],
        "question": question,
        "gold": clip(clean(row["gold"] or ""), 200)[0],
        "answer": None if row["answer"] is None else clip(clean(row["answer"]), 200)[0],
        "correct": row["correct"],
        "stop_reason": row["stop_reason"],
        "response_tokens": row["response_tokens"],
        "pieces": _pieces(row),
    }


def _pieces(row: Row) -> list[dict[str, Any]]:
    calls = iter(row["calls"])
    pieces: list[dict[str, Any]] = []
    for segment in row["segments"]:
        if segment["kind"] == "observation":
            call = next(calls, None)
            pieces.append(_piece("output", segment["text"], call["outcome"] if call else None))
        else:
            pieces += _model_pieces(segment["text"])
    return [piece for piece in pieces if piece["text"]]


def _model_pieces(text: str) -> list[dict[str, Any]]:
    pieces, position = [], 0
    for match in CODE.finditer(text):
        pieces.append(_piece("prose", text[position : match.start()]))
        pieces.append(_piece("code", match[0]))
        position = match.end()
    return [*pieces, _piece("prose", text[position:])]


def _piece(kind: str, text: str, outcome: str | None = None) -> dict[str, Any]:
    kept, left_out = clip(clean(text.strip("\n")))
    return {"kind": kind, "text": kept, "left_out": left_out, "outcome": outcome}


def _rank(row: Row, kind: Kind, missed: Mapping[str, int]) -> tuple[Any, ...]:
    rivals = -missed.get(row["problem_id"], 0) if kind.name == "helped" else 0
    return rivals, row["correct"] is not True, row["problem_id"], row["sample_index"]


def _reading_order(evaluations: Sequence[Evaluation], experiments: Sequence[str]) -> list[Evaluation]:
    place = {name: index for index, name in enumerate(experiments)}
    return sorted(evaluations, key=lambda one: (place[one.experiment], -one.step, one.benchmark))


def _missed_by_others(evaluations: Sequence[Evaluation], experiments: Sequence[str]) -> dict[str, dict[str, int]]:
    """By benchmark and question: how many of the other experiments got it wrong at their last step."""
    missed: dict[str, dict[str, int]] = {}
    last = {name: last_step(evaluations, name) for name in experiments[1:]}
    for one in evaluations:
        if last.get(one.experiment) == one.step:
            _count_missed(one.scores, missed.setdefault(one.benchmark, {}))
    return missed


def _count_missed(scores: Scores, counts: dict[str, int]) -> None:
    for question, values in scores.by_question.items():
        counts[question] = counts.get(question, 0) + int(max(values) < 1)
