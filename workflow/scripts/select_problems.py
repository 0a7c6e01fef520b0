#!/usr/bin/env python3
"""Rule select_problems: the pool to the training file, by learning impact, by pass rate, at random, or whole."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from torl import cli
from torl.errors import ConfigError
from torl.files import write_json
from torl.lim import read_scores, scores_by_problem, select_lim
from torl.problems.schema import Problem, read_problems
from torl.problems.torl_format import write_torl
from torl.selection import read_pass_rates, select_pass_rate, select_random


def select(pool: list[Problem], options: argparse.Namespace) -> list[Problem]:
    """The problems that the options ask for, before the limit."""
    if options.method == "all":
        return pool
    if options.method == "random":
        if options.count is None:
            raise ConfigError("method random needs --count: how many problems to draw.")
        return select_random(pool, count=options.count, seed=options.seed)
    if options.scores is None:
        raise ConfigError(_WITHOUT_SCORES[options.method])
    if options.method == "pass_rate":
        low, high = options.band
        return select_pass_rate(pool, read_pass_rates(options.scores), low=low, high=high)
    scores = scores_by_problem(read_scores(options.scores))
    return select_lim(pool, scores, minimum=options.minimum, count=options.count)


_WITHOUT_SCORES = {
    "lim": "method lim needs learning-impact scores: run the probe experiment (`snakemake probe`), or set data.scores to a "
    "file of published scores (--scores here).",
    "pass_rate": "method pass_rate needs the pass rates of the pool: sample the base model over it (rule sample_problems), "
    "or set data.pass_rates to a file of them (--scores here).",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", required=True, help="pool parquet of filter_problems")
    parser.add_argument("--method", required=True, choices=["lim", "pass_rate", "random", "all"])
    parser.add_argument("--scores", help="lim: our parquet, or published JSON (also .zst); pass_rate: parquet")
    parser.add_argument("--band", type=float, nargs=2, metavar=("LOW", "HIGH"), default=[0.0, 1.0], help="pass_rate")
    parser.add_argument("--minimum", type=float, help="lim: lowest score that is kept")
    parser.add_argument("--count", type=int, help="lim: the N highest scores; random: how many to draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of random draws, --limit included")
    parser.add_argument("--limit", type=int, help="at most so many of the selected problems, drawn at random")
    parser.add_argument("--benchmarks", nargs="*", default=[], metavar="FILE", help="problem parquet for the test file")
    parser.add_argument("--out", required=True, type=Path, help="training parquet to write")
    parser.add_argument("--out-test", type=Path, help="test parquet to write: the problems of the benchmarks")
    parser.add_argument("--out-selection", required=True, type=Path, help="summary JSON to write")
    options = parser.parse_args()
    pool = read_problems(options.pool)
    selected = select(pool, options)
    written = selected
    if options.limit is not None and options.limit < len(selected):
        written = select_random(selected, count=options.limit, seed=options.seed)
    write_torl(options.out, written)
    if options.out_test:
        tests = [problem for file in options.benchmarks for problem in read_problems(file)]
        write_torl(options.out_test, tests, split="test")
    settings = {name: getattr(options, name) for name in ("method", "scores", "minimum", "count", "seed", "limit")}
    if options.method == "pass_rate":
        settings["band"] = f"{options.band[0]:g} to {options.band[1]:g}"
    sources = Counter(problem.source for problem in written)
    summary = {
        "pool": len(pool),
        "selected": len(selected),
        "written": len(written),
        "written_by_source": dict(sources),
    }
    write_json(options.out_selection, settings | summary)
    sys.stdout.write(f"selected {len(selected):,} of {len(pool):,} problems, wrote {len(written):,}\n")


if __name__ == "__main__":
    cli.run(main)
