"""Real sandboxes for all tests of this folder: one of each tier, and a pool without the HTTP around it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.sandbox.available import need_namespaces
from tests.sandbox.servers import SERVERS, server_of
from torl.sandbox.client import Execution, SandboxClient
from torl.sandbox.isolation import Isolation, IsolationKind
from torl.sandbox.limits import Limits
from torl.sandbox.pool import Pool
from torl.sandbox.probe import isolation_of
from torl.sandbox.snippet import RunResult, Snippet


@pytest.fixture(scope="session")
def isolation() -> Isolation:
    """Namespaces; tests that need them skip where the machine has none."""
    need_namespaces()
    return isolation_of(IsolationKind.NAMESPACES)


@pytest.fixture(scope="session")
def address(isolation: Isolation) -> Iterator[str]:
    """The address of a running, isolated sandbox with two workers."""
    with server_of("namespaces") as running:
        yield running


@pytest.fixture(scope="session", params=SERVERS)
def any_address(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a running sandbox of each kind in turn."""
    with server_of(request.param) as running:
        yield running


def run_at(address: str, code: str, timeout_s: float = 10.0) -> Execution:
    async def once() -> Execution:
        async with SandboxClient([address], timeout_s=timeout_s) as client:
            return await client.run(code)

    return asyncio.run(once())


@pytest.fixture(scope="session")
def execute(address: str) -> Callable[..., Execution]:
    """Run one snippet in the sandbox: ``execute(code, timeout_s=...)``."""
    return lambda code, timeout_s=10.0: run_at(address, code, timeout_s)


class PoolRunner:
    """A started pool and the loop that it belongs to."""

    def __init__(self, isolation: Isolation, count: int = 2) -> None:
        self._loop = asyncio.Runner()
        self.pool = Pool(isolation, count)
        self.wait(self.pool.start())

    def wait(self, coroutine: Any) -> Any:
        return self._loop.run(coroutine)

    def run(self, code: str, *, limits: Limits | None = None, **fields: object) -> RunResult:
        snippet = Snippet(code=code, limits=limits or Limits(), **fields)
        return self.wait(self.pool.run(snippet))[0]

    def close(self) -> None:
        async def close() -> None:
            self.pool.close()

        self.wait(close())
        self._loop.close()


@pytest.fixture(scope="session")
def pool(isolation: Isolation) -> Iterator[PoolRunner]:
    """A pool with namespaces."""
    runner = PoolRunner(isolation)
    yield runner
    runner.close()


@pytest.fixture
def run(pool: PoolRunner) -> Callable[..., RunResult]:
    """Run one snippet in the pool: ``run(code, limits=..., stdin=...)``."""
    return pool.run


@pytest.fixture
def marker() -> str:
    """A word in the command line of a test's processes, to find survivors by."""
    return f"torl-survivor-{time.monotonic_ns()}"
