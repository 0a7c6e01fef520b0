"""Both graders' rates on the same stored responses: the sound verdict of each row beside the one that the release would give.

Nothing is added to the rows: their texts are graded again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from torl.errors import DataError
from torl.files import read_jsonl
from torl.grading.pool import Grader, Pair
from torl.grading.release import release_answer

COLUMNS = ("gold", "segments", "correct")


@dataclass(frozen=True, kw_only=True)
class Response:
    """A stored response."""

    gold: str
    text: str
    """All of it, observations included, as the release reads it."""
    correct: bool | None
    """The verdict that it was stored with."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """How often the two graders say what."""

    counts: Counter[tuple[bool | None, bool | None]]
    """Responses by (stored verdict, the release's verdict); None is undecided."""

    def table(self) -> str:
        """Both rates and where they differ, as lines of text. Each rate is over the responses that its grader decided."""
        both = self.counts[True, True]
        return "\n".join(
            [
                f"responses      {self.counts.total()}",
                f"stored         {self._rate(0)}",
                f"release        {self._rate(1)}",
                f"both right     {both}",
                f"only stored    {self.counts[True, False]}",
                f"only release   {self.counts[False, True]}",
                f"undecided      stored {self._undecided(0)}, release {self._undecided(1)}",
            ]
        )

    def _rate(self, side: int) -> str:
        right = sum(count for verdicts, count in self.counts.items() if verdicts[side])
        decided = self.counts.total() - self._undecided(side)
        return f"{right} of {decided} right" + (f" ({right / decided:.1%})" if decided else "")

    def _undecided(self, side: int) -> int:
        return sum(count for verdicts, count in self.counts.items() if verdicts[side] is None)


def rates_of(responses: Sequence[Response], grader: Grader) -> Rates:
    """The rates; ``grader`` is one with the release's method.

    Raises:
        GraderError: the grading process cannot be started at all.
    """
    answers = [release_answer(response.text) for response in responses]
    pairs = [
        Pair(response.gold, answer) for response, answer in zip(responses, answers, strict=True) if answer is not None
    ]
    verdicts = (grade.correct for grade in grader.grade_many(pairs))
    releases = [False if answer is None else next(verdicts) for answer in answers]
    return Rates(counts=Counter(zip((response.correct for response in responses), releases, strict=True)))


def read_responses(path: str) -> Iterator[Response]:
    """The responses of a file of trajectory rows, parquet or JSONL.

    Raises:
        DataError: the file is missing or damaged, or a row lacks a field.
    """
    for row in _rows(path):
        missing = [name for name in COLUMNS if name not in row]
        if missing:
            raise DataError(f"{path} has rows without {', '.join(missing)}; give files of trajectories or evaluations.")
        text = "".join(segment["text"] for segment in row["segments"])
        yield Response(gold=row["gold"], text=text, correct=row["correct"])


def _rows(path: str) -> Iterable[dict[str, Any]]:
    if Path(path).suffix != ".parquet":
        return read_jsonl(path)
    try:
        return pq.read_table(path, columns=list(COLUMNS)).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DataError(
            f"{path} cannot be read as rows of trajectories ({error}); run the rule that makes it."
        ) from error
