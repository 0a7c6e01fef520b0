#!/usr/bin/env python3
"""Train one policy by GRPO, continuing from its last checkpoint if there is one."""

import argparse
import os
import sys
from pathlib import Path

from torl import cli
from torl.config.models import RunConfig
from torl.files import read_json, write_json
from torl.training.launch import Stopped, train
from torl.training.run_dir import STOPPED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="resolved configuration of the experiment")
    parser.add_argument("--model", required=True, help="folder or hub id of the base model")
    parser.add_argument("--problems", type=Path, required=True, help="train.parquet")
    parser.add_argument(
        "--runs-dir", type=Path, required=True, help="where run folders are kept; nothing here is ever deleted"
    )
    parser.add_argument("--out", type=Path, required=True, help="done.json, written last")
    parser.add_argument("--minutes", type=float, help="time limit of this job; it stops and saves before that")
    options = parser.parse_args()
    config = RunConfig.model_validate(read_json(options.config))
    try:
        done = train(
            config,
            model_path=options.model,
            train_file=options.problems,
            runs_dir=options.runs_dir,
            minutes=options.minutes,
        )
    except Stopped as stopped:
        sys.stderr.write(f"{stopped}\n")
        sys.exit(STOPPED)
    # Results stay whole where they are moved or copied together.
    write_json(options.out, done | {"run_dir": os.path.relpath(done["run_dir"], options.out.parent.resolve())})


if __name__ == "__main__":
    cli.run(main)
