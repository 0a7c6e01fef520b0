"""Accuracies with intervals, and differences of two runs, from rows of ``TRAJECTORY_SCHEMA``.

The question is the unit: a response is first averaged with the other responses to its question, and intervals come
from drawing questions again. A response that nobody could grade (``correct`` is null) or whose sandbox failed is left
out and counted; an empty response, and a question that was too long to be asked, is wrong and stays in the denominator.

Differs from ToRL: the paper prints single greedy runs without an interval; here every accuracy has one, and two
experiments are compared on the same questions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from torl.errors import DataError
from torl.rollout.trajectory import StopReason

DRAWS = 10_000
SEED = 20_250_330  # any fixed number: the same rows must give the same interval
LEVEL = 0.95
POWER = 0.80
CHUNK = 4_000_000  # numbers held at once while questions are drawn again: 32 MB

Row = dict[str, Any]
Means = np.ndarray  # (questions,) one mean a question, in the order of the question's id


class Interval(NamedTuple):
    """Bounds at ``LEVEL``; None where one question cannot give any."""

    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores in [0, 1] by question, and how many responses gave none."""

    by_question: dict[str, tuple[float, ...]]
    sandbox_failed: int = 0
    """Responses left out because the sandbox could not run a call."""
    ungraded: int = 0
    """Responses left out because the grader could not decide."""
    not_asked: int = 0
    """Questions whose prompt was over the budget; they are among the scored ones."""

    @property
    def n_responses(self) -> int:
        """Responses that were scored."""
        return sum(len(scores) for scores in self.by_question.values())

    @property
    def samples(self) -> tuple[int, int]:
        """Fewest and most scored responses to a question; (0, 0) without questions."""
        counts = [len(scores) for scores in self.by_question.values()] or [0]
        return min(counts), max(counts)

    @property
    def means(self) -> Means:
        """Mean score of each question, in the order of their ids."""
        return np.array([np.mean(self.by_question[name]) for name in sorted(self.by_question)])


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """avg@K with its interval: the mean over questions of the means over their responses."""

    value: float | None
    low: float | None
    high: float | None
    method: str
    """How the interval was made: ``wilson``, ``bootstrap``, ``degenerate`` or ``none``."""
    question_se: float | None
    """Standard error of the mean for other questions of this kind (generalisation); None for one question."""
    seed_se: float | None
    """Standard error of the mean for other samples of the same questions (repeatability); None with one a question."""
    n_problems: int
    n_responses: int


@dataclass(frozen=True, kw_only=True)
class Difference:
    """First run minus second run on the questions that both answered."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    """Two-sided p of the sign-flip permutation test; None without shared questions."""
    detectable: float | None
    """Smallest difference that a comparison of this size finds with 80 % power."""
    n_problems: int
    n_unmatched: int
    """Questions that only one of the runs has; they are left out."""


def is_correct(row: Row) -> float | None:
    """1.0 or 0.0 for a graded response, None for one the grader could not decide."""
    return None if row["correct"] is None else float(row["correct"])


def score_rows(rows: Iterable[Row], score: Callable[[Row], float | None] = is_correct) -> Scores:
    """Scores by question; rows that ended in ``sandbox_failed`` or score None are counted and left out."""
    by_question: dict[str, list[float]] = defaultdict(list)
    not_asked: set[str] = set()
    failed = ungraded = 0
    for row in rows:
        if row["stop_reason"] == StopReason.PROMPT_TOO_LONG:
            not_asked.add(row["problem_id"])
        if row["stop_reason"] == StopReason.SANDBOX_FAILED:
            failed += 1
        elif (value := score(row)) is None:
            ungraded += 1
        else:
            by_question[row["problem_id"]].append(value)
    return Scores(
        by_question={name: tuple(values) for name, values in by_question.items()},
        sandbox_failed=failed,
        ungraded=ungraded,
        not_asked=len(not_asked),
    )


def estimate(scores: Scores, draws: int = DRAWS) -> Estimate:
    """avg@K and its interval: Wilson with one response a question, otherwise a bootstrap over questions."""
    means = scores.means
    if not means.size:
        return Estimate(
            value=None, low=None, high=None, method="none", question_se=None, seed_se=None, n_problems=0, n_responses=0
        )
    binary = set(np.unique(means)) <= {0.0, 1.0}
    if scores.samples[1] == 1 and binary:
        method, bounds = "wilson", wilson(int(means.sum()), means.size)
    else:
        method, bounds = _interval([means], floor=0.0, draws=draws)
    return Estimate(
        value=float(means.mean()),
        low=bounds.low,
        high=bounds.high,
        method=method,
        question_se=question_se(means),
        seed_se=seed_se(scores),
        n_problems=means.size,
        n_responses=scores.n_responses,
    )


def macro_estimate(strata: Sequence[Scores], draws: int = DRAWS) -> Estimate:
    """Unweighted mean of several benchmarks; questions are drawn again inside each."""
    means = [scores.means for scores in strata if scores.by_question]
    if len(means) <= 1:
        return estimate(strata[0] if strata else Scores(by_question={}), draws)
    method, bounds = _interval(means, floor=0.0, draws=draws)
    errors = [question_se(stratum) for stratum in means]
    return Estimate(
        value=float(np.mean([stratum.mean() for stratum in means])),
        low=bounds.low,
        high=bounds.high,
        method=method,
        question_se=_mean_se(errors),
        seed_se=_mean_se([seed_se(scores) for scores in strata]),
        n_problems=sum(stratum.size for stratum in means),
        n_responses=sum(scores.n_responses for scores in strata),
    )


def paired_difference(first: Sequence[Scores], second: Sequence[Scores], draws: int = DRAWS) -> Difference:
    """First minus second, paired by question inside each benchmark, then averaged over benchmarks.

    ``first`` and ``second`` hold one ``Scores`` a benchmark, in the same order.

    Raises:
        DataError: the two hold different numbers of benchmarks.
    """
    if len(first) != len(second):
        raise DataError(f"{len(first)} benchmarks against {len(second)}; pass the same benchmarks for both runs.")
    strata, unmatched = [], 0
    for left, right in zip(first, second, strict=True):
        shared = sorted(left.by_question.keys() & right.by_question.keys())
        unmatched += len(left.by_question.keys() ^ right.by_question.keys())
        if shared:
            strata.append(np.array([np.mean(left.by_question[q]) - np.mean(right.by_question[q]) for q in shared]))
    n_problems = sum(stratum.size for stratum in strata)
    if not strata:
        return Difference(value=None, low=None, high=None, p=None, detectable=None, n_problems=0, n_unmatched=unmatched)
    bounds = _interval(strata, floor=-1.0, draws=draws)[1]
    return Difference(
        value=float(np.mean([stratum.mean() for stratum in strata])),
        low=bounds.low,
        high=bounds.high,
        p=sign_flip_p(strata, draws),
        detectable=minimal_detectable_effect(_mean_se([question_se(stratum) for stratum in strata])),
        n_problems=n_problems,
        n_unmatched=unmatched,
    )


def pass_at_k(scores: Scores, k: int) -> float:
    """Unbiased pass@k: the chance that one of ``k`` of a question's responses is right, averaged over questions.

    Raises:
        DataError: ``k`` is below 1, or a question has fewer than ``k`` scored responses.
    """
    fewest = scores.samples[0]
    if not 1 <= k <= fewest:
        raise DataError(f"pass@{k} of questions with {fewest} responses; choose k from 1 to {fewest} or sample more.")
    chances = []
    for values in scores.by_question.values():
        wrong = sum(value < 1 for value in values)
        chances.append(1 - comb(wrong, k) / comb(len(values), k))
    return float(np.mean(chances))


def wilson(successes: int, trials: int, level: float = LEVEL) -> Interval:
    """Wilson's score interval for a share; (None, None) without trials."""
    if trials == 0:
        return Interval(None, None)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low, high = (centre - half) / (1 + z * z / trials), (centre + half) / (1 + z * z / trials)
    return Interval(0.0 if successes == 0 else low, 1.0 if successes == trials else high)


def question_se(means: Means) -> float | None:
    """Standard error of the mean over questions, within-question noise included; None for fewer than two questions."""
    return float(means.std(ddof=1) / sqrt(means.size)) if means.size > 1 else None


def seed_se(scores: Scores) -> float | None:
    """Standard error of the mean over new samples of the same questions; None where a question has one response."""
    if scores.samples[0] < 2:
        return None
    variances = [np.var(values, ddof=1) / len(values) for values in scores.by_question.values()]
    return float(sqrt(sum(variances)) / len(variances))


def minimal_detectable_effect(se: float | None) -> float | None:
    """Smallest true effect that a two-sided test at 5 % finds with 80 % power, for an estimate with this error."""
    if se is None:
        return None
    normal = NormalDist()
    return (normal.inv_cdf(0.5 + LEVEL / 2) + normal.inv_cdf(POWER)) * se


def sign_flip_p(strata: Sequence[Means], draws: int = DRAWS) -> float:
    """Two-sided p of "no question favours either run": signs of the differences are flipped at random."""
    weighted = np.concatenate([stratum / (stratum.size * len(strata)) for stratum in strata])
    observed = abs(weighted.sum())
    rng = np.random.default_rng(SEED)
    extreme = 0
    for size in _chunks(draws, weighted.size):
        signs = rng.integers(0, 2, (size, weighted.size), dtype=np.int8) * 2 - 1
        # The tolerance keeps ties with the observed sum on its side of the comparison.
        extreme += int((np.abs(signs @ weighted) >= observed - 1e-12).sum())
    return (1 + extreme) / (1 + draws)


def bootstrap_means(strata: Sequence[Means], draws: int = DRAWS) -> np.ndarray:
    """(draws,) means over strata of the means of questions drawn again, with replacement, inside each stratum."""
    rng = np.random.default_rng(SEED)
    total = np.zeros(draws)
    for stratum in strata:
        drawn = [
            stratum[rng.integers(0, stratum.size, (size, stratum.size))].mean(axis=1)
            for size in _chunks(draws, stratum.size)
        ]
        total += np.concatenate(drawn)
    return total / len(strata)


def student_t_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t by its expansion around the normal one (off by < 0.002 from 8 degrees of freedom up)."""
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


def _interval(strata: Sequence[Means], floor: float, draws: int) -> tuple[str, Interval]:
    """Method and bounds of the mean of stratum means, whose scores lie in [``floor``, 1]."""
    smallest = min(stratum.size for stratum in strata)
    if smallest < 2:
        return "none", Interval(None, None)
    if all(np.ptp(stratum) == 0 for stratum in strata):
        return "degenerate", _unseen_bounds(float(np.mean([s.mean() for s in strata])), smallest, floor)
    tail = _expanded_tail(smallest)
    low, high = np.quantile(bootstrap_means(strata, draws), [tail, 1 - tail])
    return "bootstrap", Interval(float(low), float(high))


def _expanded_tail(questions: int) -> float:
    """Tail share that makes a percentile interval as wide as Student's t; plain ones are too narrow at N = 30."""
    t = student_t_quantile(0.5 + LEVEL / 2, questions - 1)
    return NormalDist().cdf(-sqrt(questions / (questions - 1)) * t)


def _unseen_bounds(value: float, questions: int, floor: float) -> Interval:
    """Bounds when all questions agree: as many unlike ones as Wilson allows unseen may be at either extreme."""
    unseen = wilson(0, questions).high or 0.0
    return Interval(value - unseen * (value - floor), value + unseen * (1 - value))


def _mean_se(errors: Sequence[float | None]) -> float | None:
    """Standard error of the mean of independent stratum means; None where one of theirs is unknown."""
    known = [error for error in errors if error is not None]
    if not known or len(known) < len(errors):
        return None
    return sqrt(sum(error * error for error in known)) / len(known)


def _chunks(draws: int, width: int) -> list[int]:
    """Sizes that add up to ``draws``, none of which holds more than ``CHUNK`` numbers of ``width``."""
    size = max(1, CHUNK // max(1, width))
    return [size] * (draws // size) + ([draws % size] if draws % size else [])
