"""The tidy table says what the rows say, and curves read back from it are measured as promised."""

from math import nan
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.factory import make_call, make_row
from torl.analysis.curves import (
    Point,
    change,
    curve,
    evaluation_metrics,
    gap,
    smooth,
    smoothing_window,
    training_metrics,
)
from torl.errors import DataError
from torl.files import write_jsonl

SOURCE = Path("evaluation.parquet")


def line(table: list[dict], metric: str, **where: object) -> dict:
    (found,) = [row for row in table if row["metric"] == metric and where.items() <= row.items()]
    return found


def points(*values: float) -> list[Point]:
    return [Point(step, value, None, None) for step, value in enumerate(values)]


def write_step(run_dir: Path, number: int, rows: list[dict]) -> None:
    write_jsonl(run_dir / "trajectories" / f"step_{number:06d}.jsonl", rows)


def test_training_rows_give_every_metric_a_step_without_an_interval(tmp_path: Path) -> None:
    rows = [make_row(step=0, calls=[make_call()]), make_row(step=0, problem_id="p1", correct=False)]
    write_step(tmp_path, 1, rows)
    write_step(tmp_path, 2, [make_row(step=1)])
    table = training_metrics(tmp_path, "torl")
    found = line(table, "code_ratio", step=0)
    assert (found["benchmark"], found["value"], found["low"], found["n_problems"]) == ("train", 0.5, None, 2)
    assert line(table, "pass_ratio", step=1)["value"] is None


def test_a_step_written_by_two_processes_is_one_step(tmp_path: Path) -> None:
    for writer, rows in [("a", [make_row(step=0)]), ("b", [make_row(step=0, correct=False)])]:
        write_jsonl(tmp_path / "trajectories" / f"step_000000.{writer}.jsonl", rows)
    found = line(training_metrics(tmp_path, "torl"), "accuracy")
    assert (found["value"], found["n_responses"]) == (0.5, 2)


def test_evaluation_rates_carry_intervals_and_ratios_of_calls_do_not() -> None:
    rows = [make_row(problem_id=f"p{i}", correct=i % 2 == 0, calls=[make_call()] * (i % 2)) for i in range(40)]
    table = evaluation_metrics(rows, "torl", SOURCE)
    assert line(table, "accuracy")["low"] < 0.5 < line(table, "accuracy")["high"]
    assert line(table, "pass_ratio")["low"] is None


def test_evaluation_accuracy_is_avg_at_k_over_questions() -> None:
    rows = [make_row(problem_id="a")] + [make_row(problem_id="b", correct=False, sample_index=i) for i in range(3)]
    assert line(evaluation_metrics(rows, "torl", SOURCE), "accuracy")["value"] == 0.5


def test_a_question_that_was_not_asked_is_in_the_accuracy_of_a_benchmark_and_in_no_other_rate() -> None:
    rows = [make_row(problem_id=f"p{i}", answer=None if i else "2") for i in range(3)]
    silent = make_row(problem_id="long", correct=False, answer=None, stop_reason="prompt_too_long")
    table = evaluation_metrics([*rows, silent], "torl", SOURCE)
    found = {name: line(table, name) for name in ("accuracy", "no_answer_rate", "code_ratio")}
    assert [one["n_problems"] for one in found.values()] == [4, 3, 3]
    assert [one["value"] for one in found.values()] == pytest.approx([3 / 4, 2 / 3, 0])


def test_benchmarks_and_steps_of_one_file_are_kept_apart() -> None:
    rows = [make_row(benchmark="a", step=0), make_row(benchmark="b", step=0), make_row(benchmark="a", step=9)]
    table = evaluation_metrics(rows, "torl", SOURCE)
    assert {(row["benchmark"], row["step"]) for row in table} == {("a", 0), ("a", 9), ("b", 0)}


def test_rows_of_another_experiment_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="rows of no_tool, not of torl"):
        evaluation_metrics([make_row(experiment="no_tool")], "torl", SOURCE)


def test_a_run_without_trajectories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="run train_policy for torl"):
        training_metrics(tmp_path, "torl")


def test_curve_leaves_out_what_was_not_measured() -> None:
    lines = [
        {
            "experiment": "torl",
            "benchmark": "train",
            "metric": "m",
            "step": step,
            "value": value,
            "low": nan,
            "high": 1.0,
        }
        for step, value in [(2, 0.5), (0, None), (1, nan)]
    ]
    assert curve(lines, "torl", "train", "m") == [Point(2, 0.5, None, 1.0)]


def test_smoothing_is_a_centred_mean_that_shrinks_at_the_ends() -> None:
    assert smooth([0.0, 3.0, 6.0, 0.0], 3) == [1.5, 3.0, 3.0, 3.0]
    assert smooth([1.0, 2.0], 1) == [1.0, 2.0]


@pytest.mark.parametrize("window", [0, 2])
def test_a_window_without_centre_is_refused(window: int) -> None:
    with pytest.raises(DataError, match="positive odd window"):
        smooth([1.0], window)


@pytest.mark.parametrize(("steps", "window"), [(0, 1), (3, 1), (30, 5), (1000, 17)])
def test_window_grows_with_the_curve(steps: int, window: int) -> None:
    assert smoothing_window(steps) == window


def test_change_compares_the_ends_of_a_curve() -> None:
    rng = np.random.default_rng(0)
    values = np.linspace(0.4, 0.9, 40) + rng.normal(0, 0.01, 40)
    found = change(points(*values))
    assert found.window == 4
    assert found.difference == pytest.approx(0.46, abs=0.02)
    assert 0.4 < found.low < found.difference < found.high < 0.52


def test_change_of_a_flat_noisy_curve_has_an_interval_over_zero_in_95_percent() -> None:
    rng = np.random.default_rng(1)
    found = [change(points(*rng.normal(0.5, 0.1, 40))) for _ in range(1000)]
    assert 0.93 <= np.mean([one.low <= 0 <= one.high for one in found]) <= 0.97


def test_change_needs_six_steps() -> None:
    assert change(points(*[0.5] * 5)) is None


def test_gap_pairs_two_curves_by_step() -> None:
    upper, lower = points(0.9, 0.8, 0.9, 1.0), points(0.7, 0.7, 0.7)
    mean, low, high = gap(upper, lower)
    assert mean == pytest.approx(1 / 6)
    assert low < mean < high


def test_gap_of_curves_without_shared_steps_is_none() -> None:
    assert gap(points(0.9), []) is None
