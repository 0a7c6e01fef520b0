#!/usr/bin/env python3
"""Rule select_problems: the pool to the training file, by LIM scores, at random, or whole."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from torl import cli
from torl.errors import ConfigError
from torl.files import write_json
from torl.lim import read_scores, scores_by_problem, select_lim, select_random
from torl.problems.schema import Problem, read_problems
from torl.problems.torl_format import write_torl


def select(pool: list[Problem], options: argparse.Namespace) -> list[Problem]:
    """The problems that the options ask for, before the limit."""
    if options.method == "all":
        return pool
    if options.method == "random":
        if options.count is None:
            raise ConfigError("method random needs --count: how many problems to draw.")
        return select_random(pool, count=options.count, seed=options.seed)
    if options.scores is None:
        raise ConfigError(
            "method lim needs learning-impact scores: run the probe experiment (`snakemake probe`), or set "
            "data.lim_scores to a "
            "file of published scores (--scores here)."
        )
    scores = scores_by_problem(read_scores(options.scores))
    return select_lim(pool, scores, minimum=options.minimum, count=options.count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", required=True, help="pool parquet of filter_problems")
    parser.add_argument("--method", required=True, choices=["lim", "random", "all"])
    parser.add_argument("--scores", help="LIM scores: our parquet, or published JSON (also .zst)")
    parser.add_argument("--minimum", type=float, help="lim: lowest score that is kept")
    parser.add_argument("--count", type=int, help="lim: the N highest scores; random: how many to draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of random draws, --limit included")
    parser.add_argument("--limit", type=int, help="at most so many of the selected problems, drawn at random")
    parser.add_argument("--out", required=True, type=Path, help="training parquet to write")
    parser.add_argument("--out-selection", required=True, type=Path, help="summary JSON to write")
    options = parser.parse_args()
    pool = read_problems(options.pool)
    selected = select(pool, options)
    written = selected
    if options.limit is not None and options.limit < len(selected):
        written = select_random(selected, count=options.limit, seed=options.seed)
    write_torl(options.out, written)
    settings = {name: getattr(options, name) for name in ("method", "scores", "minimum", "count", "seed", "limit")}
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
