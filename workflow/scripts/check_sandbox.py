#!/usr/bin/env python3
"""Make sure that the sandbox runs code, isolates it and bounds it, before anything trains or evaluates with it."""

import argparse
import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torl import cli
from torl.errors import SandboxError
from torl.files import write_json
from torl.sandbox.conformance import health_of, run_checks, snippets_per_second, table
from torl.sandbox.launcher import sandboxes

CURE = "Mend it, or leave sandbox.url empty so that an isolated one is started."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running sandbox; one is started otherwise")
    parser.add_argument("--allow-unsafe", action="store_true", help="accept a sandbox that does not isolate")
    parser.add_argument("--out", type=Path, required=True, help="sandbox.json")
    options = parser.parse_args()
    with sandboxes(options.url, allow_unsafe=options.allow_unsafe) as checked:
        reports = [asyncio.run(examine(url, allow_unsafe=options.allow_unsafe)) for url in checked.urls]
    write_json(options.out, together(reports))


async def examine(url: str, *, allow_unsafe: bool) -> dict[str, Any]:
    health = await health_of(url)
    results = await run_checks(url)
    failed = [result.name for result in results if not result.passed and not (allow_unsafe and result.about_isolation)]
    if failed:
        raise SandboxError(f"the sandbox at {url} fails: {', '.join(failed)}. {CURE}\n{table(results)}")
    return {
        "isolation": health.get("isolation", "unknown"),
        "workers": health.get("workers"),
        "checks": [asdict(result) for result in results],
        "snippets_per_second": round(await snippets_per_second(url), 1),
    }


def together(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """One report of all sandboxes: what they do together, and the checks of each in turn."""
    workers = [report["workers"] for report in reports]
    return {
        "sandboxes": len(reports),
        "isolation": ", ".join(sorted({report["isolation"] for report in reports})),
        "workers": None if None in workers else sum(workers),
        "checks": [check for report in reports for check in report["checks"]],
        "snippets_per_second": round(sum(report["snippets_per_second"] for report in reports), 1),
    }


if __name__ == "__main__":
    cli.run(main)
