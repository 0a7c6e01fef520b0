#!/usr/bin/env python3
"""How fast the sandbox runs snippets, beside SandboxFusion where one is given, and what it leaves behind.

``python bench/sandbox.py`` starts a sandbox and prints one row for each kind of snippet and number at once: snippets a
second, latencies, and processor milliseconds of the whole machine a snippet (client included), so nothing else should
run. Below stand the same rows with a fresh interpreter for each snippet. ``--sandboxfusion CHECKOUT --venv VENV`` starts
the original from its checkout in turn and prints ratios; ``--peer NAME=URL`` takes one that runs. ``--soak N`` runs N
snippets, every twentieth hostile, and prints memory, processes and descriptors of the server before and after.
"""

import argparse
import asyncio
import itertools
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import SandboxClient
from torl.sandbox.conformance import health_of
from torl.sandbox.launcher import running_sandbox

SNIPPETS = {
    "simple": "print(sum(i * i for i in range(100)))",
    "numpy": "import numpy as np\nprint(int(np.linalg.det(np.arange(9).reshape(3, 3) + np.eye(3))))",
    "sympy": "from sympy import *\nx = symbols('x')\nprint(solve(x**4 - 5*x**2 + 4 - {n}*x, x)[:1] != [])",
}
HOSTILE = (
    "while True: pass",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "x = []\nwhile True: x.append(bytearray(10**7))",
    "while True: print('spam' * 1000)",
    "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(60)\nos.kill(os.getpid(), 9)",
    "for n in range(10**6): open(f'f{n}', 'w').write('x' * 1000)",
)
Run = Callable[[str], Awaitable[None]]
Rows = Sequence[tuple[str, int]]
ROWS: Rows = (("simple", 1), ("simple", 8), ("simple", 32), ("numpy", 8), ("sympy", 8))
HOSTILE_TIMEOUT_S = 0.5
SOAK_AT_ONCE = 8
SOAK_BLOCK = 20  # one hostile snippet in a block


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One row of the table."""

    per_second: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float


def busy_seconds() -> float:
    """Processor time of everything on this machine since its start."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait - times.guest - times.guest_nice


async def measure(run: Run, kind: str, at_once: int, seconds: float) -> Measured:
    """Keep ``at_once`` snippets in flight for some seconds."""
    numbers = itertools.count(1)
    latencies: list[float] = []

    async def worker(until: float) -> None:
        while time.perf_counter() < until:
            begin = time.perf_counter()
            await run(SNIPPETS[kind].replace("{n}", str(next(numbers))))
            latencies.append(time.perf_counter() - begin)

    await run(SNIPPETS[kind].replace("{n}", "0"))
    busy, begin = busy_seconds(), time.perf_counter()
    await asyncio.gather(*(worker(begin + seconds) for _ in range(at_once)))
    wall, busy = time.perf_counter() - begin, busy_seconds() - busy
    quantiles = statistics.quantiles(latencies, n=20) if len(latencies) > 1 else latencies * 19
    return Measured(
        per_second=len(latencies) / wall,
        p50_ms=1000 * statistics.median(latencies),
        p95_ms=1000 * quantiles[-1],
        cpu_ms=1000 * busy / len(latencies),
    )


async def over_http(url: str, rows: Rows, seconds: float) -> dict[tuple[str, int], Measured]:
    """Every row for one server."""
    results = {}
    for kind, at_once in rows:
        async with SandboxClient([url], concurrency=at_once, timeout_s=30) as client:

            async def run(code: str, client: SandboxClient = client) -> None:
                execution = await client.run(code)
                if execution.outcome is not CallOutcome.PASSED:
                    raise SystemExit(f"{url}: ended as {execution.outcome}: {execution.stderr[-300:]}")

            results[kind, at_once] = await measure(run, kind, at_once, seconds)
    return results


async def fresh_interpreters(rows: Rows, seconds: float) -> dict[tuple[str, int], Measured]:
    """Every row with a new interpreter for each snippet: no isolation, no HTTP; what any server must beat that starts one."""

    async def run(code: str) -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
        await process.communicate()

    return {(kind, at_once): await measure(run, kind, at_once, seconds) for kind, at_once in rows}


@contextmanager
def sandboxfusion(checkout: Path, venv: Path, config: str, port: int) -> Iterator[str]:
    """The original with one configuration, started as its own Makefile does, in an empty home."""
    (checkout / "docs" / "build").mkdir(parents=True, exist_ok=True)
    (venv / "condabin").mkdir(exist_ok=True)
    command = [venv / "bin" / "uvicorn", "sandbox.server.server:app", "--host", "127.0.0.1", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "HOME": home,
            "PATH": f"{venv}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "SANDBOX_CONFIG": config,
            "OMP_NUM_THREADS": "2",
        }
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=checkout, env=environment, stdout=quiet, stderr=quiet)
        try:
            asyncio.run(_first_reply(url))
            yield url
        finally:
            process.terminate()
            process.wait()


async def _first_reply(url: str) -> None:
    async with SandboxClient([url], max_attempts=30) as client:
        execution = await client.run("print(1)")
    if execution.outcome is not CallOutcome.PASSED:
        raise SystemExit(f"no SandboxFusion at {url}: {execution.stderr}")


def print_table(results: dict[str, dict[tuple[str, int], Measured]]) -> None:
    """One row for each server, kind and number at once; ratios of snippets a second to ours."""
    print("| server | snippet | at once | per second | p50 ms | p95 ms | CPU ms each | ours is faster by |")
    print("|---|---|---|---|---|---|---|---|")
    for name, rows in results.items():
        for (kind, at_once), row in rows.items():
            ratio = "" if name == "torl" else f"{results['torl'][kind, at_once].per_second / row.per_second:.1f}x"
            print(
                f"| {name} | {kind} | {at_once} | {row.per_second:.1f} | {row.p50_ms:.1f} | {row.p95_ms:.1f} | "
                f"{row.cpu_ms:.1f} | {ratio} |"
            )


def footprint() -> str:
    """Processes, memory and descriptors of the servers that this process started."""
    processes = psutil.Process().children(recursive=True)
    server = processes[0]
    rss = server.memory_info().rss / 2**20
    return f"{len(processes)} processes, server {rss:.0f} MiB with {server.num_fds()} descriptors"


async def soak(url: str, count: int) -> None:
    """Run ``count`` snippets, every twentieth hostile."""
    good = SandboxClient([url], concurrency=SOAK_AT_ONCE)
    bad = SandboxClient([url], concurrency=SOAK_AT_ONCE, timeout_s=HOSTILE_TIMEOUT_S)
    numbers, attacks = iter(range(count)), itertools.cycle(HOSTILE)

    async def worker() -> None:
        for number in numbers:
            if number % SOAK_BLOCK:
                execution = await good.run(f"print({number})")
                if execution.stdout != f"{number}\n":
                    raise SystemExit(f"snippet {number} ended as {execution.outcome}: {execution.stderr[-300:]}")
            else:
                await bad.run(next(attacks))
            if number and number % max(1, count // 5) == 0:
                print(f"after {number}: {footprint()}", flush=True)

    async with good, bad:
        await good.run("print(1)")
        print(f"before: {footprint()}", flush=True)
        await asyncio.gather(*(worker() for _ in range(SOAK_AT_ONCE)))
        await asyncio.sleep(1)
        print(f"at rest afterwards: {footprint()}")
        print("outcomes:", dict(good.outcomes + bad.outcomes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of each measurement (default: %(default)s)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=URL", help="a running server to compare")
    parser.add_argument("--sandboxfusion", type=Path, metavar="CHECKOUT", help="start the original from here")
    parser.add_argument("--venv", type=Path, help="its virtual environment")
    parser.add_argument("--configs", default="local", help="its configurations, by commas (default: %(default)s)")
    parser.add_argument("--tier", type=int, help="of our server (default: the strongest that works)")
    parser.add_argument("--soak", type=int, metavar="N", help="run N snippets instead of the table")
    options = parser.parse_args()
    with running_sandbox(options=["--tier", str(options.tier)] if options.tier else []) as url:
        health = asyncio.run(health_of(url))
        print(
            f"{platform.node()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; isolation {health['isolation']}"
        )
        if options.soak:
            asyncio.run(soak(url, options.soak))
            return
        results = {"torl": asyncio.run(over_http(url, ROWS, options.seconds))}
    results["fresh interpreter"] = asyncio.run(fresh_interpreters(ROWS, options.seconds))
    peers = dict(peer.split("=", 1) for peer in options.peer)
    for name, peer in peers.items():
        results[name] = asyncio.run(over_http(peer, ROWS, options.seconds))
    if options.sandboxfusion:
        for port, config in enumerate(options.configs.split(","), start=18080):
            with ExitStack() as resources:
                peer = resources.enter_context(sandboxfusion(options.sandboxfusion, options.venv, config, port))
                results[f"SandboxFusion {config}"] = asyncio.run(over_http(peer, ROWS, options.seconds))
    print_table(results)


if __name__ == "__main__":
    main()
