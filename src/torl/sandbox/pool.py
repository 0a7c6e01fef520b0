"""Runs snippets: a fixed number at once, each in a cell of its own, the rest in a fair queue."""

import os
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from torl.errors import SandboxError
from torl.sandbox.admission import FairQueue, Refused
from torl.sandbox.descriptors import allow_descriptors
from torl.sandbox.execution import run_in
from torl.sandbox.isolation import Isolation
from torl.sandbox.metrics import Metrics
from torl.sandbox.nursery import Nursery
from torl.sandbox.snippet import RunResult, RunStatus, Snippet

QUEUE_PER_WORKER = 256  # some ten seconds of light snippets
LONGEST_WAIT_S = 45.0  # below the minute that the client allows a request to wait
SHARE_OF_ONE_CLIENT = 0.5
SPARE_CELLS = 1  # over one for each worker, so that a health check finds one
HEALTH_SNIPPET = Snippet(code="print(6 * 7)")


def default_workers() -> int:
    """As many workers as cores this process may use, and at least two, so that one endless loop does not stop the
    rest."""
    return max(2, len(os.sched_getaffinity(0)))


@dataclass
class Pool:
    """Runs snippets, ``count`` at once; belongs to one event loop. Use as a context manager, or start and close it."""

    isolation: Isolation
    count: int = field(default_factory=default_workers)
    queue_limit: int | None = field(default=None, kw_only=True)
    """Snippets that may wait; None is a number that fits ``count``."""

    def __post_init__(self) -> None:
        limit = QUEUE_PER_WORKER * self.count if self.queue_limit is None else self.queue_limit
        self.queue = FairQueue(
            places=self.count,
            limit=limit,
            client_limit=max(1, int(limit * SHARE_OF_ONE_CLIENT)),
            longest_wait_s=LONGEST_WAIT_S,
        )
        self.metrics = Metrics()
        self._nursery = Nursery(self.isolation, self.count + SPARE_CELLS)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def start(self) -> None:
        """Make the first cells.

        Raises:
            SandboxError: the isolation does not work here, or too few files may be open; the message has the reason.
        """
        allow_descriptors(self.count)
        await self._nursery.start()

    def close(self) -> None:
        """End what is running."""
        self._nursery.close()

    async def run(self, snippet: Snippet, *, client: str = "") -> tuple[RunResult, float]:
        """Run a snippet for ``client``; gives its result and the seconds it waited for a place.

        Raises:
            Refused: the queue does not take it.
        """
        try:
            async with self.queue.place(client) as waited:
                result = await self._run(snippet)
        except Refused as refusal:
            self.metrics.refused[refusal.status] += 1
            raise
        self.metrics.record(result, waited=waited)
        return result, waited

    async def health(self) -> dict[str, Any]:
        """Run a snippet beside the queue and say how all is; ``problem`` is empty when all is well."""
        result = await self._run(HEALTH_SNIPPET)
        problem = "" if result.stdout == "42\n" else result.error or result.stderr or str(result.status)
        return {
            "status": "unhealthy" if problem else "ok",
            "problem": problem,
            "isolation": str(self.isolation.kind),
            "tier": self.isolation.kind.tier,
            "workers": self.count,
            "running": self.queue.busy,
            "waiting": self.queue.waiting,
            "queue_limit": self.queue.limit,
            "restarts": self._nursery.restarts,
            "snippets": dict(self.metrics.snippets),
            "refused": {str(status): count for status, count in self.metrics.refused.items()},
            "rates": self.metrics.rates(),
        }

    def metrics_page(self) -> str:
        """The metrics as text."""
        return self.metrics.page(
            {
                "tier": self.isolation.kind.tier,
                "workers": self.count,
                "running": self.queue.busy,
                "waiting": self.queue.waiting,
                "restarts": self._nursery.restarts,
            }
        )

    async def _run(self, snippet: Snippet) -> RunResult:
        if snippet.limits.run_timeout_s <= 0:
            return RunResult(status=RunStatus.TIME_LIMIT)
        try:
            cell = await self._nursery.take()
        except SandboxError as error:
            return RunResult(status=RunStatus.ERROR, error=str(error))
        try:
            return await run_in(cell, snippet)
        finally:
            cell.close()
