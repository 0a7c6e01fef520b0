"""Learning curves of a probe run: how often each problem was solved in each pass over the problems.

Differs from ToRL: LIMR's own curves were never released; these come from the trajectories that a run leaves, and only whole
passes count.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from torl.errors import DataError


def learning_curves(
    rows: Iterable[dict[str, Any]], *, steps_per_epoch: int, epochs: int
) -> dict[str, list[float | None]]:
    """Share of right responses of each problem in each epoch; None where it was not asked.

    Args:
        rows: trajectory rows (``TRAJECTORY_SCHEMA``) of the training rollouts.
        steps_per_epoch: steps of one pass over the problems.
        epochs: whole passes that the run made.

    Raises:
        DataError: the run did not make one whole pass.
    """
    if epochs < 1:
        raise DataError(
            "the probe run made no whole pass over its problems; raise train.epochs of the experiment probe."
        )
    graded: dict[str, list[list[bool]]] = defaultdict(lambda: [[] for _ in range(epochs)])
    for row in rows:
        epoch = row["step"] // steps_per_epoch
        if row["correct"] is not None and epoch < epochs:
            graded[row["problem_id"]][epoch].append(row["correct"])
    return {
        problem: [sum(answers) / len(answers) if answers else None for answers in by_epoch]
        for problem, by_epoch in sorted(graded.items())
    }
