#!/usr/bin/env python3
"""Rule sample_problems: how often the base model solves each problem of the pool, from k sampled responses."""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from torl import cli
from torl.config.models import RunConfig
from torl.evaluation.evaluate import Row
from torl.evaluation.job import respond
from torl.files import atomic_path, read_json, write_json, write_table
from torl.problems.schema import count_problems, iter_problems
from torl.rollout.trajectory import TRAJECTORY_SCHEMA
from torl.selection import PASS_RATE_SCHEMA, read_pass_rates
from torl.training.weights import weights_sha256

RESPONSE_COLUMNS = ("problem_id", "sample_index", "seed", "stop_reason", "answer", "correct", "response_tokens")
RESPONSE_SCHEMA = pa.schema([TRAJECTORY_SCHEMA.field(name) for name in RESPONSE_COLUMNS])
"""Whole trajectories of 600,000 responses would fill a disk; with its seed any of them can be made again."""

ROWS_PER_GROUP = 10_000


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


def write_responses(path: Path, rows: Iterator[Row]) -> None:
    """Write rows as they are read, a row group at a time."""
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, RESPONSE_SCHEMA, compression="zstd") as writer:
        while group := list(islice(rows, ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=RESPONSE_SCHEMA))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="resolved configuration of an experiment")
    parser.add_argument("--model", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--pool", type=Path, required=True, help="pool parquet of filter_problems")
    parser.add_argument("--samples", type=int, required=True, help="responses to each problem")
    parser.add_argument("--threads", type=int, default=1, help="of the transformers engine; vLLM has its own")
    parser.add_argument("--out", type=Path, required=True, help="parquet with problem_id, passes and samples")
    parser.add_argument("--out-responses", type=Path, required=True, help="parquet with one row a response")
    options = parser.parse_args()
    config = sampling_config(RunConfig.model_validate(read_json(options.config)), options.samples)
    problems = count_problems(options.pool)
    responses = problems * options.samples
    sys.stderr.write(
        f"{problems:,} problems x {options.samples} samples = {responses:,} responses, "
        f"at most {responses * config.rollout.max_response_tokens:,} tokens\n"
    )
    torch.set_num_threads(options.threads)
    kept = options.out_responses.with_suffix(".partial.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        export = export_of(options.model, Path(folder))
        rows = respond(config, export, "pool", options.pool, kept, RESPONSE_COLUMNS)
    write_responses(options.out_responses, rows)
    rates = read_pass_rates(options.out_responses)
    names = [problem.id for problem in iter_problems(options.pool) if problem.id in rates]
    counts = [{"problem_id": name, "passes": rates[name].passes, "samples": rates[name].samples} for name in names]
    write_table(options.out, counts, PASS_RATE_SCHEMA)
    kept.unlink()


if __name__ == "__main__":
    cli.run(main)
