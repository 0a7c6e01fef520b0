"""Hostile snippets of our own: the wall holds in every tier, nothing is left, and the next snippet is as good as new."""

import asyncio
import json
import platform
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.conftest import run_at
from tests.sandbox.hostile import ATTACKS, POISON, SYSTEM_CALLS, Attack, Poison
from tests.sandbox.servers import health_of, processes_at_rest, tier_of
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution, SandboxClient

SECRET = "canary-of-the-hostile-tests"
# What tier 2 does not hold back, as the documentation says.
NOT_HELD_BY_TIER_2 = ("files without end", "threads without end")


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("canary") / "answers.jsonl"
    path.write_text(SECRET)
    for folder in [path, *path.parents]:
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)  # it is the sandbox that must keep it from being read
    return path


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_the_wall_holds_against(any_address: str, canary: Path, attack: Attack) -> None:
    if attack in SYSTEM_CALLS and platform.machine() != "x86_64":
        pytest.skip("the numbers are those of x86-64")
    tier = tier_of(any_address)
    assert run_at(any_address, "print(6 * 7)").stdout == "42\n"
    execution = run_at(
        any_address, attack.code.replace("{canary!r}", repr(str(canary))).replace("{{", "{").replace("}}", "}")
    )
    shown = execution.stdout + execution.stderr
    assert execution.outcome is not CallOutcome.SANDBOX_FAILED
    assert SECRET not in shown
    if tier == 1 or attack.name not in NOT_HELD_BY_TIER_2:
        assert "GOT" not in shown
        assert "held" in execution.stdout or (tier == 2 and "PermissionError" in shown), shown
    assert run_at(any_address, "print(6 * 7)").stdout == "42\n"
    assert processes_at_rest(any_address)
    assert health_of(any_address)["restarts"] == 0  # the process that makes cells has lived through it


@pytest.mark.parametrize("poison", POISON, ids=[poison.name for poison in POISON])
def test_the_next_snippet_does_not_feel_poison_in(any_address: str, poison: Poison) -> None:
    for _ in range(4):  # more than there are cells waiting
        assert run_at(any_address, poison.code).outcome is not CallOutcome.SANDBOX_FAILED
    for _ in range(4):
        assert run_at(any_address, poison.question).stdout == poison.answer


def test_snippets_at_the_same_time_do_not_meet(any_address: str) -> None:
    shouting = (
        "import os, time\nopen('mine', 'w').write('GOT file')\n"
        "os.environ['MINE'] = 'GOT environment'\nprint(os.getpid()); time.sleep(1.5)"
    )
    looking = (
        "import os, time\ntime.sleep(0.5)\n"
        "def names(path):\n    try: return os.listdir(path)\n    except OSError: return []\n"
        "print([n for n in names('/tmp') + names('/dev/shm') + names('.') if 'mine' in n])\n"
        "print([p for p in names('/proc') if p.isdigit() and p not in ('1', str(os.getpid()))])"
    )

    async def both() -> Execution:
        async with SandboxClient([any_address]) as client:
            shout = asyncio.create_task(client.run(shouting))
            look = await client.run(looking)
            assert (await shout).outcome is CallOutcome.PASSED
            return look

    assert asyncio.run(both()).stdout == "[]\n[]\n"


def test_a_link_swapped_behind_the_reader_leads_nowhere(any_address: str, canary: Path) -> None:
    code = (
        "import os\nos.mkdir('real'); open('real/f', 'w').write('own')\n"
        f"os.symlink({str(canary.parent)!r}, 'link')\nos.symlink({str(canary)!r}, 'file')\n"
        "os.mkfifo('pipe') if os.access('/proc/1', os.F_OK) else None"
    )
    body = {
        "code": code,
        "language": "python",
        "fetch_files": ["real/f", "link/answers.jsonl", "file", "pipe", "/dev/zero"],
    }
    request = urllib.request.Request(f"{any_address}/run_code", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        reply: dict[str, Any] = json.load(answer)
    assert set(reply["files"]) == {"real/f"}


def test_ordinary_parallel_code_still_works(any_address: str) -> None:
    asynchronous = "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 42\nprint(asyncio.run(f()))"
    threads = (
        "from concurrent.futures import ThreadPoolExecutor\nprint(sum(ThreadPoolExecutor(4).map(abs, range(-3, 4))))"
    )
    processes = "from multiprocessing import Pool\nif __name__ == '__main__':\n    with Pool(2) as p: print(p.map(abs, [-1, 2]))"
    assert run_at(any_address, asynchronous).stdout == "42\n"
    assert run_at(any_address, threads).stdout == "12\n"
    if tier_of(any_address) == 1:
        assert run_at(any_address, processes).stdout == "[1, 2]\n"
