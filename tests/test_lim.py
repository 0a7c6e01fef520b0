import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problems.factory import problem
from torl.errors import ConfigError, DataError
from torl.files import read_json, read_table, write_json, write_table
from torl.lim import (
    learning_curve_scores,
    main,
    read_scores,
    scores_by_problem,
    select,
    select_lim,
)
from torl.problems.readers import ReadCounts, read_file


def test_a_problem_that_is_always_solved_scores_zero_and_one_on_the_mean_curve_scores_one() -> None:
    scores = learning_curve_scores({"solved": [1, 1, 1], "never": [0, 0, 0], "mean": [0.5, 0.5, 0.5]})
    assert scores == {"solved": 0.0, "never": 0.0, "mean": 1.0}


def test_the_score_is_the_released_formula_to_two_decimals() -> None:
    curves = {"a": [0.1, 0.5], "b": [0.3, 0.9], "c": [0.5, 0.7]}
    mean = [0.3, 0.7]
    room = (1 - mean[0]) ** 2 + (1 - mean[1]) ** 2
    expected = {
        name: round(1 - ((curve[0] - mean[0]) ** 2 + (curve[1] - mean[1]) ** 2) / room, 2)
        for name, curve in curves.items()
    }
    assert learning_curve_scores(curves) == expected == {"a": 0.86, "b": 0.93, "c": 0.93}


def test_a_missing_epoch_takes_the_next_ones_reward_one_step_only() -> None:
    whole = {"a": [0.5, 0.5, 1.0], "b": [0.0, 0.5, 0.5]}
    gap = {"a": [None, 0.5, 1.0], "b": [0.0, 0.5, 0.5]}
    assert learning_curve_scores(gap) == learning_curve_scores(whole)
    two_gaps = gap | {"c": [None, None, 1.0], "d": [0.0, 0.5, None]}
    assert learning_curve_scores(two_gaps) == learning_curve_scores(gap)


def some_curves(epochs: int) -> st.SearchStrategy[list[list[float]]]:
    return st.lists(st.lists(st.floats(0, 1), min_size=epochs, max_size=epochs), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.integers(2, 6).flatmap(some_curves))
def test_no_score_is_above_one_and_the_mean_curve_reaches_it(curves: list[list[float]]) -> None:
    mean = np.mean(curves, axis=0)
    if np.sum((1 - mean) ** 2) < 1e-6:
        return
    scores = learning_curve_scores({str(n): curve for n, curve in enumerate(curves)} | {"mean": mean.tolist()})
    assert max(scores.values()) == scores["mean"] == 1.0


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({}, "0|epochs"),
        ({"a": [1.0], "b": [1.0, 0.0]}, r"\[1, 2\] epochs"),
        ({"a": [1.0, None]}, "no problem has a reward in every epoch"),
        ({"a": [1.0, 1.0]}, "nothing ranks them"),
    ],
)
def test_curves_that_rank_nothing_are_data_errors(curves: dict[str, list[float | None]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        learning_curve_scores(curves)


def test_the_minimum_itself_is_selected() -> None:
    assert select({"a": 0.6, "b": 0.59, "c": 0.9}, minimum=0.6) == ["a", "c"]


def test_a_count_takes_the_highest_scores_and_earlier_ones_among_equals() -> None:
    assert select({"a": 0.1, "b": 0.6, "c": 0.6, "d": 0.9, "e": 0.6}, count=3) == ["b", "c", "d"]


@pytest.mark.parametrize("cut", [{}, {"minimum": 0.5, "count": 1}])
def test_exactly_one_cut_must_be_given(cut: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="exactly one"):
        select({"a": 1.0}, **cut)


@pytest.mark.parametrize("cut", [{"minimum": 2.0}, {"count": 3}, {"count": 0}])
def test_an_empty_or_impossible_selection_is_a_data_error(cut: dict[str, float]) -> None:
    with pytest.raises(DataError):
        select({"a": 0.5, "b": 0.4}, **cut)


def test_scores_are_matched_to_the_pool_by_text_without_layout(tmp_path: Path) -> None:
    scored = [{"prompt": "What is $6$ times 7?", "score": 0.7}, {"prompt": "Other?", "score": 0.9}]
    write_json(tmp_path / "s.json", scored)
    pool = [problem("What is 6 times 7?"), problem("Not scored?")]
    assert select_lim(pool, scores_by_problem(read_scores(tmp_path / "s.json")), minimum=0.6) == pool[:1]


def test_scores_of_other_problems_are_an_error() -> None:
    with pytest.raises(DataError, match="no problem of the pool has a score"):
        select_lim([problem()], {"else": 1.0}, minimum=0.0)


def test_our_own_scores_are_read_by_id(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", [{"problem_id": "a", "score": 0.5}])
    assert scores_by_problem(read_scores(tmp_path / "s.parquet")) == {"a": 0.5}


@pytest.mark.parametrize("content", ["[1, 2]", "{", '[{"prompt": "x"}]'])
def test_malformed_scores_are_data_errors(tmp_path: Path, content: str) -> None:
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(DataError, match="is not a list of"):
        read_scores(tmp_path / "s.json")
    with pytest.raises(DataError, match="run the probe experiment"):
        read_scores(tmp_path / "none.json")


def test_the_published_scores_reproduce_the_released_selection(shared_data: Path) -> None:
    published = read_scores(shared_data / "lim/limr_scores.json.zst")
    by_prompt = {score.key: score.score for score in published}
    file = shared_data / "lim/limr_selected_train.arrow"
    released = list(read_file(file, reader="plain", source="lim", counts=ReadCounts()))
    assert (len(by_prompt), len(released)) == (7_935, 1_389)
    assert set(select(by_prompt, minimum=0.60)) == {row.text for row in released}
    assert set(select(by_prompt, count=1_389)) == {row.text for row in released}
    assert sum(score > 0.60 for score in by_prompt.values()) == 1_324
    assert select_lim(released, scores_by_problem(published), minimum=0.60) == released


def test_of_prompts_that_differ_in_layout_alone_the_highest_score_counts(tmp_path: Path) -> None:
    write_json(
        tmp_path / "s.json", [{"prompt": text, "score": s} for text, s in (("a b", 0.1), ("ab", 0.7), ("$ab$", 0))]
    )
    assert list(scores_by_problem(read_scores(tmp_path / "s.json")).values()) == [0.7]


def test_the_command_line_reads_published_scores_and_says_how_many_it_kept(
    tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = str(shared_data / "lim/limr_scores.json.zst")
    assert main(["select", scores, "--min", "0.60", "--out", str(tmp_path / "s.json")]) == 0
    assert capsys.readouterr().out == "kept 1,389 of 7,935 scored problems\n"
    assert len(read_json(tmp_path / "s.json")) == 1_389
    assert main(["select", scores, "--count", "5", "--out", str(tmp_path / "s.parquet")]) == 0
    assert len(read_table(tmp_path / "s.parquet")) == 5
    assert main(["select", scores, "--min", "5", "--out", str(tmp_path / "s.json")]) == 1
    assert capsys.readouterr().err.startswith("error: no score reaches the minimum 5.0")


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None, "high"])
def test_a_score_that_is_no_number_is_an_error_and_is_not_selected(tmp_path: Path, score: object) -> None:
    (tmp_path / "scores.json").write_text(json.dumps([{"prompt": "a", "score": 0.5}, {"prompt": "b", "score": score}]))
    with pytest.raises(DataError, match="no number"):
        read_scores(tmp_path / "scores.json")
