#!/usr/bin/env python3
"""Record what the results are made with: code revision, package versions, machine."""

import argparse
from pathlib import Path

from torl.analysis.provenance import collect
from torl.cli import run
from torl.files import write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="resolved configuration; its hash is recorded")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="checkout of the workflow; here by default")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write_json(options.out, collect(options.config, options.folder))


if __name__ == "__main__":
    run(main)
