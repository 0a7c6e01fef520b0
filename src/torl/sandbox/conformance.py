"""Does a sandbox do what training relies on? Asked with snippets, over HTTP, of ours or of the original."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.addresses import parse
from torl.sandbox.client import Execution, SandboxClient, open_session

CHECK_TIMEOUT_S = 5.0
SPEED_SNIPPETS = 48
SPEED_AT_ONCE = 8
HEALTH_TIMEOUT_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Check:
    """One snippet and what must come of it."""

    name: str
    code: str
    outcomes: tuple[CallOutcome, ...]
    shows: str = ""
    """Text that stdout and stderr together must contain."""
    hides: str | None = None
    """Text that they must not contain."""
    timeout_s: float = CHECK_TIMEOUT_S
    about_isolation: bool = False
    """Whether it asks for what resource limits alone do not give."""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What came of one check."""

    name: str
    passed: bool
    outcome: str
    detail: str
    """What was found, where it is not what it must be."""
    seconds: float
    about_isolation: bool


def checks(address: str, *, canary_path: str, canary: str) -> list[Check]:
    """The checks, for a sandbox at ``address`` and a file on this machine that no snippet may read."""
    where = urlsplit(parse(address).url)
    connect = (
        f"import socket\nsocket.create_connection(({where.hostname!r}, {where.port or 80}), 2)\nprint('connected')"
    )
    return [
        Check(name="runs", code="print(6 * 7)", outcomes=(CallOutcome.PASSED,), shows="42"),
        Check(
            name="has numpy and sympy",
            code="import numpy, sympy\nprint(sympy.factorint(int(numpy.prod([6, 7]))))",
            outcomes=(CallOutcome.PASSED,),
            shows="{2: 1, 3: 1, 7: 1}",
            timeout_s=4 * CHECK_TIMEOUT_S,
        ),
        Check(
            name="reports an exception after output",
            code="print('before')\n1 / 0",
            outcomes=(CallOutcome.RAISED,),
            shows="before",
        ),
        Check(
            name="keeps the output of a timed-out snippet",
            code="import time\nprint('partial', flush=True)\ntime.sleep(60)",
            outcomes=(CallOutcome.TIMED_OUT,),
            shows="partial",
            timeout_s=1.0,
        ),
        Check(
            name="bounds memory",
            code="x = bytearray(100 * 1024**3)\nprint(len(x))",
            outcomes=(CallOutcome.KILLED_MEMORY, CallOutcome.KILLED_SIGNAL),
        ),
        Check(
            name="takes a megabyte of output",
            code="print('y' * 1_000_000)",
            outcomes=(CallOutcome.PASSED, CallOutcome.OUTPUT_TRUNCATED),
            shows="yyyy",
        ),
        Check(
            name="has no network",
            code=connect,
            outcomes=(CallOutcome.RAISED,),
            shows="Error",
            hides="connected",
            about_isolation=True,
        ),
        Check(
            name="sees no file of this machine",
            code=f"print(open({canary_path!r}).read())",
            outcomes=(CallOutcome.RAISED,),
            shows="Error",
            hides=canary,
            about_isolation=True,
        ),
        Check(name="gives no standard input", code="input()", outcomes=(CallOutcome.RAISED,), shows="EOFError"),
        Check(name="runs after all that", code="print(6 * 7)", outcomes=(CallOutcome.PASSED,), shows="42"),
    ]


async def run_checks(address: str) -> list[CheckResult]:
    """Run every check against the sandbox at ``address``, one after the other."""
    canary = f"canary-{time.time_ns()}"
    with tempfile.NamedTemporaryFile("w", suffix=".canary") as file:
        file.write(canary)
        file.flush()
        return [await _run(address, check) for check in checks(address, canary_path=file.name, canary=canary)]


async def _run(address: str, check: Check) -> CheckResult:
    begin = time.monotonic()
    async with SandboxClient([address], timeout_s=check.timeout_s, max_attempts=2) as client:
        execution = await client.run(check.code)
    detail = _complaint(check, execution)
    return CheckResult(
        name=check.name,
        passed=not detail,
        outcome=str(execution.outcome),
        detail=detail,
        seconds=time.monotonic() - begin,
        about_isolation=check.about_isolation,
    )


def _complaint(check: Check, execution: Execution) -> str:
    text = execution.stdout + execution.stderr
    if execution.outcome not in check.outcomes:
        return f"ended as {execution.outcome}, not {' or '.join(check.outcomes)}: {text[-200:].strip()}"
    if check.shows not in text:
        return f"{check.shows!r} is missing from {text[-200:]!r}"
    if check.hides is not None and check.hides in text:
        return f"{check.hides!r} must not appear"
    return ""


async def snippets_per_second(address: str) -> float:
    """Simple snippets a second with several at once."""
    async with SandboxClient([address], concurrency=SPEED_AT_ONCE) as client:
        begin = time.monotonic()
        await asyncio.gather(*(client.run(f"print({number} * 2)") for number in range(SPEED_SNIPPETS)))
        return SPEED_SNIPPETS / (time.monotonic() - begin)


async def health_of(address: str) -> dict[str, Any]:
    """The report of ``/v1/health``; empty for a sandbox that has no such page, such as the original.

    Raises:
        SandboxError: nothing answers at the address.
    """
    where = parse(address)
    try:
        async with (
            open_session(where, seconds=HEALTH_TIMEOUT_S) as session,
            session.get(f"{where.url}/v1/health") as reply,
        ):
            return await reply.json() if reply.status in (200, 503) else {}
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise SandboxError(
            f"no sandbox answers at {where.shown} ({error}); start one with `python -m torl.sandbox serve` "
            "or mend `sandbox.url`."
        ) from error


def table(results: Sequence[CheckResult]) -> str:
    """The results as lines of text."""
    width = max(len(result.name) for result in results)
    lines = []
    for result in results:
        mark, note = ("ok  ", result.outcome) if result.passed else ("FAIL", result.detail)
        lines.append(f"{mark} {result.name:<{width}} {result.seconds:6.2f} s  {note}")
    return "\n".join(lines)
