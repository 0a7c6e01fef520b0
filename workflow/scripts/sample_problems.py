#!/usr/bin/env python3
"""Rule sample_problems: how often the base model solves each problem of the pool, from k sampled responses."""

import argparse
import sys
import tempfile
from pathlib import Path

import torch

from torl import cli
from torl.config.models import RunConfig
from torl.evaluation.job import evaluate
from torl.files import read_json, write_json, write_table
from torl.problems.schema import count_problems
from torl.selection import PASS_RATE_SCHEMA, pass_rates
from torl.training.weights import weights_sha256


def sampling_config(config: RunConfig, samples: int) -> RunConfig:
    """``config`` that answers every question ``samples`` times, at the temperature of training."""
    changes = {
        "samples": samples,
        "temperature": config.rollout.temperature,
        "top_p": config.rollout.top_p,
        "limit": None,
    }
    return config.model_copy(update={"evaluation": config.evaluation.model_copy(update=changes)})


def export_of(base: Path, folder: Path) -> Path:
    """The manifest of the base model as an exported policy, in ``folder``, with links to its files."""
    for file in base.iterdir():
        (folder / file.name).symlink_to(file.resolve())
    write_json(folder / "export.json", {"step": 0, "sha256": weights_sha256(folder)})
    return folder / "export.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="resolved configuration of an experiment")
    parser.add_argument("--model", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--pool", type=Path, required=True, help="pool parquet of filter_problems")
    parser.add_argument("--samples", type=int, required=True, help="responses to each problem")
    parser.add_argument("--threads", type=int, default=1, help="of the transformers engine; vLLM has its own")
    parser.add_argument("--out", type=Path, required=True, help="parquet with problem_id, passes and samples")
    options = parser.parse_args()
    config = sampling_config(RunConfig.model_validate(read_json(options.config)), options.samples)
    problems = count_problems(options.pool)
    responses = problems * options.samples
    sys.stderr.write(
        f"{problems:,} problems x {options.samples} samples = {responses:,} responses, "
        f"at most {responses * config.rollout.max_response_tokens:,} tokens\n"
    )
    torch.set_num_threads(options.threads)
    kept = options.out.with_suffix(".partial.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        rows = evaluate(config, export_of(options.model, Path(folder)), "pool", options.pool, kept)
    rates = pass_rates((row["problem_id"], row["correct"]) for row in rows)
    counts = [{"problem_id": name, "passes": rate.passes, "samples": rate.samples} for name, rate in rates.items()]
    write_table(options.out, counts, PASS_RATE_SCHEMA)
    kept.unlink()


if __name__ == "__main__":
    cli.run(main)
