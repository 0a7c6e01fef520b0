"""Command line of the grader.

``check FILE`` compares it with labelled pairs (JSONL of gold, pred, label, and tolerance where a pair has one), ``explain`` says
of one pair what was read and which rules decided, and ``rates FILE...`` grades stored responses as the release would, beside the
verdicts that they were stored with.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from torl import cli
from torl.errors import DataError, TorlError
from torl.files import read_jsonl
from torl.grading.equality import explain
from torl.grading.pool import Grade, Grader, Method, Pair
from torl.grading.rates import rates_of, read_responses
from torl.grading.rules import Policy

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
        _require_types(pair, f"{path} row {number}")
    if not pairs:
        raise DataError(f"{path} holds no rows; each row needs {', '.join(FIELDS)}.")
    return pairs


def _require_types(pair: dict[str, Any], where: str) -> None:
    if not (isinstance(pair["gold"], str) and isinstance(pair["pred"], str)):
        raise DataError(f"{where} has {pair['gold']!r} and {pair['pred']!r} for gold and pred; write both as texts.")
    if pair["label"] not in (0, 1):
        raise DataError(f"{where} has the label {pair['label']!r}; write 1 for equal, 0 for unequal.")
    tolerance = pair.get("tolerance")
    if tolerance is not None and not (isinstance(tolerance, (int, float)) and tolerance > 0):
        raise DataError(f"{where} has the tolerance {tolerance!r}; write a number above 0, or leave it out.")


def check(options: argparse.Namespace) -> str:
    """The report on a file of labelled pairs."""
    pairs = read_pairs(options.file)
    with Grader(
        workers=options.workers, method=Method(options.method), policy=Policy.from_names(options.without)
    ) as grader:
        grader.start()
        begin = time.perf_counter()
        grades = grader.grade_many([Pair(pair["gold"], pair["pred"], pair.get("tolerance")) for pair in pairs])
        return report(pairs, grades, time.perf_counter() - begin)


def rates(options: argparse.Namespace) -> str:
    """The table of both graders' rates over stored responses."""
    responses = [response for path in options.files for response in read_responses(path)]
    with Grader(workers=options.workers, method=Method.RELEASE) as grader:
        return rates_of(responses, grader).table()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    try:
        options = _parser().parse_args(argv)
        text = options.run(options)
    except (TorlError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(text + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m torl.grading", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="agreement with labelled pairs")
    checking.add_argument("file", help="JSONL with gold, pred and label (1 equal, 0 unequal)")
    checking.add_argument("--method", choices=list(Method), default=Method.SOUND, help="whose grader (%(default)s)")
    checking.set_defaults(run=check)
    explaining = commands.add_parser("explain", help="what was read of one pair, and which rules decided")
    explaining.add_argument("gold")
    explaining.add_argument("answer")
    explaining.set_defaults(
        run=lambda options: explain(options.gold, options.answer, policy=Policy.from_names(options.without))
    )
    rating = commands.add_parser("rates", help="accuracy of stored responses as the release would grade them")
    rating.add_argument("files", nargs="+", help="trajectory or evaluation rows, parquet or JSONL")
    rating.set_defaults(run=rates)
    for command in (checking, explaining):
        command.add_argument("--without", nargs="*", default=[], metavar="RULE", help="rules to switch off")
    for command in (checking, rating):
        command.add_argument("--workers", type=cli.positive, default=1, help="grading processes (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
