"""The release's rounds, written down once more and plainly: texts in, texts and character ranges out.

No token, no hook and no function of the loop under test is used, so that the two can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from torl.sandbox.client import Execution

MARKER = "```output"


@dataclass
class Sample:
    """One response of a rank."""

    text: str = ""
    stopped: bool = False
    passed: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)


def extract(turn: str) -> str:
    """The last fenced program of a turn; empty where it is unclosed or there is none."""
    program, inside = "", False
    for line in turn.split("\n"):
        if line.startswith("```python") or line.endswith("```python"):
            program, inside = "", True
        elif line.startswith("```"):
            inside = False
        elif inside:
            program += line + "\n"
    return "" if inside else program


def observe(execution: Execution) -> tuple[str, int]:
    """What is shown of an execution, and whether it counts as passed."""
    passed = str(execution.return_code) == "0" or execution.stdout != ""
    shown = execution.stdout if passed else execution.stderr.strip()
    if "Error" in shown:
        shown = shown.strip().split("\n")[-1]
    if shown.strip() == "":
        shown = "timeout_decorator.timeout_decorator.TimeoutError: 'Timed Out'"
    shown = shown.strip()
    return (shown if len(shown) < 256 else f"{shown[:128]}...{shown[-128:]}"), int(passed)


def rounds(scripts: Sequence[Sequence[str]], calls: int, execution: Execution) -> list[Sample]:
    """What becomes of a rank whose samples say ``scripts`` line by line; every program ends as ``execution``."""
    samples = [Sample() for _ in scripts]
    for number in range(calls + 1):
        active = [index for index, sample in enumerate(samples) if not sample.stopped]
        lines = {i: scripts[i][number] if number < len(scripts[i]) else "" for i in active}
        if number == calls:
            for index in active:
                samples[index].text += lines[index]
            break
        asking = [index for index in active if MARKER in lines[index]]
        if not asking:
            break
        for index in active:
            append(samples[index], lines[index].partition(MARKER)[0], index in asking, execution)
    return samples


def append(sample: Sample, text: str, asking: bool, execution: Execution) -> None:
    """Append one round to a sample that was active in it."""
    turn, inserted, sample.passed = text if text.endswith("\n") else text + "\n", "", 0
    if asking and extract(text):
        shown, sample.passed = observe(execution)
        inserted = f"{MARKER}\n{shown}\n```\n"
    sample.ranges.append((len(turn) + len(MARKER), len(turn + inserted)))
    sample.text += turn + inserted
    sample.stopped = not asking
