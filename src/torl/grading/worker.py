"""The process that does the slow comparisons: one JSON line in, one out, until standard input closes or it is
killed."""

import ctypes
import json
import logging
import resource
import signal
import sys
from collections.abc import Iterator
from typing import TextIO

from torl.grading.equality import equal

MEMORY_BYTES = 4 * 1024**3  # a tower of powers must not take the machine's memory before its deadline
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Say ``ready``, then answer requests ``[gold, answer]`` with ``[correct, rule]``."""
    # While it computes it does not notice that its input closed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who closes the input
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.disable(logging.CRITICAL)
    replies, sys.stdout = sys.stdout, sys.stderr  # nothing but replies may go to the owner
    equal(r"\frac{x}{2}", r"0.5 x")  # loads the computer algebra
    for line in _requests(replies):
        verdict = equal(*json.loads(line))
        replies.write(json.dumps([verdict.correct, verdict.rule]) + "\n")
        replies.flush()


def _requests(replies: TextIO) -> Iterator[str]:
    replies.write('"ready"\n')
    replies.flush()
    yield from sys.stdin


if __name__ == "__main__":
    main()
