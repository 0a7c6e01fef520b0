"""A started sandbox works, and is gone afterwards: with its block, with its parent, and so are its snippets."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.sandbox.processes import children, processes_below
from torl.errors import SandboxError
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.alarm import FailureAlarm
from torl.sandbox.client import Execution, SandboxClient
from torl.sandbox.conformance import health_of
from torl.sandbox.isolation import Isolation
from torl.sandbox.launcher import running_sandbox, sandboxes

ENDED = "ended before the job.*it resumes"


def wait_until_running(address: str) -> None:
    while asyncio.run(health_of(address))["running"] == 0:
        time.sleep(0.02)


def alive(pids: set[int]) -> set[int]:
    def running(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return {pid for pid in pids if running(pid)}


def wait_until_gone(pids: set[int], seconds: float = 10.0) -> set[int]:
    deadline = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return alive(pids)


def execute(address: str, code: str, **options: float) -> Execution:
    async def once() -> Execution:
        async with SandboxClient([address], **options) as client:
            return await client.run(code)

    return asyncio.run(once())


def test_a_started_sandbox_works_and_leaves_nothing_behind(isolation: Isolation, tmp_path: Path) -> None:
    before = set(processes_below(os.getpid()))
    log = tmp_path / "a folder with spaces" / "sandbox.log"
    log.parent.mkdir()
    with running_sandbox(workers=2, log_path=log) as address:
        assert execute(address, "print(6 * 7)").stdout == "42\n"
        thread = threading.Thread(
            target=execute, args=(address, "import time\ntime.sleep(60)"), kwargs={"max_attempts": 1}
        )
        thread.start()
        started = set(processes_below(os.getpid())) - before
        assert len(started) > 3  # server, bubblewrap twice, the maker of cells, cells
    assert wait_until_gone(started) == set()
    thread.join(20)
    assert not thread.is_alive()


def test_it_ends_when_the_block_fails(isolation: Isolation) -> None:
    before = set(processes_below(os.getpid()))
    started: set[int] = set()

    def fail_inside() -> None:
        with running_sandbox(workers=2):
            started.update(set(processes_below(os.getpid())) - before)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert started
    assert wait_until_gone(started) == set()


def test_it_ends_when_its_parent_is_killed(isolation: Isolation) -> None:
    code = (
        "import time\nfrom torl.sandbox.launcher import running_sandbox\n"
        "with running_sandbox(workers=2) as address:\n    print(address, flush=True)\n    time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    address = parent.stdout.readline().strip()
    thread = threading.Thread(target=execute, args=(address, "while True: pass"), kwargs={"max_attempts": 1})
    thread.start()
    wait_until_running(address)
    started = set(processes_below(parent.pid))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert wait_until_gone(started) == set()
    thread.join(20)
    parent.stdout.close()


@pytest.mark.parametrize("options", [["--tier", "1"], ["--tier", "3", "--allow-unsafe"]], ids=["tier 1", "tier 3"])
def test_snippets_end_when_the_server_is_killed_and_the_call_is_a_sandbox_failure(
    isolation: Isolation, options: list[str]
) -> None:
    before = children(os.getpid())
    results: list[Execution] = []
    with pytest.raises(SandboxError, match=ENDED), running_sandbox(workers=2, options=options) as address:  # noqa: PT012
        (server,) = children(os.getpid()) - before
        thread = threading.Thread(target=lambda: results.append(execute(address, "while True: pass", max_attempts=2)))
        thread.start()
        wait_until_running(address)
        started = set(processes_below(server))
        os.kill(server, signal.SIGKILL)
        thread.join(30)
        assert wait_until_gone(started) == set()
    assert [execution.outcome for execution in results] == [CallOutcome.SANDBOX_FAILED]


def test_when_one_of_two_servers_is_killed_every_call_still_passes_and_when_both_are_the_run_stops(
    isolation: Isolation, tmp_path: Path
) -> None:
    options = ["--announce", str(tmp_path)]
    before = children(os.getpid())
    both = running_sandbox(workers=2, options=options), running_sandbox(workers=2, options=options)
    with pytest.raises(SandboxError, match=ENDED), both[0], both[1]:  # noqa: PT012
        first, second = children(os.getpid()) - before

        async def run() -> list[Execution]:
            alarm = FailureAlarm(minimum=10)
            with sandboxes(f"folder:{tmp_path}") as used:
                assert len(used.urls) == 2
                async with SandboxClient(used.urls, alarm=alarm, max_attempts=3) as client:
                    calls = [
                        asyncio.create_task(client.run(f"import time\ntime.sleep(.1)\nprint({n})")) for n in range(20)
                    ]
                    await calls[0]
                    os.kill(first, signal.SIGKILL)
                    executions = await asyncio.gather(*calls)
                    os.kill(second, signal.SIGKILL)
                    with pytest.raises(SandboxError, match=r"sandbox calls failed.*python -m torl\.sandbox check"):
                        await asyncio.gather(*(client.run("print(1)") for _ in range(20)))
                    return executions

        executions = asyncio.run(run())
    assert [execution.stdout for execution in executions] == [f"{number}\n" for number in range(20)]


def test_the_environment_of_the_caller_stays_outside(isolation: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORL_SECRET", "1")
    before = children(os.getpid())
    with running_sandbox(workers=2):
        (server,) = children(os.getpid()) - before
        assert b"TORL_SECRET" not in Path(f"/proc/{server}/environ").read_bytes()


def test_without_isolation_the_message_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="apt install bubblewrap"), running_sandbox(options=["--tier", "1"]):
        pass
    with pytest.raises(SandboxError, match="--allow-unsafe"), running_sandbox(options=["--tier", "3"]):
        pass


def test_without_isolation_it_runs_only_when_asked_for_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING),
        running_sandbox(allow_unsafe=True, options=["--tier", "3"]) as address,
    ):
        assert execute(address, "print(6 * 7)").stdout == "42\n"
    assert "does NOT isolate" in caplog.text


def test_a_configured_address_is_used_as_it_is() -> None:
    with sandboxes("http://127.0.0.1:1") as used:
        assert used.urls == ["http://127.0.0.1:1"]
    with sandboxes(["http://a", "http://b"]) as used:
        assert used.urls == ["http://a", "http://b"]


def test_without_an_address_one_is_started(isolation: Isolation) -> None:
    with sandboxes(None, workers=2) as used:
        assert execute(used.urls[0], "print(1)").stdout == "1\n"
        used.require_alive()


def test_one_that_the_job_started_and_that_ended_is_noticed_at_once(isolation: Isolation) -> None:
    before = children(os.getpid())
    with pytest.raises(SandboxError, match=ENDED), sandboxes(None, workers=2) as used:  # noqa: PT012
        (server,) = children(os.getpid()) - before
        os.kill(server, signal.SIGKILL)
        used.process.wait()
        used.require_alive()
        raise AssertionError("not noticed")
