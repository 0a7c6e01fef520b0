"""Accuracies, intervals and paired differences keep their promises, shown by simulation and golden numbers."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.errors import DataError
from torl.evaluation.statistics import (
    Scores,
    estimate,
    macro_estimate,
    minimal_detectable_effect,
    paired_difference,
    pass_at_k,
    score_rows,
    seed_se,
    sign_flip_p,
    student_t_quantile,
    wilson,
)


def scores_of(*questions: list[float]) -> Scores:
    return Scores(by_question={f"q{index:04d}": tuple(values) for index, values in enumerate(questions)})


def row(problem: str, correct: bool | None, stop_reason: str = "answered") -> dict:
    return {"problem_id": problem, "correct": correct, "stop_reason": stop_reason}


def simulated(rng: np.random.Generator, chances: np.ndarray, samples: int) -> Scores:
    draws = rng.random((chances.size, samples)) < chances[:, None]
    return scores_of(*draws.astype(float).tolist())


def chances_of(rng: np.random.Generator, questions: int, shift: float = 0.0) -> np.ndarray:
    return 1 / (1 + np.exp(-(rng.normal(0, 2.5, questions) + shift)))


@pytest.mark.parametrize("questions", [30, 60, 200])
def test_interval_of_avg_at_16_covers_the_true_mean_in_93_to_97_percent(questions: int) -> None:
    rng = np.random.default_rng(1)
    truth = float(chances_of(rng, 1_000_000).mean())
    found = [estimate(simulated(rng, chances_of(rng, questions), 16), draws=1000) for _ in range(1000)]
    coverage = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.93 <= coverage <= 0.97


@pytest.mark.parametrize("questions", [30, 60, 200])
def test_interval_of_single_samples_covers_the_true_mean_in_93_to_97_percent(questions: int) -> None:
    rng = np.random.default_rng(2)
    found = [estimate(simulated(rng, np.full(questions, 0.4), 1)) for _ in range(3000)]
    assert 0.93 <= np.mean([one.low <= 0.4 <= one.high for one in found]) <= 0.97


@pytest.mark.parametrize("questions", [30, 200])
def test_paired_interval_covers_the_true_difference_in_93_to_97_percent(questions: int) -> None:
    rng = np.random.default_rng(3)
    covered = []
    many = chances_of(rng, 1_000_000)
    shifted = 1 / (1 + np.exp(-(np.log(many / (1 - many)) + 1)))
    truth = float((shifted - many).mean())
    for _ in range(1000):
        base = chances_of(rng, questions)
        better = 1 / (1 + np.exp(-(np.log(base / (1 - base)) + 1)))
        found = paired_difference([simulated(rng, better, 4)], [simulated(rng, base, 4)], draws=1000)
        covered.append(found.low <= truth <= found.high)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_sign_flip_test_rejects_a_true_null_in_about_5_percent() -> None:
    rng = np.random.default_rng(4)
    rejected = [sign_flip_p([rng.normal(0, 1, 40)], draws=500) <= 0.05 for _ in range(1000)]
    assert 0.03 <= np.mean(rejected) <= 0.07


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(8, 30, 0.142, 0.444), (13, 30, 0.274, 0.608), (4, 30, 0.053, 0.297), (27, 40, 0.520, 0.799)],
)
def test_wilson_gives_the_known_intervals_of_greedy_runs(right: int, total: int, low: float, high: float) -> None:
    assert wilson(right, total) == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(8, 2.306004), (9, 2.262157), (29, 2.045230), (199, 1.971957), (10_000, 1.960201)]
)
def test_student_quantiles_are_the_tabulated_ones(freedom: int, quantile: float) -> None:
    assert student_t_quantile(0.975, freedom) == pytest.approx(quantile, abs=2e-3)


def test_avg_at_k_is_the_mean_of_question_means_not_of_responses() -> None:
    assert estimate(scores_of([1.0], [0.0, 0.0, 0.0])).value == 0.5


def test_ungraded_and_sandbox_failed_responses_are_counted_and_left_out() -> None:
    rows = [row("a", True), row("a", None), row("b", False), row("b", True, "sandbox_failed"), row("c", None)]
    scores = score_rows(rows)
    assert scores.by_question == {"a": (1.0,), "b": (0.0,)}
    assert (scores.ungraded, scores.sandbox_failed) == (2, 1)


def test_a_question_that_was_not_asked_is_counted_once_and_stays_in_the_denominator_as_wrong() -> None:
    scores = score_rows([row("a", True), row("a", True)] + [row("long", False, "prompt_too_long")] * 2)
    assert (scores.not_asked, scores.n_responses, estimate(scores).value) == (1, 4, 0.5)


def test_nothing_to_score_gives_no_value_and_no_interval() -> None:
    found = estimate(score_rows([row("a", None)]))
    assert (found.value, found.low, found.high, found.n_problems) == (None, None, None, 0)


def test_one_question_with_many_samples_gives_a_value_without_an_interval() -> None:
    found = estimate(scores_of([1.0, 0.0, 1.0, 1.0]))
    assert (found.value, found.low, found.method) == (0.75, None, "none")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_unanimous_questions_still_get_an_interval_of_some_width(value: float) -> None:
    found = estimate(scores_of(*[[value] * 4] * 30))
    assert found.method == "degenerate"
    assert (found.low, found.high) == pytest.approx(tuple(wilson(30 * int(value), 30)))


def test_seed_error_and_question_error_follow_the_variance_identity() -> None:
    scores = scores_of([1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0])
    within = [1 / 3, 0.0, 0.25]
    assert seed_se(scores) == pytest.approx(sqrt(sum(w / 4 for w in within)) / 3)
    assert estimate(scores).question_se == pytest.approx(np.std([0.5, 1.0, 0.25], ddof=1) / sqrt(3))


def test_seed_error_is_unknown_with_one_sample_a_question() -> None:
    assert estimate(scores_of([1.0], [0.0])).seed_se is None


def test_paired_difference_uses_shared_questions_and_counts_the_others() -> None:
    first = Scores(by_question={"a": (1.0,), "b": (1.0,), "only": (0.0,)})
    second = Scores(by_question={"a": (0.0,), "b": (1.0,)})
    found = paired_difference([first], [second])
    assert (found.value, found.n_problems, found.n_unmatched) == (0.5, 2, 1)


def test_paired_difference_is_antisymmetric_in_its_value() -> None:
    first, second = scores_of([1.0], [0.0], [1.0]), scores_of([0.0], [0.0], [1.0])
    assert paired_difference([first], [second]).value == -paired_difference([second], [first]).value


def test_runs_without_shared_questions_have_no_difference() -> None:
    found = paired_difference([Scores(by_question={"a": (1.0,)})], [Scores(by_question={"b": (1.0,)})])
    assert (found.value, found.p, found.n_unmatched) == (None, None, 2)


def test_comparing_different_numbers_of_benchmarks_is_refused() -> None:
    with pytest.raises(DataError, match="1 benchmarks against 0"):
        paired_difference([scores_of([1.0])], [])


def test_macro_mean_weighs_benchmarks_and_not_questions() -> None:
    small, large = scores_of([1.0], [1.0]), scores_of(*[[0.0]] * 8)
    assert macro_estimate([small, large]).value == 0.5
    assert paired_difference([small, large], [scores_of([0.0], [0.0]), large]).value == 0.5


def test_clear_difference_has_an_interval_above_zero_and_a_small_p() -> None:
    rng = np.random.default_rng(5)
    found = paired_difference([scores_of(*[[1.0]] * 60)], [simulated(rng, np.full(60, 0.3), 1)])
    assert found.low > 0.4
    assert found.p < 0.001


def test_identical_runs_differ_by_zero_with_p_1() -> None:
    scores = scores_of([1.0], [0.0], [1.0])
    found = paired_difference([scores], [scores])
    assert (found.value, found.p) == (0.0, 1.0)
    assert found.low < 0 < found.high


def test_pass_at_k_is_unbiased_on_a_golden_question() -> None:
    assert pass_at_k(scores_of([1.0, 0.0, 0.0, 0.0]), 2) == pytest.approx(0.5)


def test_pass_at_1_is_the_average() -> None:
    scores = scores_of([1.0, 0.0], [1.0, 1.0], [0.0, 0.0])
    assert pass_at_k(scores, 1) == pytest.approx(estimate(scores).value)


@pytest.mark.parametrize("k", [0, 3])
def test_pass_at_k_refuses_more_samples_than_were_drawn(k: int) -> None:
    with pytest.raises(DataError, match="choose k from 1 to 2"):
        pass_at_k(scores_of([1.0, 0.0]), k)


def test_detectable_effect_is_2_8_standard_errors() -> None:
    assert minimal_detectable_effect(1.0) == pytest.approx(2.8016, abs=1e-4)
    assert minimal_detectable_effect(None) is None


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4), min_size=2, max_size=12))
def test_every_interval_holds_its_value_and_stays_between_0_and_1(questions: list[list[float]]) -> None:
    found = estimate(scores_of(*questions), draws=200)
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1


def test_the_same_rows_give_the_same_interval() -> None:
    scores = scores_of([1.0, 0.0], [0.0, 0.0], [1.0, 1.0])
    assert estimate(scores) == estimate(scores)
