"""``python -m torl.analysis behaviour FILE``: the code-behaviour metrics of a file of responses."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from torl.analysis.behaviour import behaviour
from torl.analysis.texts import read_responses
from torl.errors import TorlError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the metrics as a table, or as JSON with ``--json``; 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m torl.analysis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("behaviour", help="code ratio, pass ratio, accuracy ... of one file")
    command.add_argument("file", type=Path, help='trajectory rows (.parquet, .jsonl), or .jsonl of {"text", "correct"}')
    command.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        rows = read_responses(options.file)
    except (TorlError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    metrics = behaviour(rows)
    if options.json:
        sys.stdout.write(json.dumps({"n_responses": len(rows), **metrics}) + "\n")
    else:
        sys.stdout.write(table(metrics, len(rows)))
    return 0


def table(metrics: dict[str, float | None], responses: int) -> str:
    """One metric a line; "-" where nothing was there to measure."""
    lines = [f"{'responses':<24}{responses:>10}"]
    lines += [f"{name:<24}{'-' if value is None else f'{value:.4f}':>10}" for name, value in metrics.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
