#!/usr/bin/env python3
"""Train the scale model that the demo starts from: generated corpus, tokenizer, a few minutes of pretraining."""

import argparse
import logging
import os
from pathlib import Path

from torl import cli
from torl.scale_model.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="of corpus, first weights and order")
    parser.add_argument("--threads", type=int, default=Settings.threads, help="threads of matrix products (default: 2)")
    parser.add_argument("--documents", type=int, default=Settings.documents, help="documents in the corpus")
    parser.add_argument("--steps", type=int, help="optimizer steps at most (default: every document once)")
    parser.add_argument("--out", type=Path, required=True, help="folder of the model; replaced once training is done")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="make_base_model: %(message)s")
    # Read when torch is loaded. Threads that spin until the others are done make training six times as slow on a busy
    # machine, threads that sleep at once a quarter slower on an idle one: these spin for some microseconds.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    from torl.scale_model.pretrain import make_base

    settings = Settings(seed=options.seed, threads=options.threads, documents=options.documents, steps=options.steps)
    record = make_base(settings, options.out)
    logging.info("%s: %d parameters in %.0f s", options.out, record["parameters"], record["seconds"])


if __name__ == "__main__":
    cli.run(main)
