"""Servers of each tier, as the user that runs the tests and as an ordinary user."""

import functools
import json
import os
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

import torl
from tests.sandbox.available import need_landlock, need_namespaces
from torl.sandbox.launcher import running_sandbox

NOBODY = 65534
SOURCES = str(Path(torl.__file__).parents[1])


def ordinary_python() -> tuple[list[str], int | None]:
    """An interpreter with our packages that an ordinary user can start, and that user; skips where there is none."""
    if os.geteuid() != 0:
        return [sys.executable], None
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys._base_executable, f"/usr/bin/{version}"):
        check = [python, "-c", "import numpy, sympy, aiohttp, pydantic"]
        try:
            subprocess.run(check, env=ordinary_environment(), user=NOBODY, cwd="/", check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return [python], NOBODY
    pytest.skip("tests run as root, and an ordinary user cannot read this interpreter")


def ordinary_environment() -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([SOURCES, sysconfig.get_path("purelib")]),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@contextmanager
def ordinary_server(*options: str) -> Iterator[str]:
    """The address of a server with two workers that an ordinary user runs."""
    python, user = ordinary_python()
    command = [*python, "-m", "torl.sandbox", "serve", "--port", "0", "--workers", "2", "--until-stdin-closes"]
    process = subprocess.Popen(
        [*command, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        env=ordinary_environment(),
        cwd="/",
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("ready: "), process.stderr.read()
        yield line.split()[1]
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()
        process.stderr.close()


@contextmanager
def server_of(name: str) -> Iterator[str]:
    """The address of one of ``SERVERS``."""
    if name == "landlock":
        need_landlock()
        with ordinary_server("--tier", "2") as address:
            yield address
        return
    need_namespaces()
    if name == "ordinary":
        if os.geteuid() != 0:
            pytest.skip("this is the server of the other tests")
        with ordinary_server("--tier", "1") as address:
            yield address
        return
    with running_sandbox(workers=2, options=["--tier", "1"]) as address:
        yield address


SERVERS = (
    "namespaces",
    pytest.param("ordinary", marks=pytest.mark.slow),  # the same snippets again, a minute each
    pytest.param("landlock", marks=pytest.mark.slow),
)


def health_of(address: str) -> dict[str, Any]:
    """What the server at ``address`` says of itself."""
    with urllib.request.urlopen(f"{address}/v1/health", timeout=60) as reply:
        return json.load(reply)


def tier_of(address: str) -> int:
    """The tier of the server at ``address``."""
    return health_of(address)["tier"]


# Server, maker of cells and three cells; in tier 1 bubblewrap's two, and a first process in each cell.
PROCESSES_AT_REST = {1: 1 + 1 + 3 + 2 + 3, 2: 1 + 1 + 3}


def processes_at_rest(address: str, *, patience_s: float = 10.0) -> bool:
    """Whether the server at ``address`` comes to have just the processes of one at rest, dead ones counted."""
    wanted, server = PROCESSES_AT_REST[tier_of(address)], _server_at(int(address.rpartition(":")[2]))
    deadline = time.monotonic() + patience_s
    while 1 + len(server.children(recursive=True)) != wanted:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@functools.cache
def _server_at(port: int) -> psutil.Process:
    for process in psutil.Process().children(recursive=True):
        connections = process.net_connections(kind="tcp") if process.status() != psutil.STATUS_ZOMBIE else []
        if any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections):
            return process
    raise AssertionError(f"no server of this test listens on port {port}")
