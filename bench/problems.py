#!/usr/bin/env python3
"""What the filter costs: seconds, rows a second and peak memory at several numbers of rows, one after the other.

``python bench/problems.py FOLDER --data DATA [--rows 40000 200000] [--workers 2]`` needs the local sources and benchmarks
of config/sources.yaml in DATA. Their rows are repeated to size; in each further copy all numbers of text and answer are
others, so that ids, texts and answers are distinct and each copy is a sibling, not a duplicate, of the first. Memory is the
sum of the resident sizes of all processes of the filter, sampled ten times a second. Core seconds are the CPU time of all of
them; on a machine with other work they say what the seconds do not.
"""

import argparse
import itertools
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil

from torl.files import read_json
from torl.problems.fetch import fetch
from torl.problems.schema import Problem, problem_id, read_problems, write_problems
from torl.problems.sources import read_sources

PROJECT = Path(__file__).resolve().parent.parent
SOURCES = ("deepscaler_local", "math_local", "numina_local")
BENCHMARKS = ("aime24_local", "aime25_local", "amc23_local", "math500_local", "olympiadbench_local", "minerva_local")
GIB = 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where files are written; may be deleted afterwards")
    parser.add_argument("--data", type=Path, required=True, help="folder of the local sources")
    parser.add_argument("--rows", type=int, nargs="+", default=[40_000, 200_000])
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    sources = read_sources(PROJECT / "config" / "sources.yaml")
    files = {name: options.folder / f"{name}.parquet" for name in (*SOURCES, *BENCHMARKS)}
    for name, file in files.items():
        fetch(name, sources[name], out=file, data_dir=options.data)
    base = [problem for name in SOURCES for problem in read_problems(files[name])]
    print("| rows | kept | seconds | core seconds | rows a core second | peak GiB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for rows in options.rows:
        print(measured(options.folder, base, [files[name] for name in BENCHMARKS], rows, options.workers), flush=True)


def measured(folder: Path, base: list[Problem], benchmarks: list[Path], rows: int, workers: int) -> str:
    """The line of the table for ``rows`` rows."""
    write_problems(folder / "rows.parquet", itertools.islice(repeated(base), rows))
    command = [sys.executable, "-m", "torl.problems", "filter", str(folder / "rows.parquet"), "--benchmarks"]
    command += [*map(str, benchmarks), "--out", str(folder / "out"), "--workers", str(workers)]
    begin = time.monotonic()
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    peak, cores = 0, {}
    while process.poll() is None:
        total = 0
        for pid, (resident, used) in usage(process.pid).items():
            total += resident
            cores[pid] = used
        peak = max(peak, total)
        time.sleep(0.1)
    seconds = time.monotonic() - begin
    if process.returncode:
        raise SystemExit(f"the filter failed; read {folder / 'log.txt'}")
    kept = read_json(folder / "out" / "funnel.json")["kept"]
    busy = sum(cores.values())
    return f"| {rows:,} | {kept:,} | {seconds:.0f} | {busy:.0f} | {rows / busy:,.0f} | {peak / GIB:.2f} |"


def usage(pid: int) -> dict[int, tuple[int, float]]:
    """Bytes held and CPU seconds used by a process and each of its children."""
    found = {}
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return found
    for process in processes:
        try:
            times = process.cpu_times()
            found[process.pid] = process.memory_info().rss, times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return found


def repeated(base: list[Problem]) -> Iterator[Problem]:
    """The rows of ``base`` again and again, with other numbers in each copy."""
    for copy in itertools.count():
        for problem in base:
            yield problem if copy == 0 else sibling(problem, copy)


def sibling(problem: Problem, copy: int) -> Problem:
    """``problem`` with all its numbers shifted by a multiple of ``copy``; without a number, with its copy named."""
    text, answer = (
        re.sub(r"\d+", lambda found: str(int(found[0]) + 7 * copy), part) for part in (problem.text, problem.answer)
    )
    if text == problem.text:
        text = f"{text} (Variant {copy}.)"
    return replace(problem, id=problem_id(text), text=text, answer=answer, origin=f"{problem.origin}x{copy}")


if __name__ == "__main__":
    main()
