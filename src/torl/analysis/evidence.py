"""What the runs at hand say about a claim: an effect with its interval, or why there is none.

Accuracies are compared on evaluation rows, paired by question; behaviour is measured on the sampled training rollouts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torl.analysis.curves import TRAIN, change, curve, gap
from torl.analysis.paper import Claim
from torl.evaluation.statistics import Scores, macro_estimate, paired_difference

PAPER_BENCHMARKS = ("aime24", "aime25", "math500", "olympiadbench", "amc23")
POINTS = 100


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The measured effect in the unit of the claim's test; bounds are None where there is no interval."""

    value: float
    low: float | None
    high: float | None
    basis: str
    """What was measured, in words."""


@dataclass(frozen=True, kw_only=True)
class Missing:
    """Why a claim cannot be tested."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the runs at hand have measured."""

    scale: str | None
    scores: Mapping[str, Mapping[str, Scores]]
    """Scores by experiment and benchmark, at the last evaluated step."""
    metrics: list[dict]
    """Tidy rows of ``METRICS_SCHEMA``."""
    step_seconds: Mapping[str, float]
    """Wall seconds of a training step by experiment."""
    training_seeds: int = 1
    """Training runs of each experiment."""


def gather(claim: Claim, findings: Findings, at_scale: bool) -> Evidence | Missing:
    """The evidence on a claim, or why there is none."""
    if claim.kind == "level":
        return _level(claim, findings) if at_scale else Missing(reason=_needs_scale(claim))
    return {"comparison": _comparison, "change": _change, "gap": _gap, "cost": _cost}[claim.kind](claim, findings)


def _comparison(claim: Claim, findings: Findings) -> Evidence | Missing:
    first, second = claim.experiments
    absent = [name for name in claim.experiments if not findings.scores.get(name)]
    if absent:
        return Missing(reason=f"not evaluated: {', '.join(absent)}")
    shared = sorted(findings.scores[first].keys() & findings.scores[second].keys())
    found = paired_difference(
        [findings.scores[first][name] for name in shared], [findings.scores[second][name] for name in shared]
    )
    if found.value is None:
        return Missing(reason=f"{first} and {second} share no evaluated question")
    return Evidence(
        value=POINTS * found.value,
        low=_scaled(found.low),
        high=_scaled(found.high),
        basis=f"accuracy of {first} minus {second}, {found.n_problems} questions of {', '.join(shared)}",
    )


def _level(claim: Claim, findings: Findings) -> Evidence | Missing:
    scores = findings.scores.get(claim.experiments[0], {})
    absent = [name for name in PAPER_BENCHMARKS if name not in scores]
    if absent:
        return Missing(reason=f"not evaluated: {', '.join(absent)}")
    found = macro_estimate([scores[name] for name in PAPER_BENCHMARKS])
    if found.value is None:
        return Missing(reason="no graded response")
    return Evidence(
        value=POINTS * found.value,
        low=_scaled(found.low),
        high=_scaled(found.high),
        basis=f"mean over {len(PAPER_BENCHMARKS)} benchmarks, {found.n_problems} questions",
    )


def _change(claim: Claim, findings: Findings) -> Evidence | Missing:
    (experiment,) = claim.experiments
    found = change(curve(findings.metrics, experiment, TRAIN, claim.metric or ""))
    if found is None:
        return Missing(reason=f"{experiment} has too few training steps with a {claim.metric}")
    return Evidence(
        value=found.difference,
        low=found.low,
        high=found.high,
        basis=f"{found.first:.1%} in the first {found.window} steps, {found.last:.1%} in the last {found.window}",
    )


def _gap(claim: Claim, findings: Findings) -> Evidence | Missing:
    (experiment,) = claim.experiments
    upper = curve(findings.metrics, experiment, TRAIN, claim.metric or "")
    lower = curve(findings.metrics, experiment, TRAIN, claim.minus or "")
    found = gap(upper, lower)
    if found is None:
        return Missing(reason=f"{experiment} has too few training steps with both {claim.metric} and {claim.minus}")
    value, low, high = found
    return Evidence(value=value, low=low, high=high, basis="mean over training steps")


def _cost(claim: Claim, findings: Findings) -> Evidence | Missing:
    first, second = claim.experiments
    absent = [name for name in claim.experiments if not findings.step_seconds.get(name)]
    if absent:
        return Missing(reason=f"no training time of {', '.join(absent)}")
    seconds = findings.step_seconds[first], findings.step_seconds[second]
    basis = f"{first} {seconds[0]:.1f} s a step, {second} {seconds[1]:.1f} s, start-up included"
    return Evidence(value=seconds[0] / seconds[1], low=None, high=None, basis=basis)


def _needs_scale(claim: Claim) -> str:
    return f"not run at this scale; needs {' or '.join(claim.paper_scales)}"


def _scaled(value: float | None) -> float | None:
    return None if value is None else POINTS * value
