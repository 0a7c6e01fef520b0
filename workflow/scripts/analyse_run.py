#!/usr/bin/env python3
"""Turn the trajectories and evaluations of one experiment into its table of metrics."""

import argparse
from pathlib import Path

from torl.analysis.curves import METRICS_SCHEMA, evaluation_metrics, training_metrics
from torl.cli import run
from torl.files import read_table, write_table
from torl.training.run_dir import RunDir


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--done", type=Path, help="done.json of train_policy; leave out for an untrained model")
    parser.add_argument("--evaluations", type=Path, nargs="*", default=[], help="parquet files of evaluate_policy")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--out", type=Path, required=True, help="metrics.parquet")
    options = parser.parse_args()
    table = training_metrics(RunDir.named_by(options.done).root, options.experiment) if options.done else []
    for path in options.evaluations:
        table += evaluation_metrics(read_table(path), options.experiment, path)
    write_table(options.out, table, METRICS_SCHEMA)


if __name__ == "__main__":
    run(main)
