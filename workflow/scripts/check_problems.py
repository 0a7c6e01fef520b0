#!/usr/bin/env python3
"""Rule check_problems: each row of one shard by itself: its rule, its prompt's length, what rows are compared by."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from torl import cli
from torl.errors import ConfigError, DataError
from torl.problems.check import check_shard
from torl.rollout.prompts import render


def token_counter(tokenizer: str, prompt: str) -> Callable[[Sequence[str]], list[int]]:
    """Lengths of the whole prompts of problems by a Hugging Face tokenizer, a folder or a hub id."""
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(tokenizer)
    except (OSError, ValueError) as error:
        raise DataError(
            f"tokenizer {tokenizer} cannot be loaded ({error}); give a folder or hub id that has one."
        ) from error

    def count(texts: Sequence[str]) -> list[int]:
        prompts = [render(prompt, text) for text in texts]
        return [len(ids) for ids in loaded(prompts, add_special_tokens=False)["input_ids"]]

    return count


def shard_of(text: str) -> tuple[int, int]:
    """``(k, n)`` of ``k-of-n``, as Snakemake names the items of a scatter."""
    match = re.fullmatch(r"(\d+)-of-(\d+)", text)
    if not match:
        raise ConfigError(f"--shard is {text!r}; write k-of-n, for example 1-of-4.")
    return int(match[1]), int(match[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", required=True, metavar="FILE", help="problem parquet of each source")
    parser.add_argument("--benchmarks", nargs="*", default=[], metavar="FILE", help="problem parquet of each benchmark")
    parser.add_argument("--shard", default="1-of-1", help="k-of-n: the k-th of n equal ranges of all rows")
    parser.add_argument("--tokenizer", help="folder or hub id; without one no problem is too long for the budget")
    parser.add_argument("--prompt", default="tir_base_0309", help="prompt that problems are put in before counting")
    parser.add_argument("--workers", type=int, default=1, help="processes that parse answers (default 1)")
    parser.add_argument("--out", required=True, type=Path, help="parquet of the checked rows")
    options = parser.parse_args()
    shard, shards = shard_of(options.shard)
    rows = check_shard(
        options.problems,
        options.benchmarks,
        shard=shard,
        shards=shards,
        out=options.out,
        count_tokens=token_counter(options.tokenizer, options.prompt) if options.tokenizer else None,
        graders=options.workers,
    )
    sys.stdout.write(f"checked {rows:,} rows, shard {shard} of {shards}\n")


if __name__ == "__main__":
    cli.run(main)
