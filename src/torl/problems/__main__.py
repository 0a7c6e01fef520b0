"""``python -m torl.problems filter FILE... --out DIR``: which problems are usable, and why others are not."""

import argparse
import json
import sys
from pathlib import Path

from torl.errors import TorlError
from torl.files import write_table
from torl.problems.answers import KillableGrader
from torl.problems.overlap import OVERLAP_SCHEMA
from torl.problems.pipeline import FilterSettings, filter_problems, funnel_text, write_filtered
from torl.problems.readers import READERS, ReadCounts, read_file
from torl.problems.schema import Problem, read_problems


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m torl.problems", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("filter", help="filter problem files and print the funnel")
    command.add_argument("files", nargs="+", metavar="FILE", help="problem parquet, or any source file with --reader")
    command.add_argument("--reader", choices=list(READERS), help="row format of FILEs that are not problem parquet")
    command.add_argument("--benchmarks", nargs="*", default=[], metavar="FILE", help="benchmarks, read in the same way")
    command.add_argument("--out", required=True, type=Path, help="folder for pool, dropped rows, overlap and funnel")
    command.add_argument("--keep-overlap", action="store_true", help="keep problems that overlap with a benchmark")
    command.add_argument("--workers", type=int, default=1, help="processes that parse answers (default 1)")
    options = parser.parse_args(arguments)
    try:
        sys.stdout.write(_filter(options) + "\n")
    except TorlError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _filter(options: argparse.Namespace) -> str:
    problems = [problem for file in options.files for problem in _read(file, options.reader)]
    benchmarks = [problem for file in options.benchmarks for problem in _read(file, options.reader)]
    settings = FilterSettings(keep_overlap=options.keep_overlap)
    with KillableGrader(workers=options.workers) as grader:
        result = filter_problems(problems, benchmarks, settings, grader=grader, progress=True)
    out = options.out
    write_filtered(result, pool=out / "pool.parquet", dropped=out / "dropped.parquet", funnel=out / "funnel.json")
    write_table(out / "overlap.parquet", [hit._asdict() for hit in result.hits], OVERLAP_SCHEMA)
    return funnel_text(result.funnel)


def _read(file: str, reader: str | None) -> list[Problem]:
    """Problems of a file; with a reader, rows that it cannot use are reported on standard error."""
    if reader is None:
        return read_problems(file)
    counts = ReadCounts()
    problems = list(read_file(file, reader=reader, source=Path(file).name.split(".")[0], counts=counts))
    if counts.rejected:
        sys.stderr.write(f"{file}: rows not read {json.dumps(counts.rejected)}\n")
    return problems


if __name__ == "__main__":
    sys.exit(main())
