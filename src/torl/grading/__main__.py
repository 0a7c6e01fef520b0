"""Command line: ``check FILE`` compares the grader with labelled pairs (JSONL of gold, pred, label)."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from torl.errors import DataError, TorlError
from torl.files import read_jsonl
from torl.grading.pool import Grade, Grader

FIELDS = ("gold", "pred", "label")
SHOWN_CHARACTERS = 60


def report(pairs: Sequence[dict[str, Any]], grades: Sequence[Grade], seconds: float) -> str:
    """Agreement, confusion, and each disagreement with the rule that decided, as lines of text."""
    table = Counter((bool(pair["label"]), grade.correct) for pair, grade in zip(pairs, grades, strict=True))
    agreed = table[True, True] + table[False, False]
    unequal = sum(count for (label, _), count in table.items() if not label)
    lines = [
        f"agreement      {agreed} of {len(pairs)} ({agreed / len(pairs):.1%})",
        f"equal          accepted {table[True, True]}, rejected {table[True, False]}, undecided {table[True, None]}",
        f"unequal        accepted {table[False, True]}, rejected {table[False, False]}, undecided {table[False, None]}",
        f"over-accepted  {table[False, True] / max(1, unequal):.1%} of the unequal pairs",
        f"speed          {len(pairs) / seconds:.0f} answers/s",
    ]
    for pair, grade in zip(pairs, grades, strict=True):
        if grade.correct is not bool(pair["label"]):
            gold, pred = (repr(pair[name][:SHOWN_CHARACTERS]) for name in ("gold", "pred"))
            lines.append(f"label {pair['label']}, grader {grade.correct} by {grade.rule}: gold {gold}, pred {pred}")
    return "\n".join(lines)


def read_pairs(path: str) -> list[dict[str, Any]]:
    """The labelled pairs of a file.

    Raises:
        DataError: the file is missing or empty, or a row lacks a field.
    """
    pairs = list(read_jsonl(path))
    for number, pair in enumerate(pairs, start=1):
        missing = [name for name in FIELDS if name not in pair]
        if missing:
            raise DataError(f"{path} row {number} has no {', '.join(missing)}; each row needs {', '.join(FIELDS)}.")
    if not pairs:
        raise DataError(f"{path} holds no rows; each row needs {', '.join(FIELDS)}.")
    return pairs


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m torl.grading", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="agreement with labelled pairs")
    check.add_argument("file", help="JSONL with gold, pred and label (1 equal, 0 unequal)")
    check.add_argument("--workers", type=int, default=1, help="grading processes (default: %(default)s)")
    arguments = parser.parse_args(argv)
    try:
        pairs = read_pairs(arguments.file)
        with Grader(workers=arguments.workers) as grader:
            begin = time.perf_counter()
            grades = grader.grade_many([(pair["gold"], pair["pred"]) for pair in pairs])
            seconds = time.perf_counter() - begin
    except TorlError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(report(pairs, grades, seconds) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
