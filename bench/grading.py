"""How often three graders agree with labelled pairs, and how many answers each decides in a second, in one process.

    python bench/grading.py PAIRS.jsonl [--repeat 3]

Each row of the file has gold, pred and label. The three are math-verify as the release calls it (bare strings, the answer where
the gold belongs), math-verify with delimiters and in its documented order, and ours. A warm-up pass comes before the time is
taken; the repeats alternate between the graders, and the fastest of each counts.
"""

import argparse
import logging
import time
from collections import Counter
from collections.abc import Callable

from math_verify import parse, verify

from torl.grading.__main__ import read_pairs
from torl.grading.equality import equal
from torl.grading.release import release_answer, release_equal


def as_the_release_calls_it(gold: str, pred: str) -> bool:
    """math-verify on bare strings, arguments swapped."""
    sides = [parse(side, parsing_timeout=None) for side in (pred, gold)]
    return bool(verify(*sides, timeout_seconds=None))


def delimited(gold: str, pred: str) -> bool:
    """math-verify as documented: both sides delimited, gold first."""
    sides = [
        parse(side if "$" in side or "\\boxed" in side else f"${side}$", parsing_timeout=None) for side in (gold, pred)
    ]
    return bool(verify(*sides, timeout_seconds=None))


def ours(gold: str, pred: str) -> bool:
    """``torl.grading``."""
    return equal(gold, pred).correct


GRADERS: dict[str, Callable[[str, str], bool]] = {
    "math-verify, as the release calls it": as_the_release_calls_it,
    "the release's whole grader": lambda gold, pred: release_equal(gold, release_answer(pred) or pred),
    "math-verify, delimited": delimited,
    "ours": ours,
}


def main() -> None:
    """Print one line a grader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--repeat", type=int, default=3, help="passes over the pairs (%(default)s)")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    pairs = read_pairs(options.file)
    verdicts = {name: [grader(pair["gold"], pair["pred"]) for pair in pairs] for name, grader in GRADERS.items()}
    seconds = dict.fromkeys(GRADERS, float("inf"))
    for _ in range(options.repeat):
        for name, grader in GRADERS.items():
            begin = time.perf_counter()
            for pair in pairs:
                grader(pair["gold"], pair["pred"])
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    print(
        f"{'grader':38}{'agreement':>10}{'equal accepted':>16}{'unequal accepted':>18}{'answers/s':>11}{'ours is':>9}"
    )
    for name in GRADERS:
        table = Counter((bool(pair["label"]), verdict) for pair, verdict in zip(pairs, verdicts[name], strict=True))
        agreed = (table[True, True] + table[False, False]) / len(pairs)
        equals, others = (sum(table[label, verdict] for verdict in (True, False)) for label in (True, False))
        speed = len(pairs) / seconds[name]
        print(
            f"{name:38}{agreed:>10.1%}{f'{table[True, True]} of {equals}':>16}{f'{table[False, True]} of {others}':>18}"
            f"{speed:>11.0f}{seconds[name] / seconds['ours']:>8.1f}x"
        )


if __name__ == "__main__":
    main()
