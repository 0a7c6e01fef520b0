#!/usr/bin/env python3
"""Answer the questions of one benchmark with one policy and grade the answers."""

import argparse
from pathlib import Path

import torch

from torl import cli
from torl.config.models import RunConfig
from torl.evaluation.job import evaluate
from torl.files import read_json, write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="resolved configuration of the experiment")
    parser.add_argument("--export", type=Path, required=True, help="export.json of export_policy, beside its weights")
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--problems", type=Path, required=True, help="problems of the benchmark")
    parser.add_argument("--out", type=Path, required=True, help="parquet, one row a question and sample")
    parser.add_argument("--threads", type=int, default=1, help="of the transformers engine; vLLM has its own")
    options = parser.parse_args()
    config = RunConfig.model_validate(read_json(options.config))
    torch.set_num_threads(options.threads)
    kept = options.out.with_suffix(".partial.jsonl")
    rows = evaluate(config, options.export, options.benchmark, options.problems, kept)
    write_table(options.out, rows, TRAJECTORY_SCHEMA)
    kept.unlink()


if __name__ == "__main__":
    cli.run(main)
