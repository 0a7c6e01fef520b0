"""Problems and a grader for tests."""

from collections.abc import Sequence
from typing import Any

from torl.problems.schema import Problem, problem_id


def problem(text: str = "What is 6 times 7?", answer: str = "42", **fields: Any) -> Problem:
    """A problem with the given text and answer; other fields have plain defaults."""
    row = {"source": "made", "subset": "", "solution": None, "level": None, "origin": "made:0"} | fields
    return Problem(id=problem_id(text), text=text, answer=answer, **row)


class FakeGrader:
    """Parses every answer but those in ``unparsed``; two answers are the same when they are in one of ``equal``."""

    def __init__(self, *, unparsed: Sequence[str] = (), equal: Sequence[set[str]] = ()) -> None:
        self.unparsed = set(unparsed)
        self.equal = equal
        self.asked: list[str] = []

    def parse(self, answers: Sequence[str]) -> list[bool]:
        self.asked += answers
        return [answer not in self.unparsed for answer in answers]

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        return [any(set(pair) <= group for group in self.equal) for pair in pairs]
