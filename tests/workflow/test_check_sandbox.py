"""``check_sandbox`` passes a sandbox that isolates, refuses one that does not, and says what to do."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.sandbox.available import need_namespaces
from tests.sandbox.denied import denied
from torl.files import read_json
from torl.sandbox.launcher import running_sandbox

PROJECT = Path(__file__).resolve().parents[2]
SCRIPT = PROJECT / "workflow" / "scripts" / "check_sandbox.py"
NO_LANDLOCK = denied("landlock_create_ruleset")


def check(*arguments: object, before: Sequence[str] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, str(SCRIPT), *map(str, arguments)]
    environment = os.environ | environment
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=PROJECT, check=False)


@pytest.fixture(scope="module", autouse=True)
def _isolation() -> None:
    need_namespaces()


def test_an_isolated_sandbox_passes_every_check(tmp_path: Path) -> None:
    out = tmp_path / "a folder with spaces" / "sandbox.json"
    done = check("--out", out)
    assert done.returncode == 0, done.stderr
    report = read_json(out)
    assert report["isolation"] == "namespaces"
    assert len(report["checks"]) >= 8
    assert all(row["passed"] for row in report["checks"])
    assert report["snippets_per_second"] > 1


def test_without_isolation_it_passes_only_when_that_was_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "sandbox.json"
    refused = check("--out", out, before=NO_LANDLOCK, PATH=str(tmp_path))
    assert refused.returncode == 1
    assert "apt install bubblewrap" in refused.stderr
    assert not out.exists()
    accepted = check("--out", out, "--allow-unsafe", before=NO_LANDLOCK, PATH=str(tmp_path))
    assert accepted.returncode == 0, accepted.stderr
    assert read_json(out)["isolation"] == "limits only"


def test_every_sandbox_that_is_announced_in_a_folder_is_checked(tmp_path: Path) -> None:
    folder, out = tmp_path / "addresses", tmp_path / "sandbox.json"
    options = ["--announce", str(folder)]
    with running_sandbox(workers=2, options=options), running_sandbox(workers=3, options=options):
        done = check("--url", f"folder:{folder}", "--out", out)
    assert done.returncode == 0, done.stderr
    report = read_json(out)
    assert (report["sandboxes"], report["workers"]) == (2, 5)


def test_a_running_sandbox_that_does_not_isolate_fails_by_name(tmp_path: Path) -> None:
    out = tmp_path / "sandbox.json"
    with running_sandbox(allow_unsafe=True, options=["--tier", "3"]) as address:
        done = check("--url", address, "--out", out)
    assert done.returncode == 1
    assert "fails: has no network, sees no file of this machine" in done.stderr
    assert not out.exists()


def test_an_address_without_a_sandbox_is_named(tmp_path: Path) -> None:
    done = check("--url", "http://127.0.0.1:9", "--out", tmp_path / "sandbox.json")
    assert done.returncode == 1
    assert "http://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
