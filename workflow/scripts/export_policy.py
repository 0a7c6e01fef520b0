#!/usr/bin/env python3
"""Copy the weights of one checkpoint (or, for step 0, the base model) to a folder of their own, with a manifest."""

import argparse
from pathlib import Path

from torl import cli
from torl.files import read_json, write_json
from torl.training.run_dir import RunDir
from torl.training.weights import copy_model, weights_sha256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--done", type=Path, required=True, help="done.json of train_policy")
    parser.add_argument("--base", type=Path, required=True, help="folder of the base model, exported as step 0")
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="export.json in the folder that the model is copied to")
    options = parser.parse_args()
    done = read_json(options.done)
    source = RunDir.named_by(options.done).weights(options.step) if options.step else options.base
    folder = options.out.parent
    copy_model(source, folder)
    origin = {"experiment": done["experiment"], "step": options.step, "source": str(source)}
    write_json(options.out, origin | {"sha256": weights_sha256(folder)})


if __name__ == "__main__":
    cli.run(main)
