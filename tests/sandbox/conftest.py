"""One real sandbox for all tests of this folder."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tests.sandbox.available import need_namespaces
from torl.sandbox.client import Execution, SandboxClient
from torl.sandbox.isolation import Isolation
from torl.sandbox.launcher import running_sandbox
from torl.sandbox.probe import choose_isolation


@pytest.fixture(scope="session")
def isolation() -> Isolation:
    """Namespaces; tests that need them skip where the machine has none."""
    need_namespaces()
    return choose_isolation(allow_unsafe=False)


@pytest.fixture(scope="session")
def address(isolation: Isolation) -> Iterator[str]:
    """The address of a running, isolated sandbox with two workers."""
    with running_sandbox(workers=2) as running:
        yield running


@pytest.fixture(scope="session")
def execute(address: str) -> Callable[..., Execution]:
    """Run one snippet in the sandbox: ``execute(code, timeout_s=...)``."""

    def run(code: str, timeout_s: float = 10.0) -> Execution:
        async def once() -> Execution:
            async with SandboxClient([address], timeout_s=timeout_s) as client:
                return await client.run(code)

        return asyncio.run(once())

    return run
