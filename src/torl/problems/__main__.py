"""``python -m torl.problems filter FILE... --out DIR``: which problems are usable, and why others are not.

``python -m torl.problems pin [SOURCE...] --sources FILE``: writes into the sources file the commit and the hashes that the
hub has for its sources now.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from torl import cli
from torl.errors import TorlError
from torl.killable import end_with_owner
from torl.problems.answers import KillableGrader
from torl.problems.check import check_shard
from torl.problems.funnel import FilterSettings
from torl.problems.pin import pin_file
from torl.problems.readers import READERS, ReadCounts, read_file
from torl.problems.schema import write_problems
from torl.problems.sieve import Sieve


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m torl.problems", description="Filter problems; pin their sources.")
    commands = parser.add_subparsers(required=True)
    _add_filter(commands)
    _add_pin(commands)
    options = parser.parse_args(arguments)
    try:
        sys.stdout.write(options.run(options) + "\n")
    except (TorlError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _add_filter(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("filter", help="filter problem files and print the funnel")
    command.add_argument("files", nargs="+", metavar="FILE", help="problem parquet, or any source file with --reader")
    command.add_argument("--reader", choices=list(READERS), help="row format of FILEs that are not problem parquet")
    command.add_argument("--benchmarks", nargs="*", default=[], metavar="FILE", help="benchmarks, read in the same way")
    command.add_argument("--out", required=True, type=Path, help="folder for pool, dropped rows, overlap and funnel")
    command.add_argument("--keep-overlap", action="store_true", help="keep problems that overlap with a benchmark")
    command.add_argument("--workers", type=cli.positive, default=1, help="processes that check rows (default 1)")
    command.set_defaults(run=_filter)


def _add_pin(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser("pin", help="write commits and sha256 of hub sources into the sources file")
    command.add_argument("names", nargs="*", metavar="SOURCE", help="sources of the kind hub (default: all of them)")
    command.add_argument(
        "--sources", type=Path, default=Path("config/sources.yaml"), metavar="FILE", help="file to edit"
    )
    command.add_argument(
        "--cache-dir", type=Path, metavar="DIR", help="for downloads (default: that of huggingface_hub)"
    )
    command.set_defaults(run=_pin)


def _pin(options: argparse.Namespace) -> str:
    pins = pin_file(options.sources, options.names, cache_dir=options.cache_dir)
    lines = [f"{name}: commit {pin.commit}, {len(pin.sha256)} file(s)" for name, pin in pins.items()]
    return "\n".join([*lines, f"wrote {options.sources}"])


def _filter(options: argparse.Namespace) -> str:
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out, prefix=".checked.") as name:
        work = Path(name)
        files = [_problem_file(file, options.reader, work / f"{n}.parquet") for n, file in enumerate(options.files)]
        benchmarks = [
            _problem_file(file, options.reader, work / f"benchmark{n}.parquet")
            for n, file in enumerate(options.benchmarks)
        ]
        shards = _check(files, benchmarks, options.workers, work)
        sieve = Sieve(shards, FilterSettings(keep_overlap=options.keep_overlap))
        with KillableGrader(workers=options.workers) as grader:
            funnel = sieve.run(grader)
        sieve.write(
            funnel,
            pool=options.out / "pool.parquet",
            dropped=options.out / "dropped.parquet",
            overlap=options.out / "overlap.parquet",
            funnel_file=options.out / "funnel.json",
        )
    return funnel.text()


def _check(files: list[Path], benchmarks: list[Path], workers: int, work: Path) -> list[Path]:
    """The checked shards of ``files``, one a worker process."""
    shards = [work / f"shard{number}.parquet" for number in range(1, workers + 1)]
    if workers == 1:
        check_shard(files, benchmarks, shard=1, shards=1, out=shards[0])
        return shards
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawned, initializer=end_with_owner) as pool:
        jobs = [
            pool.submit(check_shard, files, benchmarks, shard=number, shards=workers, out=out)
            for number, out in enumerate(shards, start=1)
        ]
        for job in jobs:
            job.result()
    return shards


def _problem_file(file: str, reader: str | None, out: Path) -> Path:
    """``file`` itself, or with a reader its problems in ``out``; rows that it cannot use are reported on standard error."""
    if reader is None:
        return Path(file)
    counts = ReadCounts()
    write_problems(out, read_file(file, reader=reader, source=Path(file).name.split(".")[0], counts=counts))
    if counts.rejected:
        sys.stderr.write(f"{file}: rows not read {json.dumps(counts.rejected)}\n")
    return out


if __name__ == "__main__":
    sys.exit(main())
