#!/usr/bin/env python3
"""Learning-impact scores of the problems of a probe run, from the curves that its trajectories show."""

import argparse
from itertools import chain
from pathlib import Path

import pyarrow.parquet as pq

from torl import cli
from torl.config.models import RunConfig
from torl.files import read_json, read_jsonl, write_table
from torl.lim import learning_curve_scores
from torl.training.probe import learning_curves
from torl.training.run_dir import RunDir


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--done", type=Path, required=True, help="done.json of the probe run")
    parser.add_argument("--problems", type=Path, required=True, help="train.parquet of the probe run")
    parser.add_argument("--out", type=Path, required=True, help="parquet with problem_id and score")
    options = parser.parse_args()
    run_dir = RunDir.named_by(options.done)
    train = RunConfig.model_validate(read_json(run_dir.root / "config.json")).train
    steps_per_epoch = pq.read_metadata(options.problems).num_rows // train.prompts_per_step
    rows = chain.from_iterable(read_jsonl(path) for path in sorted(run_dir.trajectories.glob("step_*.jsonl")))
    curves = learning_curves(rows, steps_per_epoch=steps_per_epoch, epochs=train.steps // steps_per_epoch)
    scores = learning_curve_scores(curves)
    write_table(options.out, [{"problem_id": problem, "score": score} for problem, score in scores.items()])


if __name__ == "__main__":
    cli.run(main)
