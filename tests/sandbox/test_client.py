"""Replies become outcomes; trouble of the sandbox is tried again, elsewhere where possible, and then named as such."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox import client as client_module
from torl.sandbox.alarm import FailureAlarm
from torl.sandbox.client import SandboxClient, execution_of

Handler = Callable[[web.Request], Awaitable[web.Response]]

# Exactly what the original answers, without the fields that ours adds.
FUSION_REPLY = {
    "status": "Success",
    "message": "",
    "compile_result": None,
    "run_result": {"status": "Finished", "execution_time": 0.013, "return_code": 0, "stdout": "2\n", "stderr": ""},
    "executor_pod_name": None,
    "files": {},
}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(client_module, "LONGEST_WAIT_S", 0.002)


def reply(**changes: Any) -> dict[str, Any]:
    result = FUSION_REPLY["run_result"] | {name: changes.pop(name) for name in list(changes) if name in FIELDS}
    return FUSION_REPLY | {"run_result": result} | changes


FIELDS = {"status_of_run", "execution_time", "return_code", "stdout", "stderr", "truncated"}


@asynccontextmanager
async def fake_sandbox(handler: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/run_code", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def scripted(*answers: tuple[int, Any]) -> tuple[Handler, list[dict[str, Any]]]:
    """A sandbox that gives ``answers`` in turn, the last one for ever, and the list of requests that it got."""
    requests: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.Response:
        requests.append(await request.json())
        status, body = answers[min(len(requests), len(answers)) - 1]
        return web.json_response(body, status=status)

    return handle, requests


def run_against(handler: Handler, **options: Any) -> tuple[client_module.Execution, SandboxClient]:
    async def once() -> tuple[client_module.Execution, SandboxClient]:
        async with fake_sandbox(handler) as url, SandboxClient([url], **options) as client:
            return await client.run("print(2)"), client

    return asyncio.run(once())


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, CallOutcome.PASSED),
        ({"return_code": 1, "stderr": "ValueError: x"}, CallOutcome.RAISED),
        ({"return_code": 1, "stderr": "a\nMemoryError\n"}, CallOutcome.KILLED_MEMORY),
        ({"return_code": 1, "stderr": "numpy._core._exceptions._ArrayMemoryError: no"}, CallOutcome.KILLED_MEMORY),
        ({"return_code": -11, "stderr": None}, CallOutcome.KILLED_SIGNAL),
        ({"truncated": True}, CallOutcome.OUTPUT_TRUNCATED),
        ({"truncated": True, "return_code": 1, "stderr": "E: x"}, CallOutcome.RAISED),
    ],
)
def test_a_reply_has_one_outcome(changes: dict[str, Any], outcome: CallOutcome) -> None:
    assert execution_of(reply(**changes), timeout_s=10.0).outcome is outcome


def test_a_time_out_keeps_its_partial_output_and_counts_as_the_whole_time_out() -> None:
    body = reply(return_code=None, execution_time=2.03, stdout="41")
    body["run_result"]["status"] = "TimeLimitExceeded"
    execution = execution_of(body | {"status": "Failed"}, timeout_s=2.0)
    assert (execution.outcome, execution.stdout, execution.seconds) == (CallOutcome.TIMED_OUT, "41", 2.0)


def test_the_request_carries_code_language_and_time_out() -> None:
    handler, requests = scripted((200, FUSION_REPLY))
    execution, _ = run_against(handler, timeout_s=3.0, memory_limit_mb=512)
    assert execution.outcome is CallOutcome.PASSED
    assert requests == [{"code": "print(2)", "language": "python", "run_timeout": 3.0, "memory_limit_MB": 512}]


@pytest.mark.parametrize(
    "trouble",
    [
        (503, {"detail": "full"}),
        (429, {}),
        (500, {"detail": "x", "traceback": []}),
        (200, reply() | {"status": "SandboxError", "message": "no"}),
        (200, {"unexpected": 1}),
        (200, reply(return_code=None)),
    ],
)
def test_trouble_of_the_sandbox_is_tried_again(trouble: tuple[int, Any]) -> None:
    handler, requests = scripted(trouble, trouble, (200, FUSION_REPLY))
    execution, client = run_against(handler)
    assert execution.outcome is CallOutcome.PASSED
    assert (len(requests), client.retries) == (3, 2)


def test_when_every_attempt_fails_the_outcome_says_so_and_is_counted() -> None:
    handler, requests = scripted((500, {}))
    execution, client = run_against(handler, max_attempts=3)
    assert execution.outcome is CallOutcome.SANDBOX_FAILED
    assert len(requests) == 3
    assert client.outcomes == {CallOutcome.SANDBOX_FAILED: 1}


def test_a_dead_endpoint_is_passed_over() -> None:
    async def run() -> list[CallOutcome]:
        handler, _ = scripted((200, FUSION_REPLY))
        async with fake_sandbox(handler) as url, SandboxClient(["http://127.0.0.1:9", url]) as client:
            return [(await client.run("1")).outcome for _ in range(4)]

    assert asyncio.run(run()) == [CallOutcome.PASSED] * 4


def test_an_endpoint_that_failed_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "FIRST_WAIT_S", 60.0)
    monkeypatch.setattr(client_module, "LONGEST_WAIT_S", 60.0)
    broken, asked = scripted((500, {}))
    working, _ = scripted((200, FUSION_REPLY))

    async def run() -> list[CallOutcome]:
        async with (
            fake_sandbox(broken) as first,
            fake_sandbox(working) as second,
            SandboxClient([first, second]) as client,
        ):
            return [(await client.run("print(2)")).outcome for _ in range(5)]

    assert asyncio.run(run()) == [CallOutcome.PASSED] * 5
    assert len(asked) == 1


def test_a_dropped_endpoint_runs_a_snippet_of_the_client_s_own_before_it_is_taken_back() -> None:
    healthy = (200, reply(stdout="42\n"))
    handler, requests = scripted(
        (500, {}), (500, {}), (500, {}), (200, reply(stdout="41\n")), healthy, (200, FUSION_REPLY)
    )
    execution, client = run_against(handler)
    assert (execution.stdout, client.retries) == ("2\n", 4)
    assert [request["code"] for request in requests] == ["print(2)"] * 3 + ["print(6 * 7)"] * 2 + ["print(2)"]


def test_a_full_queue_is_waited_out_and_is_no_failed_attempt() -> None:
    handler, requests = scripted(*[(503, {})] * 10, *[(429, {})] * 10, (200, FUSION_REPLY))
    execution, _ = run_against(handler, max_attempts=1)
    assert (execution.outcome, len(requests)) == (CallOutcome.PASSED, 21)


def test_patience_with_a_full_queue_has_an_end() -> None:
    handler, _ = scripted((503, {}))
    execution, _ = run_against(handler, patience_s=0.05)
    assert execution.outcome is CallOutcome.SANDBOX_FAILED
    assert "busy (HTTP 503)" in execution.stderr


def test_the_token_of_an_address_goes_to_that_endpoint_alone() -> None:
    tokens: list[str | None] = []

    async def handle(request: web.Request) -> web.Response:
        tokens.append(request.headers.get("Authorization"))
        return web.json_response(FUSION_REPLY)

    async def run() -> None:
        async with fake_sandbox(handle) as first, fake_sandbox(handle) as second:
            urls = [first.replace("://", "://:s3cret@"), second]
            async with SandboxClient(urls) as client:
                await asyncio.gather(*(client.run("print(2)") for _ in range(2)))

    asyncio.run(run())
    assert sorted(tokens, key=str) == ["Bearer s3cret", None]


def test_work_goes_to_the_least_loaded_endpoint() -> None:
    async def run() -> list[int]:
        counts = [0, 0]
        release = asyncio.Event()

        def counting(index: int) -> Handler:
            async def handle(request: web.Request) -> web.Response:
                counts[index] += 1
                if sum(counts) == 8:
                    release.set()
                await release.wait()
                return web.json_response(FUSION_REPLY)

            return handle

        async with (
            fake_sandbox(counting(0)) as first,
            fake_sandbox(counting(1)) as second,
            SandboxClient([first, second]) as client,
        ):
            await asyncio.gather(*(client.run("1") for _ in range(8)))
        return counts

    assert asyncio.run(run()) == [4, 4]


def test_no_more_requests_are_in_flight_than_allowed() -> None:
    async def run() -> int:
        flying = most = 0

        async def handle(request: web.Request) -> web.Response:
            nonlocal flying, most
            flying += 1
            most = max(most, flying)
            await asyncio.sleep(0)
            flying -= 1
            return web.json_response(FUSION_REPLY)

        async with fake_sandbox(handle) as url, SandboxClient([url], concurrency=3) as client:
            await asyncio.gather(*(client.run("1") for _ in range(20)))
        return most

    assert asyncio.run(run()) <= 3


def test_the_alarm_of_the_client_stops_a_run_with_a_broken_sandbox() -> None:
    async def run() -> None:
        alarm = FailureAlarm(minimum=5)
        async with SandboxClient(["http://127.0.0.1:9"], max_attempts=1, alarm=alarm) as client:
            for _ in range(5):
                await client.run("1")

    with pytest.raises(SandboxError, match="5 of the last 5"):
        asyncio.run(run())


def test_a_client_needs_an_address() -> None:
    with pytest.raises(SandboxError, match=r"sandbox\.url"):
        SandboxClient([])


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine, not the strategy
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(["Success", "Failed", "SandboxError", "?"]),
            "run_result": st.none()
            | st.fixed_dictionaries(
                {},
                optional={
                    "status": st.sampled_from(["Finished", "Error", "TimeLimitExceeded"]),
                    "return_code": st.none() | st.integers(-64, 255),
                    "stdout": st.none() | st.text(),
                    "stderr": st.none() | st.text(),
                },
            ),
        },
    )
)
def test_any_reply_is_an_outcome_or_unavailable(body: dict[str, Any]) -> None:
    try:
        execution = execution_of(body, timeout_s=10.0)
    except client_module._Unavailable:
        return
    assert execution.outcome is not CallOutcome.SANDBOX_FAILED
