"""Grades answers without ever hanging: cheap rules here, the rest in processes that are killed at a deadline.

Works in any thread, inside a Ray actor and under any event loop.

Differs from ToRL: there, time-outs are signals that do not fire outside the main thread, and an error counts as wrong.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, NamedTuple, Self

from torl.grading.equality import quick
from torl.grading.rules import Policy
from torl.killable import Children, Reply, Trouble

DEADLINE_S = 10.0
CACHE_ENTRIES = 100_000
TROUBLE_RULES = {Trouble.TIMEOUT: "grader_timeout", Trouble.CRASHED: "grader_crashed"}


@dataclass(frozen=True, kw_only=True)
class Grade:
    """The grader's judgement of one answer."""

    correct: bool | None
    """None where the grader could not decide: it ran out of time or crashed. Never to be counted as wrong."""
    rule: str
    """What decided."""
    seconds: float
    """Time that the comparison took; 0.0 from the cache."""


class Method(StrEnum):
    """Whose grader decides."""

    SOUND = "sound"
    """``torl.grading.equality`` under a policy."""
    RELEASE = "release"
    """The release's own, see ``torl.grading.release``."""


class Pair(NamedTuple):
    """What is compared."""

    gold: str
    answer: str
    tolerance: float | None = None
    """The largest difference that the problem allows (OlympiadBench); None where it states none."""


@dataclass
class Grader:
    """Compares answers with gold answers. Processes start when the first pair needs one."""

    workers: int = field(default=2, kw_only=True)
    """Processes at most."""
    deadline_s: float = field(default=DEADLINE_S, kw_only=True)
    """Seconds for one comparison, counted from when a process begins it."""
    policy: Policy = field(default_factory=Policy, kw_only=True)
    """Which rules apply."""
    method: Method = field(default=Method.SOUND, kw_only=True)
    """Whose grader decides; the release's has no rules and no tolerance."""

    def __post_init__(self) -> None:
        self._cache: OrderedDict[Pair, Grade] = OrderedDict()
        self._lock = threading.Lock()
        self._children = Children("torl.grading.worker", workers=self.workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the processes now instead of with the first question that needs one.

        Raises:
            GraderError: they cannot be started.
        """
        for reply in [self._ask("readable", "x") for _ in range(self.workers)]:
            reply.result()

    async def grade(self, gold: str, answer: str, *, tolerance: float | None = None) -> Grade:
        """Grade one answer without blocking the event loop.

        Raises:
            GraderError: the grading process cannot be started at all.
        """
        pair = Pair(gold, answer, tolerance)
        known = self._known(pair)
        if known is not None:
            return known
        return self._judge(pair, await asyncio.wrap_future(self._ask(*self._question(pair))))

    def grade_many(self, pairs: Sequence[tuple[str, str] | Pair]) -> list[Grade]:
        """Grade pairs of (gold, answer), with a tolerance or without, in their order.

        Raises:
            GraderError: the grading process cannot be started at all.
        """
        pairs = [Pair(*pair) for pair in pairs]
        grades = [self._known(pair) or self._ask(*self._question(pair)) for pair in pairs]
        return [
            grade if isinstance(grade, Grade) else self._judge(pair, grade.result())
            for pair, grade in zip(pairs, grades, strict=True)
        ]

    def readable_many(self, answers: Sequence[str]) -> list[bool | None]:
        """Whether each answer has a value (see ``equality.readable``); None where that could not be decided.

        Raises:
            GraderError: the grading process cannot be started at all.
        """
        replies = [self._ask("readable", answer) for answer in answers]
        return [reply.result().value for reply in replies]

    def close(self) -> None:
        """End the processes."""
        self._children.close()

    def _ask(self, *question: Any) -> Future[Reply]:
        return self._children.ask(question, deadline_s=self.deadline_s)

    def _question(self, pair: Pair) -> tuple[Any, ...]:
        if self.method is Method.RELEASE:
            return ("release", pair.gold, pair.answer)
        return ("equal", pair.gold, pair.answer, sorted(self.policy.without), pair.tolerance)

    def _known(self, pair: Pair) -> Grade | None:
        """From the cache or by what is decided at once."""
        with self._lock:
            cached = self._cache.get(pair)
        if cached is not None or self.method is Method.RELEASE:
            return cached
        begin = time.perf_counter()
        verdict = quick(pair.gold, pair.answer, policy=self.policy, tolerance=pair.tolerance)
        if verdict is None:
            return None
        return Grade(correct=verdict.correct, rule=verdict.rule, seconds=time.perf_counter() - begin)

    def _judge(self, pair: Pair, reply: Reply) -> Grade:
        if reply.trouble is not None:
            return Grade(correct=None, rule=TROUBLE_RULES[reply.trouble], seconds=reply.seconds)
        correct, rule = reply.value
        self._remember(pair, Grade(correct=correct, rule=rule, seconds=0.0))
        return Grade(correct=correct, rule=rule, seconds=reply.seconds)

    def _remember(self, pair: Pair, grade: Grade) -> None:
        with self._lock:
            self._cache[pair] = grade
            if len(self._cache) > CACHE_ENTRIES:
                self._cache.popitem(last=False)
