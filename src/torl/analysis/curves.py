"""Rows become a tidy table: one line an experiment, step, benchmark and metric, and curves are read back from it.

Training rows are the sampled rollouts of a step (``benchmark`` is ``train``) and carry no interval: each step has
problems of its own. Evaluation rows are the same questions at every step, and their rates carry an interval over
questions.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torl.analysis.behaviour import Row, behaviour, responses, usable
from torl.errors import DataError
from torl.evaluation.statistics import Interval, estimate, is_correct, score_rows, student_t_quantile
from torl.files import read_jsonl
from torl.rollout.trajectory import StopReason

TRAIN = "train"
METRICS_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("step", pa.int64()),
        ("benchmark", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),  # null where there was nothing to measure
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("n_problems", pa.int64()),
        ("n_responses", pa.int64()),
    ]
)
RATES: dict[str, Callable[[Row], float | None]] = {
    "accuracy": is_correct,
    "code_ratio": lambda row: float(row["code_blocks"] > 0),
    "no_answer_rate": lambda row: float(row["answer"] is None),
    "truncation_rate": lambda row: float(row["stop_reason"] == StopReason.LENGTH),
}
"""Metrics that are a mean over responses, so that questions can be drawn again for an interval."""


class Point(NamedTuple):
    """A value of a curve; bounds are None where it has no interval."""

    step: int
    value: float
    low: float | None
    high: float | None


class Change(NamedTuple):
    """Mean of a curve's first and of its last steps, and the difference with its interval."""

    first: float
    last: float
    difference: float
    low: float | None
    high: float | None
    window: int
    """Steps at either end."""


def training_metrics(run_dir: Path, experiment: str) -> list[dict[str, Any]]:
    """Tidy rows of every step of ``run_dir/trajectories``.

    Raises:
        DataError: there are no trajectories, or they belong to another experiment.
    """
    files = sorted((run_dir / "trajectories").glob("step_*.jsonl"))
    if not files:
        raise DataError(f"{run_dir}/trajectories holds no step_*.jsonl; run train_policy for {experiment}.")
    table = []
    # A step has one file a process that wrote trajectories: step_000007.<writer>.jsonl.
    for _, parts in groupby(files, key=lambda file: file.name.partition(".")[0]):
        rows = chain.from_iterable(read_jsonl(part) for part in parts)
        table += _by_step(rows, experiment, TRAIN, run_dir)
    return sorted(table, key=lambda line: line["step"])


def evaluation_metrics(rows: Iterable[Row], experiment: str, source: Path) -> list[dict[str, Any]]:
    """Tidy rows of the evaluation rows of one file; rates carry intervals.

    Raises:
        DataError: the rows belong to another experiment.
    """
    by_benchmark = sorted(rows, key=lambda row: row["benchmark"])
    table = []
    for benchmark, group in groupby(by_benchmark, key=lambda row: row["benchmark"]):
        table += _by_step(group, experiment, benchmark, source)
    return table


def curve(table: Iterable[dict[str, Any]], experiment: str, benchmark: str, metric: str) -> list[Point]:
    """The finite values of one metric in the order of steps."""
    points = [
        Point(line["step"], line["value"], _finite(line["low"]), _finite(line["high"]))
        for line in table
        if (line["experiment"], line["benchmark"], line["metric"]) == (experiment, benchmark, metric)
        and _finite(line["value"]) is not None
    ]
    return sorted(points)


def smooth(values: Sequence[float], window: int) -> list[float]:
    """Centred mean over ``window`` values, fewer at the ends; a window of 1 changes nothing.

    Raises:
        DataError: the window is not a positive odd number.
    """
    if window < 1 or window % 2 == 0:
        raise DataError(f"A centred mean over {window} values has no centre; use a positive odd window.")
    half = window // 2
    return [float(np.mean(values[max(0, i - half) : i + half + 1])) for i in range(len(values))]


def smoothing_window(points: int) -> int:
    """An odd window of about a sixth of the curve: 5 for 30 steps, 17 (as in the paper's figure 1) for 100 and more."""
    return max(1, min(17, points // 6 | 1))


def change(points: Sequence[Point]) -> Change | None:
    """Last tenth of the steps minus first tenth (three at least); None for curves of fewer than six steps.

    The interval is Welch's over the values of the single steps, so it includes whatever the curve still moves inside
    the two windows.
    """
    window = max(3, len(points) // 10)
    if len(points) < 2 * window:
        return None
    first = np.array([point.value for point in points[:window]])
    last = np.array([point.value for point in points[-window:]])
    difference = float(last.mean() - first.mean())
    low, high = _welch(first, last, difference)
    return Change(float(first.mean()), float(last.mean()), difference, low, high, window)


def gap(upper: Sequence[Point], lower: Sequence[Point]) -> tuple[float, float | None, float | None] | None:
    """Mean over shared steps of ``upper`` minus ``lower`` with Student's interval; None without two shared steps."""
    below = {point.step: point.value for point in lower}
    gaps = np.array([point.value - below[point.step] for point in upper if point.step in below])
    if gaps.size < 2:
        return None
    half = student_t_quantile(0.975, gaps.size - 1) * gaps.std(ddof=1) / sqrt(gaps.size)
    mean = float(gaps.mean())
    return mean, mean - half, mean + half


def _welch(first: np.ndarray, last: np.ndarray, difference: float) -> Interval:
    spread = first.var(ddof=1) / first.size + last.var(ddof=1) / last.size
    half = student_t_quantile(0.975, first.size + last.size - 2) * sqrt(spread)
    return Interval(difference - half, difference + half)


def _by_step(rows: Iterable[Row], experiment: str, benchmark: str, source: Path) -> list[dict[str, Any]]:
    rows = sorted(rows, key=lambda row: row["step"])
    strangers = {row["experiment"] for row in rows} - {experiment}
    if strangers:
        names = ", ".join(sorted(strangers))
        raise DataError(f"{source} holds rows of {names}, not of {experiment}; pass its own files.")
    table = []
    for step, group in groupby(rows, key=lambda row: row["step"]):
        table += _lines(list(group), experiment, step, benchmark)
    return table


def _lines(rows: list[Row], experiment: str, step: int, benchmark: str) -> list[dict[str, Any]]:
    context = {"experiment": experiment, "step": step, "benchmark": benchmark}
    n_problems = len({row["problem_id"] for row in rows})
    return [
        context
        | {
            "metric": name,
            "value": value,
            "low": None,
            "high": None,
            "n_problems": n_problems,
            "n_responses": len(rows),
        }
        | (_interval(rows, name) if benchmark != TRAIN and name in RATES else {})
        for name, value in behaviour(rows).items()
    ]


def _interval(rows: list[Row], metric: str) -> dict[str, Any]:
    counted = usable(rows) if metric == "accuracy" else responses(usable(rows))
    found = estimate(score_rows(counted, RATES[metric]))
    return {name: getattr(found, name) for name in ("value", "low", "high", "n_problems", "n_responses")}


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
