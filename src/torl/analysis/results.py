"""Evaluation files by experiment, step and benchmark, and the scores at an experiment's last evaluated step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from torl.analysis.curves import TRAIN
from torl.errors import DataError
from torl.evaluation.statistics import Scores, score_rows
from torl.files import read_table

SCORE_COLUMNS = ["experiment", "step", "benchmark", "problem_id", "correct", "stop_reason"]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The scores of one file: one policy on one benchmark."""

    path: Path
    experiment: str
    step: int
    benchmark: str
    scores: Scores


def read_evaluations(paths: Iterable[Path]) -> list[Evaluation]:
    """The evaluations of the files that hold any row, in the order of experiment, step and benchmark.

    Raises:
        DataError: a file mixes policies or benchmarks, or two files hold the same.
    """
    found: dict[tuple[str, int, str], Evaluation] = {}
    for path in paths:
        rows = read_table(path, SCORE_COLUMNS)
        keys = {(row["experiment"], row["step"], row["benchmark"]) for row in rows}
        if len(keys) > 1:
            raise DataError(f"{path} mixes {sorted(keys)}; write one file a policy and benchmark.")
        for key in keys:
            if key in found:
                raise DataError(f"{path} and {found[key].path} both hold {key}; pass one of them.")
            experiment, step, benchmark = key
            found[key] = Evaluation(
                path=path, experiment=experiment, step=step, benchmark=benchmark, scores=score_rows(rows)
            )
    return [found[key] for key in sorted(found)]


def last_step(evaluations: Sequence[Evaluation], experiment: str) -> int | None:
    """The last step at which any benchmark of the experiment was evaluated; None without any."""
    return max((one.step for one in evaluations if one.experiment == experiment), default=None)


def result_step(table: Iterable[dict], evaluations: Sequence[Evaluation], experiment: str) -> int | None:
    """The step of the policy that is an experiment's result: the last evaluated one.

    Of a run that was trained but evaluated before training alone it is the last of the training, which then has no scores:
    the untrained model is nobody's result.
    """
    step = last_step(evaluations, experiment)
    trained = [line["step"] + 1 for line in table if (line["experiment"], line["benchmark"]) == (experiment, TRAIN)]
    return max(trained, default=step) if step == 0 else step


def scores_at(evaluations: Sequence[Evaluation], experiment: str, step: int | None) -> dict[str, Scores]:
    """Scores by benchmark of one policy; a benchmark that was not evaluated at that step is absent."""
    return {one.benchmark: one.scores for one in evaluations if (one.experiment, one.step) == (experiment, step)}


def experiments_of(table: Iterable[dict], evaluations: Sequence[Evaluation]) -> list[str]:
    """Names of all experiments with metrics or evaluations: ``torl``, then ``no_tool``, then the others by name."""
    names = {line["experiment"] for line in table} | {one.experiment for one in evaluations}
    return [name for name in ("torl", "no_tool") if name in names] + sorted(names - {"torl", "no_tool"})
