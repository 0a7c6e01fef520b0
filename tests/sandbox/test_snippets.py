"""The hostile snippets of the shared cases: each has the outcome it names, and the sandbox works as before."""

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.conftest import run_at
from tests.sandbox.servers import processes_at_rest, tier_of
from torl.sandbox.client import execution_of
from torl.sandbox.observation import observation_text

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "sandbox_snippets.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.exists() else []

# Tier 2 lets a snippet start no process, shows it no /proc, and lets it write in its own folder alone.
IN_TIER_2 = {
    "poison_next_run": "PermissionError",
    "mem_via_children": "PermissionError",
    "daemonize": "PermissionError",
    "bg_holds_pipe": "PermissionError",
    "proc_snoop": "PermissionError",
}
SCRIPT_MODE = {"last_expr_echo": ""}  # the contract runs scripts: a last expression is not echoed
SETTINGS = {"mem_touch_slow": {"memory_limit_MB": 512}}  # touching a GiB may take longer than the time-out under load
CANARY = Path("/tmp/sbx_canary_answers.jsonl")  # the path that a row tries to read
NOISE = 3.0  # seconds that a loaded test machine may add to a row's wall time

pytestmark = pytest.mark.skipif(not ROWS, reason=f"no {CASES}: the shared cases are not part of the project")


def run(address: str, row: dict[str, Any], code: str) -> tuple[dict[str, Any], str, float]:
    body = {name: row[name] for name in ("run_timeout", "memory_limit_MB", "files", "fetch_files") if name in row}
    body |= {"code": code, "language": "python"}
    request = urllib.request.Request(f"{address}/run_code", json.dumps(body).encode())
    begin = time.monotonic()
    with urllib.request.urlopen(request, timeout=60) as answer:
        reply = json.load(answer)
    seconds = time.monotonic() - begin
    return reply, observation_text(execution_of(reply, timeout_s=row.get("run_timeout", 10.0))), seconds


def status_of(reply: dict[str, Any]) -> str:
    return "Success" if reply["status"] == "Success" else f"{reply['status']}/{reply['run_result']['status']}"


@pytest.fixture(scope="module", autouse=True)
def canary() -> Any:
    CANARY.write_text("CANARY_ANSWER_7391")
    yield
    CANARY.unlink()


@pytest.fixture(autouse=True)
def known_good(any_address: str) -> Any:
    assert run_at(any_address, "print(6 * 7)").stdout == "42\n"
    yield
    assert run_at(any_address, "print(6 * 7)").stdout == "42\n"
    assert processes_at_rest(any_address)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_each_snippet_has_the_outcome_it_names(any_address: str, row: dict[str, Any]) -> None:
    reply, shown, seconds = run(any_address, SETTINGS.get(row["id"], {}) | row, row["code"])
    if row["id"] in IN_TIER_2 and tier_of(any_address) == 2:
        assert IN_TIER_2[row["id"]] in shown
        return
    assert status_of(reply) in row["expect_status"].split("|"), shown
    if row["id"] in SCRIPT_MODE:
        assert reply["run_result"]["stdout"] == SCRIPT_MODE[row["id"]]
    else:
        for alternatives in row["expect_observation_contains"]:
            assert any(text in shown for text in alternatives.split("|")), shown
    assert seconds <= row.get("wall_max", 60) + NOISE
    everything = json.dumps(reply)
    for word in ("CONNECTED", "CANARY_ANSWER_7391", "WROTE", "socket:", "/work"):
        assert word not in everything
    assert reply["files"] == {}
    assert len(everything) < 2 * (64 * 1024 + 4096) * 6  # two streams; JSON may need six characters for one


@pytest.mark.parametrize("row", [row for row in ROWS if "follow_up" in row], ids=lambda row: row["id"])
def test_no_snippet_changes_the_next_one(any_address: str, row: dict[str, Any]) -> None:
    run(any_address, row, row["code"])
    _, shown, _ = run(any_address, row, row["follow_up"])
    assert ("NameError" if "NameError" in row["follow_up_contains"] else row["follow_up_contains"]) in shown


@pytest.mark.parametrize("row", [row for row in ROWS if row.get("run_twice_differs")], ids=lambda row: row["id"])
def test_random_numbers_differ_between_runs(any_address: str, row: dict[str, Any]) -> None:
    assert run(any_address, row, row["code"])[1] != run(any_address, row, row["code"])[1]
