from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.problems.factory import problem
from torl.errors import ConfigError, DataError
from torl.files import write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA
from torl.selection import PassRate, pass_rates, read_pass_rates, select_pass_rate, select_random

POOL = [problem(f"What is {n}?", str(n)) for n in range(5)]
RATES = {row.id: PassRate(n, 4) for n, row in enumerate(POOL)}


def selected(low: float, high: float) -> list[str]:
    return [row.answer for row in select_pass_rate(POOL, RATES, low=low, high=high)]


def test_the_ends_of_the_band_are_kept_and_what_is_outside_is_not() -> None:
    assert selected(0.25, 0.75) == ["1", "2", "3"]
    assert selected(0, 0) == ["0"]
    assert selected(0, 1) == ["0", "1", "2", "3", "4"]


def test_a_problem_without_a_pass_rate_is_left_out() -> None:
    assert select_pass_rate([*POOL, problem("Never asked?")], RATES, low=0, high=1) == POOL


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.4), (-0.1, 0.5), (0.5, 1.1)])
def test_a_band_that_is_none_is_refused(low: float, high: float) -> None:
    with pytest.raises(ConfigError, match="the band of pass rates is"):
        select_pass_rate(POOL, RATES, low=low, high=high)


def test_an_empty_selection_and_foreign_rates_are_errors() -> None:
    with pytest.raises(DataError, match=r"none of 5 pass rates lies between 0\.3 and 0\.4; widen"):
        select_pass_rate(POOL, RATES, low=0.3, high=0.4)
    with pytest.raises(DataError, match="sample this pool"):
        select_pass_rate(POOL, {"other": PassRate(1, 2)}, low=0, high=1)


def test_a_response_that_was_not_judged_does_not_count() -> None:
    rates = pass_rates([("a", True), ("a", None), ("a", False), ("b", None)])
    assert rates == {"a": PassRate(1, 2)}
    assert rates["a"].share == 0.5


def test_rates_are_read_from_counts_and_from_the_rows_of_an_evaluation(tmp_path: Path) -> None:
    counts = [{"problem_id": "a", "passes": 1, "samples": 2}, {"problem_id": "b", "passes": 0, "samples": 0}]
    write_table(tmp_path / "counts.parquet", counts)
    assert read_pass_rates(tmp_path / "counts.parquet") == {"a": PassRate(1, 2)}
    rows: list[dict[str, Any]] = [{"problem_id": "a", "correct": correct} for correct in (True, False, None)]
    write_table(tmp_path / "rows.parquet", rows, TRAJECTORY_SCHEMA)
    assert read_pass_rates(tmp_path / "rows.parquet") == {"a": PassRate(1, 2)}


def test_what_is_no_table_of_pass_rates_is_an_error_with_the_cure(tmp_path: Path) -> None:
    pq.write_table(pa.table({"problem_id": ["a"], "score": [0.1]}), tmp_path / "scores.parquet")
    with pytest.raises(DataError, match=r"has the columns problem_id, score; needed are problem_id, passes, samples"):
        read_pass_rates(tmp_path / "scores.parquet")
    write_table(tmp_path / "wrong.parquet", [{"problem_id": "a", "passes": 3, "samples": 2}])
    with pytest.raises(DataError, match=r"more passes than samples for 1 problems, first a"):
        read_pass_rates(tmp_path / "wrong.parquet")
    with pytest.raises(DataError, match=r"does not exist; sample the base model"):
        read_pass_rates(tmp_path / "none.parquet")


def test_a_random_selection_depends_on_the_seed_alone_and_keeps_the_order() -> None:
    pool = [problem(f"What is {n}?", str(n)) for n in range(50)]
    first = select_random(pool, count=10, seed=1)
    assert first == select_random(pool, count=10, seed=1)
    assert first != select_random(pool, count=10, seed=2)
    assert [int(row.answer) for row in first] == sorted(int(row.answer) for row in first)
    assert len({row.id for row in first}) == 10
    with pytest.raises(DataError, match="the pool has 50"):
        select_random(pool, count=51, seed=1)
