"""Responses that are only text, read as rows: for comparing with outputs that other systems have published.

A block fenced with ``python`` is code; a block fenced with ``output`` right after it is its execution. Only what the
text shows is known: an execution passed unless its output ends in an exception, and whether a response was cut off is
unknown.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torl.errors import DataError
from torl.files import read_jsonl, read_table
from torl.rollout.trajectory import CallOutcome

FENCE = re.compile(r"^[ \t]*```(python|output)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)
NEEDED = frozenset({"answer", "calls", "code_blocks", "correct", "response_tokens", "reward", "stop_reason"})
"""What the behaviour metrics read of a trajectory row."""
BOXED = "\\boxed{"
EXCEPTION_LINE = re.compile(r"^(?:Traceback \(most recent call last\):|[\w.]*(?:Error|Exception|Exit|Interrupt)\b.*)$")


def read_responses(path: Path) -> list[dict[str, Any]]:
    """Rows of a parquet or JSONL file: the workflow's own rows, or objects ``{"text": ..., "correct": true/false}``.

    Raises:
        DataError: the file is missing or broken, or an object is neither.
    """
    records = read_table(path) if path.suffix == ".parquet" else read_jsonl(path)
    rows = [_row_of(record, path, number) for number, record in enumerate(records, start=1)]
    if not rows:
        raise DataError(f"{path} holds no responses; there is nothing to measure.")
    return rows


def row_of_text(text: str, correct: bool | None = None) -> dict[str, Any]:
    """What the behaviour metrics need to know of one response, as far as its text tells."""
    blocks = list(_blocks(text))
    model_text = "".join(block for kind, block, _ in blocks if kind == "model")
    return {
        "stop_reason": None,
        "calls": list(_calls(blocks)),
        "code_blocks": sum(kind == "python" for kind, _, _ in blocks),
        "unanswered_markers": None,
        "answer": _boxed(model_text),
        "correct": correct,
        "reward": None,
        "response_tokens": None,
    }


def _row_of(record: dict[str, Any], path: Path, number: int) -> dict[str, Any]:
    correct = record.get("correct")
    if correct not in (None, True, False):
        raise DataError(f"{path} row {number} has {correct!r} for correct; write true, false or null.")
    if record.keys() >= NEEDED:
        return record
    if isinstance(record.get("text"), str):
        return row_of_text(record["text"], correct)
    raise DataError(
        f"{path} row {number} has the keys {', '.join(sorted(record))}; give trajectory rows ({', '.join(sorted(NEEDED))}), "
        'or objects with a "text" that is one and perhaps "correct".'
    )


def _blocks(text: str) -> Iterator[tuple[str, str, bool]]:
    """(kind, body, whether ``\\boxed{`` came before) for each piece: ``model``, ``python`` or ``output``."""
    position, answered = 0, False
    for match in FENCE.finditer(text):
        before = text[position : match.start()]
        yield "model", before, answered
        answered = answered or BOXED in before
        yield match[1], match[2], answered
        position = match.end()
    yield "model", text[position:], answered


def _calls(blocks: list[tuple[str, str, bool]]) -> Iterator[dict[str, Any]]:
    """A call for each ``python`` block that an ``output`` block follows with nothing but space between."""
    pending: tuple[str, bool] | None = None
    for kind, body, answered in blocks:
        if kind == "python":
            pending = body, answered
        elif kind == "output" and pending is not None:
            yield {"code": pending[0], "outcome": _outcome(body), "before_answer": not pending[1]}
            pending = None
        elif body.strip():
            pending = None


def _outcome(output: str) -> CallOutcome:
    lines = output.strip().splitlines() or [""]
    return CallOutcome.RAISED if EXCEPTION_LINE.match(lines[-1].strip()) else CallOutcome.PASSED


def _boxed(model_text: str) -> str | None:
    """What follows the last ``\\boxed{``, braces balanced; None without one."""
    start = model_text.rfind(BOXED)
    if start < 0:
        return None
    depth, begin = 1, start + len(BOXED)
    for index in range(begin, len(model_text)):
        depth += {"{": 1, "}": -1}.get(model_text[index], 0)
        if depth == 0:
            return model_text[begin:index]
    return model_text[begin:]
