"""The process that does what may be slow or never end: ``torl.killable`` starts it and kills it at the deadline.

It answers ``["equal", gold, answer, rules that are off, tolerance]`` and ``["release", gold, answer]`` with
``[correct, rule]``, and ``["readable", answer]`` with a truth value.
"""

import logging
import resource
from typing import Any

from torl.grading.equality import equal, readable
from torl.grading.release import release_equal
from torl.grading.rules import Policy
from torl.killable import serve

MEMORY_BYTES = 4 * 1024**3  # a tower of powers must not take the machine's memory before its deadline


def main() -> None:
    """Answer until there are no more questions."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.disable(logging.CRITICAL)
    serve(_answer, prepare=lambda: release_equal("x", "y"))  # loads the computer algebra


def _answer(question: list[Any]) -> Any:
    kind, *answers = question
    if kind == "readable":
        return readable(*answers)
    if kind == "release":
        return [release_equal(*answers), "release"]
    gold, answer, without, tolerance = answers
    verdict = equal(gold, answer, policy=Policy.from_names(without), tolerance=tolerance)
    return [verdict.correct, verdict.rule]


if __name__ == "__main__":
    main()
