"""The sandbox as an HTTP service: SandboxFusion's contract, a fixed number of workers, a bounded queue.

Differs from the original: it starts no more snippets at once than there are workers, says 503 with Retry-After when its
queue is full, and ``/v1/health`` runs a snippet before it says that all is well.
"""

import asyncio
import functools
import os
import queue
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from torl.errors import SandboxError
from torl.sandbox.contract import RunCodeRequest, reply_of
from torl.sandbox.isolation import Isolation
from torl.sandbox.runner import Runner
from torl.sandbox.snippet import RunResult, Snippet
from torl.sandbox.watch import adopt_orphans

LARGEST_REQUEST_BYTES = 16 * 1024 * 1024
QUEUE_PER_WORKER = 64
RETRY_AFTER_S = 1
SHUTDOWN_S = 0.5
HEALTH_SNIPPET = Snippet(code="print(6 * 7)")


def default_workers() -> int:
    """As many workers as cores this process may use, and at least two, so that one endless loop does not stop the
    rest."""
    return max(2, len(os.sched_getaffinity(0)))


class QueueFull(Exception):
    """More snippets wait than the server accepts."""


@dataclass
class Workers:
    """Runs snippets, ``count`` at once, the rest in the order in which they came."""

    isolation: Isolation
    count: int = field(default_factory=default_workers)

    def __post_init__(self) -> None:
        self.queue_limit = QUEUE_PER_WORKER * self.count
        self.outcomes: Counter[str] = Counter()
        """Snippets by status since the start."""
        self._runner = Runner(self.isolation)
        self._threads = ThreadPoolExecutor(self.count, thread_name_prefix="snippet")
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for worker in range(self.count):
            self._free.put(worker)
        self._accepted = 0

    @property
    def waiting(self) -> int:
        """Snippets accepted and not yet begun."""
        return max(0, self._accepted - self.count)

    async def run(self, snippet: Snippet) -> tuple[RunResult, float]:
        """Run a snippet; gives its result and the seconds it waited for a worker.

        Raises:
            QueueFull: as many snippets wait as the queue takes.
        """
        if self.waiting >= self.queue_limit:
            raise QueueFull
        self._accepted += 1
        try:
            task = functools.partial(self._work, snippet, time.monotonic())
            result, waited = await asyncio.get_running_loop().run_in_executor(self._threads, task)
        finally:
            self._accepted -= 1
        self.outcomes[str(result.status)] += 1
        return result, waited

    def close(self) -> None:
        """End what is running."""
        self._runner.close()
        self._threads.shutdown(cancel_futures=True)

    def _work(self, snippet: Snippet, accepted_at: float) -> tuple[RunResult, float]:
        worker = self._free.get()
        try:
            waited = time.monotonic() - accepted_at
            return self._runner.run(snippet, worker=worker), waited
        finally:
            self._free.put(worker)


def make_app(workers: Workers) -> web.Application:
    """The service around ``workers``."""
    app = web.Application(client_max_size=LARGEST_REQUEST_BYTES)
    app.router.add_post("/run_code", functools.partial(run_code, workers))
    app.router.add_get("/v1/ping", ping)
    app.router.add_get("/v1/health", functools.partial(health, workers))
    return app


async def run_code(workers: Workers, request: web.Request) -> web.Response:
    """POST /run_code."""
    try:
        body = RunCodeRequest.model_validate(await request.json())
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return web.json_response({"detail": details}, status=422)
    except ValueError as error:
        return web.json_response({"detail": [{"type": "json_invalid", "loc": ["body"], "msg": str(error)}]}, status=422)
    try:
        result, waited = await workers.run(body.snippet())
    except QueueFull:
        message = f"{workers.waiting} snippets are waiting and the queue takes {workers.queue_limit}; try again later"
        return web.json_response({"detail": message}, status=503, headers={"Retry-After": str(RETRY_AFTER_S)})
    return web.json_response(reply_of(result, queue_seconds=waited))


async def ping(request: web.Request) -> web.Response:
    """GET /v1/ping: the process answers. It says nothing of the ability to run code; /v1/health does."""
    return web.json_response("pong")


async def health(workers: Workers, request: web.Request) -> web.Response:
    """GET /v1/health: 200 when a snippet runs, 503 with the reason when it does not or when the queue is full."""
    try:
        result, waited = await workers.run(HEALTH_SNIPPET)
        problem = "" if result.stdout == "42\n" else result.error or result.stderr or str(result.status)
    except QueueFull:
        problem, waited = "the queue is full", 0.0
    report: dict[str, Any] = {
        "status": "unhealthy" if problem else "ok",
        "problem": problem,
        "isolation": str(workers.isolation.kind),
        "workers": workers.count,
        "waiting": workers.waiting,
        "queue_limit": workers.queue_limit,
        "queue_time": waited,
        "snippets": dict(workers.outcomes),
    }
    return web.json_response(report, status=503 if problem else 200)


async def serve(workers: Workers, *, host: str, port: int, until_stdin_closes: bool) -> None:
    """Serve until cancelled, or until standard input closes (which is how a launcher's death is noticed).

    Writes one line ``ready: ADDRESS ...`` to standard output once requests are answered.

    Raises:
        SandboxError: the port is taken.
    """
    adopt_orphans()
    runner = web.AppRunner(make_app(workers), access_log=None, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    try:
        await _listen(runner, host, port)
        actual = runner.addresses[0][1]
        sys.stdout.write(
            f"ready: http://{host}:{actual} isolation: {workers.isolation.kind}, {workers.count} workers\n"
        )
        sys.stdout.flush()
        await (_stdin_closed() if until_stdin_closes else asyncio.Event().wait())
    finally:
        workers.close()
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise SandboxError(
            f"the sandbox cannot listen on {host}:{port} ({error.strerror or error}); "
            "choose another --port, or 0 for a free one."
        ) from error


async def _stdin_closed() -> None:
    closed = asyncio.Event()

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 1024):
            closed.set()

    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), read)
    try:
        await closed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
