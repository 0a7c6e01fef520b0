#!/usr/bin/env python3
"""Rule filter_problems: raw problems to the pool of verifiable ones, with a reason for every row that is dropped."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from torl import cli
from torl.errors import DataError
from torl.problems.answers import KillableGrader
from torl.problems.pipeline import FilterSettings, filter_problems, funnel_text, write_filtered
from torl.problems.schema import iter_problems
from torl.rollout.prompts import render


def token_counter(tokenizer: str, prompt: str) -> Callable[[str], int]:
    """Length of a problem's whole prompt by a Hugging Face tokenizer, a folder or a hub id."""
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(tokenizer)
    except (OSError, ValueError) as error:
        raise DataError(
            f"tokenizer {tokenizer} cannot be loaded ({error}); give a folder or hub id that has one."
        ) from error
    return lambda text: len(loaded.encode(render(prompt, text), add_special_tokens=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", required=True, metavar="FILE", help="problem parquet of each source")
    parser.add_argument("--benchmarks", nargs="*", default=[], metavar="FILE", help="problem parquet of each benchmark")
    parser.add_argument("--tokenizer", help="folder or hub id; without one no problem is too long for the budget")
    parser.add_argument("--max-prompt-tokens", type=int, help="token budget of a prompt")
    parser.add_argument("--prompt", default="tir_base_0309", help="prompt that problems are put in before counting")
    parser.add_argument("--keep-overlap", action="store_true", help="keep problems that overlap with a benchmark")
    parser.add_argument("--workers", type=int, default=1, help="processes that parse answers (default 1)")
    parser.add_argument("--out-pool", required=True, type=Path)
    parser.add_argument("--out-dropped", required=True, type=Path)
    parser.add_argument("--out-funnel", required=True, type=Path)
    options = parser.parse_args()
    settings = FilterSettings(
        max_prompt_tokens=options.max_prompt_tokens if options.tokenizer else None,
        keep_overlap=options.keep_overlap,
    )
    with KillableGrader(workers=options.workers) as grader:
        result = filter_problems(
            (problem for file in options.problems for problem in iter_problems(file)),
            [problem for file in options.benchmarks for problem in iter_problems(file)],
            settings,
            grader=grader,
            count_tokens=token_counter(options.tokenizer, options.prompt) if options.tokenizer else None,
            progress=True,
        )
    write_filtered(result, pool=options.out_pool, dropped=options.out_dropped, funnel=options.out_funnel)
    sys.stdout.write(funnel_text(result.funnel) + "\n")


if __name__ == "__main__":
    cli.run(main)
