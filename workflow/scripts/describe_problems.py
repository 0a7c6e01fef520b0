#!/usr/bin/env python3
"""Rule describe_problems: the card of the pool (counts, licences, hashes) and the figure of its funnel."""

import argparse
from pathlib import Path

from torl import cli
from torl.analysis.figures import funnel_figure
from torl.files import read_json, write_text
from torl.problems.card import pool_card


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--funnel", type=Path, required=True, help="funnel.json of filter_problems")
    parser.add_argument("--files", type=Path, nargs="+", required=True, help="files whose hashes the card gives")
    parser.add_argument("--manifests", type=Path, nargs="+", required=True, help="manifests of fetch_problems")
    parser.add_argument("--out-card", type=Path, required=True, help="Markdown to write")
    parser.add_argument("--out-funnel", type=Path, required=True, help="SVG to write")
    options = parser.parse_args()
    funnel = read_json(options.funnel)
    manifests = [read_json(path) for path in options.manifests]
    write_text(options.out_card, pool_card(funnel, manifests, options.files))
    write_text(options.out_funnel, funnel_figure(funnel).svg)


if __name__ == "__main__":
    cli.run(main)
