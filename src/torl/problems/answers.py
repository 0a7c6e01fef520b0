"""What the grader makes of gold answers, found out in processes that can be killed.

An answer on which the grader hangs (``\\binom{99999999}{4999999}`` keeps an integer product busy in C, where no Python
signal arrives) costs one time-out and one process, and counts as not parsed.
"""

import json
import os
import re
import selectors
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, Self

from torl.errors import GraderError

TIMEOUT_S = 5.0
"""Seconds for one answer; the slowest of 30,000 real ones that parse takes about half a second."""
START_TIMEOUT_S = 120.0
"""Seconds for a worker to import the grader, which is slow on a cold or shared disk."""

_PLAIN_NUMBER = re.compile(
    r"(?:[-+0-9.,:/\s(){}^]|\\(?:[dt]?frac|sqrt|pi|cdot|times|left|right|circ|infty)(?![a-zA-Z])|\\[,!])*"
)
_DIGIT = re.compile(r"\d")
_NOT_SURE = re.compile(r"\^.*\^|\^\{?\d{5,}|\.\.|\d,(?:\\!)?\d{3}\D|(?:left|right)\s*\.|^\W*\w\W*\.$")
"""Long powers may be slow; at dots and at thousands inside an expression math-verify gives up."""
_PERCENT = re.compile(r"\s*\\?%\s*$")


class AnswerGrader(Protocol):
    """What the filter asks of a grader."""

    def parse(self, answers: Sequence[str]) -> list[bool]:
        """Whether the grader finds a mathematical value in each of ``answers``."""

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether the grader takes the two answers of each pair for equal."""


def is_plain_number(answer: str) -> bool:
    """Whether ``answer`` holds only digits, arithmetic, roots and pi with closed braces: parsed at once, never slow."""
    plain = _PLAIN_NUMBER.fullmatch(answer) and _DIGIT.search(answer) and not _NOT_SURE.search(answer)
    return bool(plain) and answer.count("{") == answer.count("}")


class MathVerifyGrader:
    """An ``AnswerGrader`` over math-verify in ``workers`` processes, which live until the ``with`` block ends.

    Raises:
        GraderError: from the first question, when a worker cannot be started.
    """

    def __init__(self, *, workers: int = 1, timeout_s: float = TIMEOUT_S) -> None:
        self._workers = [_Worker(timeout_s) for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.close()

    def parse(self, answers: Sequence[str]) -> list[bool]:
        """See ``AnswerGrader``; a worker that is out of time or dies gives ``False``."""
        return self._ask([{"parse": answer} for answer in answers])

    def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """See ``AnswerGrader``; a worker that is out of time or dies gives ``False``."""
        return self._ask([{"same": pair} for pair in pairs])

    def _ask(self, questions: list[dict[str, Any]]) -> list[bool]:
        if not questions:
            return []
        count = len(self._workers)
        with ThreadPoolExecutor(count) as pool:
            shares = [questions[start::count] for start in range(count)]
            replies = list(pool.map(lambda worker, share: [worker.ask(item) for item in share], self._workers, shares))
        return [replies[index % count][index // count] for index in range(len(questions))]


class _Worker:
    """One process that answers a question a line; started when it is first asked, and again after it was killed."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: dict[str, Any]) -> bool:
        """The process's reply; ``False`` when it ran out of time or died, and then it is gone."""
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            reply = self._reply(self._timeout_s)
        except BrokenPipeError:
            reply = None
        if reply is None:
            self.close()
        return bool(reply)

    def _start(self) -> None:
        command = [sys.executable, "-m", "torl.problems.answers"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        if self._reply(START_TIMEOUT_S) is not True:
            self.close()
            raise GraderError(
                f"the answer parser did not start within {START_TIMEOUT_S:.0f} s; run `{' '.join(command)}` by hand "
                f"to see "
                "why, or install the package math-verify."
            )

    def _reply(self, timeout_s: float) -> bool | None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout_s):
                return None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def close(self) -> None:
        """Kill the process, if there is one, and wait until it is gone."""
        if self._process is None:
            return
        self._process.kill()
        self._process.communicate()
        self._process = None


def _parsed(answer: str) -> list[Any]:
    from math_verify import parse

    # The percent sign is the one unit that math-verify 0.9.0 does not strip from an answer that is only a number.
    answer = _PERCENT.sub("", answer)
    return parse(f"$\\boxed{{{answer}}}$", parsing_timeout=None)


def math_verify_parses(answer: str) -> bool:
    """Whether math-verify finds a mathematical value in ``answer``; a string that it only copies is none."""
    parsed = _parsed(answer)
    return bool(parsed) and not isinstance(parsed[0], str)


def math_verify_same(first: str, second: str) -> bool:
    """Whether math-verify accepts ``second`` for the gold answer ``first``."""
    from math_verify import verify

    return verify(_parsed(first), _parsed(second), timeout_seconds=None)


def main() -> None:
    """The worker: ``true`` when ready, then one JSON line out for each one in."""
    import logging

    logging.disable(logging.CRITICAL)
    math_verify_same("1", "1")
    sys.stdout.write("true\n")
    sys.stdout.flush()
    for line in sys.stdin:
        question = json.loads(line)
        reply = math_verify_parses(question["parse"]) if "parse" in question else math_verify_same(*question["same"])
        sys.stdout.write(json.dumps(bool(reply)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
