#!/usr/bin/env python3
"""Rule filter_problems: checked rows to the pool of verifiable problems, with a reason for every row that is dropped."""

import argparse
import sys
from pathlib import Path

from torl import cli
from torl.problems.answers import KillableGrader
from torl.problems.funnel import FilterSettings
from torl.problems.sieve import Sieve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--checked", nargs="+", required=True, metavar="FILE", help="shards of check_problems, in order"
    )
    parser.add_argument("--max-prompt-tokens", type=int, help="token budget of a prompt; needs shards with a tokenizer")
    parser.add_argument("--keep-overlap", action="store_true", help="keep problems that overlap with a benchmark")
    parser.add_argument("--workers", type=int, default=1, help="processes that compare answers (default 1)")
    parser.add_argument("--out-pool", required=True, type=Path)
    parser.add_argument("--out-dropped", required=True, type=Path)
    parser.add_argument("--out-overlap", required=True, type=Path)
    parser.add_argument("--out-funnel", required=True, type=Path)
    options = parser.parse_args()
    settings = FilterSettings(max_prompt_tokens=options.max_prompt_tokens, keep_overlap=options.keep_overlap)
    sieve = Sieve(options.checked, settings)
    with KillableGrader(workers=options.workers) as grader:
        funnel = sieve.run(grader)
    sieve.write(
        funnel,
        pool=options.out_pool,
        dropped=options.out_dropped,
        overlap=options.out_overlap,
        funnel_file=options.out_funnel,
    )
    sys.stdout.write(funnel.text() + "\n")


if __name__ == "__main__":
    cli.run(main)
