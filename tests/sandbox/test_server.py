"""The HTTP contract: fields, replies, refusals, the queue."""

import asyncio
import base64
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.sandbox.conftest import run_at
from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.addresses import with_token
from torl.sandbox.admission import Refused
from torl.sandbox.client import Execution, SandboxClient
from torl.sandbox.isolation import Isolation
from torl.sandbox.launcher import running_sandbox
from torl.sandbox.pool import Pool
from torl.sandbox.server import Listening, serve
from torl.sandbox.snippet import RunStatus, Snippet


def post(address: str, body: Any, path: str = "/run_code") -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def get(address: str, path: str) -> tuple[int, Any]:
    with urllib.request.urlopen(address + path, timeout=60) as reply:
        return reply.status, json.load(reply)


def test_a_reply_has_the_fields_of_the_contract(address: str) -> None:
    status, reply = post(address, {"code": "print(1+1)", "language": "python"})
    assert status == 200
    result = reply.pop("run_result")
    assert reply == {
        "status": "Success",
        "message": "",
        "compile_result": None,
        "executor_pod_name": None,
        "files": {},
    }
    assert 0 < result.pop("execution_time") < 10
    assert result.pop("queue_time") >= 0
    assert 0 < result.pop("cpu_time") < 10
    assert result == {"status": "Finished", "return_code": 0, "stdout": "2\n", "stderr": "", "truncated": False}


def test_failures_are_replies_too(address: str) -> None:
    _, raised = post(address, {"code": "import sys; sys.exit(3)", "language": "python"})
    assert (raised["status"], raised["run_result"]["status"], raised["run_result"]["return_code"]) == (
        "Failed",
        "Finished",
        3,
    )
    _, late = post(address, {"code": "while True: pass", "language": "python", "run_timeout": 0.5})
    assert (late["status"], late["run_result"]["status"], late["run_result"]["return_code"]) == (
        "Failed",
        "TimeLimitExceeded",
        None,
    )


def test_files_stdin_and_memory_limit_are_honoured(address: str) -> None:
    body = {
        "code": "open('b', 'w').write(open('a').read() + input())\nx = bytearray(300 * 2**20)",
        "language": "python",
        "files": {"a": base64.b64encode(b"one").decode(), "empty": None},
        "fetch_files": ["b", "/etc/hostname", "../../etc/hostname", "missing"],
        "stdin": "two",
        "memory_limit_MB": 200,
        "compile_timeout": 1,
        "unknown": 1,
    }
    _, reply = post(address, body)
    assert reply["run_result"]["stderr"].endswith("MemoryError\n")
    assert reply["files"] == {"b": base64.b64encode(b"onetwo").decode()}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"language": "ruby"}, "language"),
        ({"language": None}, "language"),
        ({"code": 3}, "code"),
        ({"run_timeout": "soon"}, "run_timeout"),
        ({"run_timeout": 1e12}, "run_timeout"),
        ({"memory_limit_MB": 10**15}, "memory_limit_MB"),
        ({"files": {"../x": ""}}, "files"),
        ({"files": {"/x": ""}}, "files"),
        ({"files": {"x": "not base64!"}}, "files"),
    ],
)
def test_a_wrong_field_is_refused_by_name(address: str, changes: dict[str, Any], field: str) -> None:
    status, reply = post(address, {"code": "print(1)", "language": "python"} | changes)
    assert status == 422
    assert field in reply["detail"][0]["loc"]


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[]", b"3"])
def test_a_body_that_is_no_request_is_refused(address: str, body: bytes) -> None:
    assert post(address, body)[0] == 422


def test_a_lone_surrogate_fails_as_code_and_not_as_a_request(address: str) -> None:
    status, reply = post(address, b'{"code": "print(\\"\\ud800\\")", "language": "python"}')
    assert (status, reply["status"]) == (200, "Failed")


def test_ping_and_health(address: str) -> None:
    assert get(address, "/v1/ping") == (200, "pong")
    status, health = get(address, "/v1/health")
    assert status == 200
    assert (health["status"], health["isolation"], health["workers"], health["waiting"]) == ("ok", "namespaces", 2, 0)
    assert health["snippets"]["Finished"] >= 1


def test_sixty_four_clients_at_once_get_their_own_answers(address: str) -> None:
    async def one(number: int) -> Execution:
        async with SandboxClient([address], timeout_s=60) as client:
            return await client.run(f"print({number} * 1000)")

    async def run() -> list[Execution]:
        return await asyncio.gather(*(one(number) for number in range(64)))

    executions = asyncio.run(run())
    assert [execution.stdout for execution in executions] == [f"{number * 1000}\n" for number in range(64)]


def test_a_hanging_snippet_does_not_stop_the_others(address: str) -> None:
    async def run() -> float:
        async with SandboxClient([address], timeout_s=5.0) as client:
            hang = asyncio.create_task(client.run("while True: pass"))
            await client.run("print(1)")
            assert not hang.done()
            return (await hang).seconds

    assert asyncio.run(run()) == 5.0


def test_a_full_queue_refuses_and_the_rest_is_run(isolation: Isolation) -> None:
    async def run() -> None:
        async with Pool(isolation, 2, queue_limit=2) as pool:
            snippet = Snippet(code="import time\ntime.sleep(0.5)")
            accepted = [asyncio.create_task(pool.run(snippet)) for _ in range(3)]
            await asyncio.sleep(0)
            with pytest.raises(Refused, match="this client has 1") as own:
                await pool.run(snippet)
            accepted.append(asyncio.create_task(pool.run(snippet, client="another")))
            await asyncio.sleep(0)
            with pytest.raises(Refused, match="the queue takes 2") as full:
                await pool.run(snippet, client="a third")
            assert (own.value.status, full.value.status) == (429, 503)
            results = [result.status for result, _ in await asyncio.gather(*accepted)]
            assert results == [RunStatus.FINISHED] * 4
            assert pool.metrics.refused == {429: 1, 503: 1}

    asyncio.run(run())


def test_over_http_a_full_queue_is_refused_with_retry_after_and_no_call_is_lost(isolation: Isolation) -> None:
    async def run() -> tuple[SandboxClient, list[Execution]]:
        port = free_port()
        pool = Pool(isolation, 2, queue_limit=2)
        await pool.start()
        serving = asyncio.create_task(serve(pool, Listening(port=port)))
        async with SandboxClient([f"http://127.0.0.1:{port}"], max_attempts=50) as client:
            executions = await asyncio.gather(*(client.run("print(1)") for _ in range(16)))
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        return client, executions

    client, executions = asyncio.run(run())
    assert {execution.outcome for execution in executions} == {CallOutcome.PASSED}
    assert client.retries > 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_taken_port_is_an_error_that_says_what_to_do(isolation: Isolation) -> None:
    async def run(port: int) -> None:
        await serve(Pool(isolation, 2), Listening(port=port))

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SandboxError, match=rf"127\.0\.0\.1:{port}.*another --port, or 0"):
            asyncio.run(run(port))


def test_the_command_line_names_the_taken_port(isolation: Isolation) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-m", "torl.sandbox", "serve", "--port", str(taken.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: the sandbox cannot listen on")


def test_metrics_count_what_ran(address: str) -> None:
    post(address, {"code": "print(1)", "language": "python"})
    with urllib.request.urlopen(f"{address}/metrics", timeout=60) as reply:
        values = dict(line.rsplit(" ", 1) for line in reply.read().decode().splitlines() if line[0] != "#")
    assert int(values['torl_sandbox_snippets_total{status="Finished"}']) >= 1
    assert values["torl_sandbox_tier"] == "1"


def test_health_says_what_the_server_is_and_does(address: str) -> None:
    _, health = get(address, "/v1/health")
    assert (health["tier"], health["running"], health["restarts"]) == (1, 0, 0)
    assert health["rates"]["failed"] == 0.0


def test_with_a_token_only_those_who_show_it_run_code(isolation: Isolation, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    with running_sandbox(workers=2, options=["--token-file", str(tmp_path / "token")]) as address:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}):
            request = urllib.request.Request(f"{address}/run_code", b"{}", headers)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(request, timeout=60)
        assert run_at(with_token(address, "s3cret"), "print(6 * 7)").stdout == "42\n"


def test_over_a_unix_socket_it_is_the_same(isolation: Isolation, tmp_path: Path) -> None:
    path = tmp_path / "torl.sock"
    with running_sandbox(workers=2, options=["--socket", str(path)]) as address:
        assert address == f"unix:{path}"
        assert path.stat().st_mode & 0o077 == 0
        assert run_at(address, "print(6 * 7)").stdout == "42\n"


def test_a_slow_client_delays_nobody(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"POST /run_code HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
        begin = time.monotonic()
        assert run_at(address, "print(6 * 7)").stdout == "42\n"
        assert time.monotonic() - begin < 10
        assert get(address, "/v1/health")[1]["running"] == 0


def test_a_client_that_goes_away_takes_its_snippet_with_it(address: str) -> None:
    body = json.dumps({"code": "while True: pass", "language": "python", "run_timeout": 60}).encode()
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as leaving:
        leaving.sendall(b"POST /run_code HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        while get(address, "/v1/health")[1]["running"] == 0:
            time.sleep(0.01)
    deadline = time.monotonic() + 20
    while get(address, "/v1/health")[1]["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_five_megabytes_of_source_run(address: str) -> None:
    code = ("x = 1  #" + " a comment" * 10 + "\n") * 50_000 + "print(x)"
    assert len(code) > 5_000_000
    assert run_at(address, code, timeout_s=60.0).stdout == "1\n"
    assert run_at(address, "s = '" + "y" * 5_000_000 + "'\nprint(len(s))").stdout == "5000000\n"


def test_too_large_a_request_is_refused_and_the_server_lives(address: str) -> None:
    assert post_size(address, 40 * 1024 * 1024) == 413
    assert run_at(address, "print(6 * 7)").stdout == "42\n"


def post_size(address: str, size: int) -> int:
    async def run() -> int:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{address}/run_code", data=b" " * size) as reply,
        ):
            return reply.status

    return asyncio.run(run())


@pytest.mark.parametrize("what", ["a file", "a live socket"])
def test_a_socket_path_that_is_in_use_is_left_alone(isolation: Isolation, tmp_path: Path, what: str) -> None:
    path = tmp_path / "taken"
    with socket.socket(socket.AF_UNIX) as live:
        if what == "a file":
            path.write_text("precious")
        else:
            live.bind(str(path))
            live.listen()
        with pytest.raises(SandboxError, match="cannot listen on"):
            asyncio.run(serve(Pool(isolation, 2), Listening(socket=path)))
    assert path.exists()


def test_the_socket_of_a_killed_server_is_taken_over(isolation: Isolation, tmp_path: Path) -> None:
    path = tmp_path / "left"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with running_sandbox(workers=2, options=["--socket", str(path)]) as address:
        assert run_at(address, "print(1)").stdout == "1\n"


def test_an_empty_token_file_is_refused(isolation: Isolation, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    with (
        pytest.raises(SandboxError, match="holds no token"),
        running_sandbox(options=["--token-file", str(tmp_path / "token")]),
    ):
        pass
