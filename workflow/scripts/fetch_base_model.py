#!/usr/bin/env python3
"""Fetch the base model from the hub into a folder, with a manifest of its revision."""

import argparse
from pathlib import Path

from torl import cli
from torl.hub import fetch_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="hub id, for example Qwen/Qwen2.5-Math-1.5B")
    parser.add_argument("--revision", help="commit, tag or branch; the default branch without it")
    parser.add_argument("--out", type=Path, required=True, help="folder to fill")
    options = parser.parse_args()
    fetch_model(options.model, options.revision, options.out)


if __name__ == "__main__":
    cli.run(main)
