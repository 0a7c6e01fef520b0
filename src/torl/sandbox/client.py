"""Runs code on one or several sandboxes over SandboxFusion's HTTP contract, ours or the original, by address alone.

A snippet that fails is an outcome. A sandbox that fails is tried again, on another endpoint where there is one, and is
then ``SANDBOX_FAILED``: the caller drops the trajectory; the model never sees it.

Differs from ToRL: the release gives up at the server's own time-out, never retries, and shows the model "UnknownError".
"""

import asyncio
import logging
import random
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import aiohttp

from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.addresses import Address, parse
from torl.sandbox.alarm import FailureAlarm
from torl.sandbox.limits import RUN_TIMEOUT_S
from torl.sandbox.snippet import RunStatus

QUEUE_ALLOWANCE_S = 60.0  # a request may wait this long for a worker before the client gives the endpoint up
PATIENCE_S = 900.0  # a step's snippets of a large batch, all sent at once to few cores, take minutes
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0
BUSY = (429, 503)
FAILURES_TO_DROP = 3
HEALTH_CODE, HEALTH_OUTPUT = "print(6 * 7)", "42\n"
CLIENT_HEADER = "X-Torl-Client"  # by which a server of ours shares its queue fairly

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Execution:
    """What came of one call of the tool."""

    outcome: CallOutcome
    stdout: str = ""
    stderr: str = ""
    return_code: int | None = None
    """None where the snippet was ended at its time-out or never ran; -N for death by signal N."""
    seconds: float = 0.0
    """Wall time of the snippet itself, at most its time-out: no queueing, no retries."""
    truncated: bool = False
    """Whether the snippet printed more than the sandbox keeps."""


class _Unavailable(Exception):
    """One attempt that did not run the snippet; ``wait_s`` is what the server asked for."""

    def __init__(self, reason: str, wait_s: float = 0.0, *, busy: bool = False) -> None:
        super().__init__(reason)
        self.wait_s = wait_s
        self.busy = busy


@dataclass
class _Endpoint:
    address: Address
    in_flight: int = 0
    avoid_until: float = 0.0
    failures: int = 0
    """Attempts in a row that did not run a snippet, refusals of a full queue aside."""
    session: aiohttp.ClientSession | None = None

    @property
    def dropped(self) -> bool:
        """Whether it must run a snippet of ours before it gets another one of a caller."""
        return self.failures >= FAILURES_TO_DROP


@dataclass
class SandboxClient:
    """An asynchronous client; make one per process and event loop."""

    urls: Sequence[str]
    """Base addresses, for example ``http://127.0.0.1:8080``; see ``torl.sandbox.addresses`` for sockets and tokens."""
    timeout_s: float = field(default=RUN_TIMEOUT_S, kw_only=True)
    """Time-out of the snippet, counted by the server from the start of execution."""
    max_attempts: int = field(default=8, kw_only=True)
    """Attempts that may fail; a full queue is none."""
    patience_s: float = field(default=PATIENCE_S, kw_only=True)
    """After this time a call is not tried again, however often a full queue refused it."""
    concurrency: int = field(default=64, kw_only=True)
    """Requests in flight at once, over all endpoints."""
    memory_limit_mb: int | None = field(default=None, kw_only=True)
    """None leaves it to the server."""
    alarm: FailureAlarm | None = field(default=None, kw_only=True)
    """Told of every call; raises out of ``run`` when too many fail."""

    def __post_init__(self) -> None:
        if not self.urls:
            raise SandboxError("no sandbox address is given; set `sandbox.url`, or leave it empty to have one started.")
        self.outcomes: Counter[CallOutcome] = Counter()
        """Calls by outcome since the client was made."""
        self.retries = 0
        self._endpoints = [_Endpoint(parse(url)) for url in self.urls]
        self._name = uuid.uuid4().hex
        self._slots = asyncio.Semaphore(self.concurrency)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; the client may be used again afterwards."""
        for endpoint in self._endpoints:
            if endpoint.session is not None:
                await endpoint.session.close()
                endpoint.session = None

    async def run(self, code: str) -> Execution:
        """Run ``code`` and say how it ended; ``SANDBOX_FAILED`` when no attempt could run it.

        Raises:
            SandboxError: the alarm is given and finds that too many calls fail.
        """
        async with self._slots:
            execution = await self._run_with_retries(code)
        self.outcomes[execution.outcome] += 1
        if self.alarm is not None:
            self.alarm.record(failed=execution.outcome is CallOutcome.SANDBOX_FAILED)
        return execution

    async def _run_with_retries(self, code: str) -> Execution:
        reason, failures, refusals = "", 0, 0
        patient_until = time.monotonic() + self.patience_s
        while failures < self.max_attempts and time.monotonic() < patient_until:
            endpoint = self._least_loaded()
            endpoint.in_flight += 1
            try:
                execution = await self._attempt(endpoint, code)
                endpoint.failures = 0
                return execution
            except _Unavailable as error:
                reason = f"{endpoint.address.shown}: {error}"
                refusals += error.busy
                failures += not error.busy
                endpoint.failures += not error.busy
                wait = max(error.wait_s, min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (failures + refusals - 1)))
                endpoint.avoid_until = time.monotonic() + wait * random.uniform(0.5, 1.0)
            finally:
                endpoint.in_flight -= 1
            if failures < self.max_attempts:
                self.retries += 1
                await asyncio.sleep(self._time_to_free_endpoint())
        logger.warning("sandbox failed after %d attempts; last: %s", failures + refusals, reason)
        return Execution(outcome=CallOutcome.SANDBOX_FAILED, stderr=reason)

    async def _attempt(self, endpoint: _Endpoint, code: str) -> Execution:
        if endpoint.dropped:
            health = execution_of(await self._post(endpoint, HEALTH_CODE), timeout_s=self.timeout_s)
            if health.stdout != HEALTH_OUTPUT:
                raise _Unavailable(f"does not compute: {HEALTH_CODE} printed {health.stdout[:20]!r}")
            endpoint.failures = 0
        return execution_of(await self._post(endpoint, code), timeout_s=self.timeout_s)

    def _least_loaded(self) -> _Endpoint:
        now = time.monotonic()
        return min(
            self._endpoints,
            key=lambda endpoint: (max(0.0, endpoint.avoid_until - now), endpoint.dropped, endpoint.in_flight),
        )

    def _time_to_free_endpoint(self) -> float:
        return max(0.0, min(endpoint.avoid_until for endpoint in self._endpoints) - time.monotonic())

    async def _post(self, endpoint: _Endpoint, code: str) -> Mapping[str, Any]:
        body: dict[str, Any] = {"code": code, "language": "python", "run_timeout": self.timeout_s}
        if self.memory_limit_mb is not None:
            body["memory_limit_MB"] = self.memory_limit_mb
        try:
            async with self._session(endpoint).post(f"{endpoint.address.url}/run_code", json=body) as response:
                if response.status in BUSY:
                    raise _Unavailable(f"busy (HTTP {response.status})", _retry_after(response.headers), busy=True)
                if response.status != 200:
                    raise _Unavailable(f"HTTP {response.status}: {(await response.text())[:200]}")
                return await response.json()
        except TimeoutError as error:
            raise _Unavailable("no reply in time") from error
        except (aiohttp.ClientError, ValueError, OSError) as error:
            raise _Unavailable(f"{type(error).__name__}: {error}") from error

    def _session(self, endpoint: _Endpoint) -> aiohttp.ClientSession:
        if endpoint.session is None:
            endpoint.session = open_session(
                endpoint.address,
                seconds=self.timeout_s + QUEUE_ALLOWANCE_S,
                connections=self.concurrency,
                headers={CLIENT_HEADER: self._name},
            )
        return endpoint.session


def open_session(
    address: Address, *, seconds: float, connections: int = 1, headers: Mapping[str, str] | None = None
) -> aiohttp.ClientSession:
    """A session for requests to ``address``: over its socket, with its token, past the proxies of the environment."""
    connector = (
        aiohttp.UnixConnector(address.socket, limit=connections)
        if address.socket
        else aiohttp.TCPConnector(limit=connections)
    )
    token = {"Authorization": f"Bearer {address.token}"} if address.token else {}
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=seconds),
        connector=connector,
        headers={**(headers or {}), **token},
        trust_env=False,
    )


def _retry_after(headers: Mapping[str, str]) -> float:
    try:
        return min(LONGEST_WAIT_S, float(headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0  # the header may also be a date, which no sandbox sends


def execution_of(reply: Mapping[str, Any], *, timeout_s: float) -> Execution:
    """Read a reply of ``/run_code``.

    Raises:
        _Unavailable: the sandbox says that it could not run the snippet, or the reply is not of the contract.
    """
    result = reply.get("run_result")
    if reply.get("status") == "SandboxError" or not isinstance(result, Mapping):
        raise _Unavailable(f"the sandbox reports {reply.get('status')}: {str(reply.get('message', ''))[:200]}")
    timed_out = result.get("status") == RunStatus.TIME_LIMIT
    return_code = None if timed_out else result.get("return_code")
    stdout, stderr = result.get("stdout") or "", result.get("stderr") or ""
    truncated = bool(result.get("truncated"))
    return Execution(
        outcome=_outcome(timed_out, return_code, stderr, truncated),
        stdout=stdout,
        stderr=stderr,
        return_code=return_code,
        seconds=timeout_s if timed_out else min(timeout_s, result.get("execution_time") or 0.0),
        truncated=truncated,
    )


def _outcome(timed_out: bool, return_code: int | None, stderr: str, truncated: bool) -> CallOutcome:
    if timed_out:
        return CallOutcome.TIMED_OUT
    if return_code is None:
        raise _Unavailable("the reply has neither a return code nor a time-out")
    if return_code < 0:
        return CallOutcome.KILLED_SIGNAL
    if return_code > 0:
        last = stderr.strip().rpartition("\n")[2].partition(":")[0]
        return CallOutcome.KILLED_MEMORY if last.endswith("MemoryError") else CallOutcome.RAISED
    return CallOutcome.OUTPUT_TRUNCATED if truncated else CallOutcome.PASSED
