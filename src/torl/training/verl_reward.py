"""The reward as verl calls it when it scores a response by itself (its validation, another agent loop).

The text alone does not say how calls ended: there is no penalty on this path. Training takes its reward from the agent loop.
"""

import functools
from typing import Any

from torl.errors import GraderError
from torl.grading import Grader, extract_answer
from torl.training.reward import RIGHT, WRONG


@functools.cache
def _grader() -> Grader:
    return Grader()


async def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None
) -> dict[str, float]:
    """Score and accuracy of a response, observations included in its text.

    Raises:
        GraderError: the grader could not decide, so that any number would be wrong.
    """
    answer = extract_answer(solution_str)
    correct = False if answer is None else (await _grader().grade(ground_truth, answer)).correct
    if correct is None:
        raise GraderError(f"the grader did not decide on {answer!r} against {ground_truth!r}; look at its log.")
    return {"score": RIGHT if correct else WRONG, "acc": float(correct)}
