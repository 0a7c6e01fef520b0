"""What a row of each source means: one small function a row format, from a dictionary to the fields of a ``Problem``.

An answer given as a list is joined with ``", "`` in the order of the source (OlympiadBench, NuminaMath as prepared
for verl). Whole-number floats lose their ``.0`` (AMC23). A row without an answer is read with an empty one: why a
problem cannot be used is for ``torl.problems.verifiable`` to say.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torl.errors import DataError
from torl.problems.formats import Rejection, iter_rows
from torl.problems.schema import Problem, problem_id
from torl.problems.text import bare_answer, last_box, without_instruction


class RowRejectedError(ValueError):
    """A row is malformed; ``rejection`` says how. Never leaves this module."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.sentence)
        self.rejection = rejection


@dataclass(kw_only=True)
class Fields:
    """What a reader takes from a row."""

    text: str
    answer: str = ""
    solution: str | None = None
    subset: str = ""
    level: str | None = None
    tolerance: float | None = None


@dataclass(kw_only=True)
class ReadCounts:
    """How many rows of a file became problems, and why the others did not."""

    rows: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def accepted(self) -> int:
        """Rows that became problems."""
        return self.rows - self.rejected.total()


def _first(row: dict[str, Any], *names: str) -> Any:
    """The first of ``names`` that has a value.

    Raises:
        RowRejectedError: every one is absent or null.
    """
    for name in names:
        if row.get(name) is not None:
            return row[name]
    raise RowRejectedError(Rejection.MISSING_FIELD)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RowRejectedError(Rejection.WRONG_TYPE)
    return value


def _optional_text(value: Any) -> str | None:
    return None if value is None else _text(value)


def _answer(value: Any) -> str:
    """A gold answer as text: strings, numbers, and lists of them; null is an empty answer."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(_answer(item) for item in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RowRejectedError(Rejection.WRONG_TYPE)
    return bare_answer(str(value))


def _boxed_answer(solution: str | None) -> str:
    return bare_answer(last_box(solution or "") or "")


def numina_cot(row: dict[str, Any]) -> Fields:
    """NuminaMath-CoT: ``problem``, ``solution``, ``source``; the answer is the last box of the solution."""
    solution = _optional_text(row.get("solution"))
    return Fields(
        text=_text(_first(row, "problem")),
        answer=_boxed_answer(solution),
        solution=solution,
        subset=_optional_text(row.get("source")) or "",
    )


def numina_1_5(row: dict[str, Any]) -> Fields:
    """NuminaMath-1.5: ``problem``, ``answer``, ``question_type`` (kept as the level) and the validity flags."""
    if row.get("problem_is_valid") not in (None, "Yes"):
        raise RowRejectedError(Rejection.FLAGGED_INVALID)
    return Fields(
        text=_text(_first(row, "problem")),
        answer=_answer(row.get("answer")),
        solution=_optional_text(row.get("solution")),
        subset=_optional_text(row.get("source")) or "",
        level=_optional_text(row.get("question_type")),
    )


def math(row: dict[str, Any]) -> Fields:
    """MATH and Minerva: ``problem``, ``solution``, ``level``, ``type``; the answer is the last box of the solution."""
    solution = _text(_first(row, "solution"))
    return Fields(
        text=_text(_first(row, "problem")),
        answer=_boxed_answer(solution),
        solution=solution,
        subset=_optional_text(row.get("type")) or "",
        level=_optional_text(row.get("level")),
    )


def deepscaler(row: dict[str, Any]) -> Fields:
    """DeepScaleR: ``problem``, ``answer``, ``solution`` (often an empty string)."""
    return Fields(
        text=_text(_first(row, "problem")),
        answer=_answer(row.get("answer")),
        solution=_optional_text(row.get("solution")) or None,
    )


def verl(row: dict[str, Any]) -> Fields:
    """verl and ToRL parquet: the last user turn of ``prompt``, and ``reward_model.ground_truth``: text, list or object.

    An object (``question``, ``solution``, ``target``) gives the last box of its solution: its ``target`` is squeezed
    of blanks and of double backslashes in the files at hand.
    """
    reward_model = _first(row, "reward_model")
    if not isinstance(reward_model, dict):
        raise RowRejectedError(Rejection.WRONG_TYPE)
    gold, solution = reward_model.get("ground_truth"), None
    if isinstance(gold, dict):
        solution = _optional_text(gold.get("solution"))
        gold = _boxed_answer(solution) or gold.get("target")
    extra = row.get("extra_info") if isinstance(row.get("extra_info"), dict) else {}
    return Fields(
        text=_user_turn(_first(row, "prompt")),
        answer=_answer(gold),
        solution=solution,
        subset=_optional_text(row.get("type") or row.get("source") or extra.get("source")) or "",
        level=_optional_text(row.get("level")),
    )


def _user_turn(prompt: Any) -> str:
    turns = prompt if isinstance(prompt, list) else [prompt]
    if not all(isinstance(turn, dict) for turn in turns):
        raise RowRejectedError(Rejection.WRONG_TYPE)
    users = [turn for turn in turns if turn.get("role") == "user"]
    if not users:
        raise RowRejectedError(Rejection.MISSING_FIELD)
    return _text(_first(users[-1], "content"))


def plain(row: dict[str, Any]) -> Fields:
    """``problem``, ``question``, ``prompt`` or ``context``, and ``answer`` or ``final_answer``: most benchmarks."""
    level = row.get("level")
    return Fields(
        text=_text(_first(row, "problem", "question", "prompt", "context")),
        answer=_answer(row.get("answer", row.get("final_answer"))),
        solution=_solution_text(row.get("solution")),
        subset=_optional_text(row.get("subject") or row.get("subfield") or row.get("source")) or "",
        level=None if level is None else f"Level {level}" if isinstance(level, int) else _text(level),
        tolerance=_tolerance(row.get("error")) if "final_answer" in row else None,
    )


def _tolerance(value: Any) -> float | None:
    """OlympiadBench writes 1e-1; a list of several is for several answers and is not read."""
    try:
        tolerance = float(value)
    except (TypeError, ValueError):
        return None
    return tolerance if 0 < tolerance < float("inf") else None


def _solution_text(value: Any) -> str | None:
    return "\n\n".join(_text(item) for item in value) if isinstance(value, list) else _optional_text(value)


def csv(row: dict[str, Any]) -> Fields:
    """Headed csv, names in any case, blanks for underscores: as ``plain``, and ``Short Answer`` for the answer."""
    row = {name.strip().lower().replace(" ", "_"): value for name, value in row.items() if name is not None}
    answer = row.get("answer", row.get("short_answer"))
    subject = row.get("category", row.get("subject"))
    return plain(row | {"answer": answer, "subject": subject})


READERS: dict[str, Callable[[dict[str, Any]], Fields]] = {
    reader.__name__: reader for reader in (numina_cot, numina_1_5, math, deepscaler, verl, plain, csv)
}
"""The row formats by the name that ``config/sources.yaml`` gives them."""


def read_file(path: Path | str, *, reader: str, source: str, counts: ReadCounts) -> Iterator[Problem]:
    """Yield the problems of ``path``; ``counts`` is filled while reading and is complete when the iterator ends.

    Raises:
        DataError: the reader is unknown, the file cannot be read, or no row of it fits the reader.
    """
    if reader not in READERS:
        raise DataError(f"reader {reader!r} is not known; accepted are {', '.join(READERS)}: correct the sources file.")
    for row in iter_rows(path):
        try:
            yield _problem(row, READERS[reader], source=source, origin=f"{Path(path).name}:{counts.rows}")
        except RowRejectedError as error:
            counts.rejected[error.rejection] += 1
        counts.rows += 1
        seen = sorted(row) if isinstance(row, dict) else []
    if not counts.rows:
        raise DataError(f"{path} has no rows; fetch or copy it again.")
    if not counts.accepted:
        why = ", ".join(f"{name} {number}" for name, number in counts.rejected.items())
        raise DataError(
            f"no row of {path} fits the reader {reader!r} ({why}; the last row has the fields "
            f"{', '.join(seen) or 'none'}): "
            f"choose another of {', '.join(READERS)} in the sources file."
        )


def _problem(row: Any, reader: Callable[[dict[str, Any]], Fields], *, source: str, origin: str) -> Problem:
    if isinstance(row, Rejection):
        raise RowRejectedError(row)
    fields = reader(row)
    text = without_instruction(fields.text)
    if not text:
        raise RowRejectedError(Rejection.EMPTY_TEXT)
    for value in (text, fields.answer, fields.solution or "", fields.subset, fields.level or ""):
        if not _is_unicode(value):
            raise RowRejectedError(Rejection.NOT_UTF8)
    return Problem(
        id=problem_id(text),
        source=source,
        subset=fields.subset,
        text=text,
        answer=fields.answer,
        solution=fields.solution,
        level=fields.level,
        origin=origin,
        tolerance=fields.tolerance,
    )


def _is_unicode(value: str) -> bool:
    """Whether ``value`` can be written as UTF-8; bytes that could not be decoded are lone surrogates here."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
