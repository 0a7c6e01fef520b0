#!/usr/bin/env python3
"""What the demo costs and shows on this machine: one table of seconds per rule, peak memory, and the results.

``python bench/demo.py FOLDER [--seed N]`` runs the whole chain in FOLDER, which should be new, with nothing else running.
Memory is that of the whole machine above what was in use at the start, sampled every half second.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

from torl.files import read_json, read_table

PROJECT = Path(__file__).resolve().parent.parent


class PeakMemory:
    """Samples the memory in use until stopped."""

    def __init__(self) -> None:
        self._start = self._peak = psutil.virtual_memory().used
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._stop.wait(0.5):
            self._peak = max(self._peak, psutil.virtual_memory().used)

    def gib(self) -> float:
        """Peak above the start, in GiB."""
        self._stop.set()
        self._thread.join()
        return (self._peak - self._start) / 2**30


def run_demo(folder: Path, seed: int) -> tuple[float, float]:
    """Run the chain; returns wall seconds and peak GiB."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        str(PROJECT / "workflow" / "Snakefile"),
        "--directory",
        str(folder),
    ]
    memory, started = PeakMemory(), time.monotonic()
    subprocess.run([*command, "--config", f"seed={seed}"], check=True)
    return time.monotonic() - started, memory.gib()


def rule_seconds(folder: Path) -> dict[str, float]:
    """Seconds by rule, summed over its jobs, of the rules that have a benchmark file."""
    seconds: dict[str, float] = {}
    for path in sorted((folder / "benchmarks" / "demo").rglob("*.tsv")):
        rule = path.stem if path.parent.name == "demo" else f"{path.parent.name} {path.stem}"
        with path.open() as rows:
            seconds[rule] = sum(float(row["s"]) for row in csv.DictReader(rows, delimiter="\t"))
    return seconds


def accuracy_rows(folder: Path) -> list[tuple[str, int, float, float]]:
    """Experiment, step, held-out accuracy, code ratio: from the responses themselves."""
    rows = []
    for experiment in read_json(folder / "results" / "demo" / "report.json")["experiments"]:
        name = experiment["name"]
        files = sorted((folder / "results" / "demo" / name / "evaluation").glob("step_*/generated_test.parquet"))
        for path in sorted(files, key=lambda path: int(path.parent.name.split("_")[1])):
            answers = read_table(path)
            right = sum(bool(row["correct"]) for row in answers) / len(answers)
            code = sum(row["code_blocks"] > 0 for row in answers) / len(answers)
            rows.append((name, int(path.parent.name.split("_")[1]), right, code))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wall, peak = run_demo(options.folder, options.seed)
    print(
        f"\nmachine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, seed {options.seed}"
    )
    print(f"{'whole chain':<45}{wall:>8.0f} s   peak memory {peak:.1f} GiB")
    for rule, seconds in rule_seconds(options.folder).items():
        print(f"{rule:<45}{seconds:>8.0f} s")
    print(f"{'experiment':<12}{'step':>5}{'accuracy':>10}{'code ratio':>12}")
    for name, step, right, code in accuracy_rows(options.folder):
        print(f"{name:<12}{step:>5}{right:>10.3f}{code:>12.3f}")
    for pair in read_json(options.folder / "results" / "demo" / "report.json")["comparisons"]:
        interval = f"95 % interval {pair['low']:+.3f} to {pair['high']:+.3f}"
        print(
            f"{pair['first']} minus {pair['second']}: {pair['value']:+.3f}, {interval}, {pair['n_problems']} questions"
        )


if __name__ == "__main__":
    main()
