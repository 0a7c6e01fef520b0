"""A verdict for each of the paper's claims, from evidence with an interval.

A number of the paper can only be reproduced at the paper's scale; elsewhere its direction is tested and said to be so.
One training run an experiment shows what happened in that run: whatever it supports is capped at ``CONSISTENT``.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import hypot
from statistics import NormalDist

from torl.analysis.evidence import Evidence, Findings, Missing, gather
from torl.analysis.paper import Claim

Z = NormalDist().inv_cdf(0.975)


class Verdict(StrEnum):
    """What became of a claim. Each claim has exactly one."""

    REPRODUCED = "reproduced"
    """Same direction, the interval excludes no effect, and the paper's number fits ours within both their noise."""
    DIRECTION_ONLY = "direction only"
    """Same direction and the interval excludes no effect; the number differs or cannot be compared."""
    CONSISTENT = "consistent with"
    """As either of the above, but from a single training run or without an interval."""
    INCONCLUSIVE = "inconclusive"
    """The interval includes no effect."""
    CONTRADICTED = "contradicted"
    """The interval excludes what was claimed."""
    NOT_RUN = "not run"
    """What the claim needs was not run."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A claim's verdict, why, and the evidence behind it."""

    claim: Claim
    verdict: Verdict
    reason: str
    evidence: Evidence | None
    at_paper_scale: bool


def judge_all(claims: list[Claim], findings: Findings) -> list[Judgement]:
    """A judgement for every claim, in order."""
    return [judge(claim, findings) for claim in claims]


def judge(claim: Claim, findings: Findings) -> Judgement:
    """The verdict on one claim."""
    at_scale = findings.scale in claim.paper_scales
    evidence = gather(claim, findings, at_scale)
    if isinstance(evidence, Missing):
        return Judgement(
            claim=claim, verdict=Verdict.NOT_RUN, reason=evidence.reason, evidence=None, at_paper_scale=at_scale
        )
    verdict, reason = _verdict(claim, evidence, at_scale)
    if verdict in (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY) and findings.training_seeds == 1:
        verdict, reason = Verdict.CONSISTENT, f"{reason}; one training run of each experiment"
    return Judgement(claim=claim, verdict=verdict, reason=reason, evidence=evidence, at_paper_scale=at_scale)


def _verdict(claim: Claim, evidence: Evidence, at_scale: bool) -> tuple[Verdict, str]:
    if claim.kind == "level":
        return _judge_level(claim, evidence)
    if claim.kind == "cost":
        slower = evidence.value > 1
        return (Verdict.CONSISTENT if slower else Verdict.INCONCLUSIVE), "a single measurement, without an interval"
    if evidence.low is None or evidence.high is None:
        return Verdict.INCONCLUSIVE, "too few questions or steps for an interval"
    if claim.expect == "no_gain":
        return _judge_no_gain(claim, evidence.low, evidence.high)
    return _judge_up(claim, evidence, at_scale)


def _judge_up(claim: Claim, evidence: Evidence, at_scale: bool) -> tuple[Verdict, str]:
    if evidence.high < 0:
        return Verdict.CONTRADICTED, "the interval lies below zero"
    if evidence.low <= 0:
        claimed = claim.paper.value
        if at_scale and claimed is not None and evidence.high < claimed / 2:
            return Verdict.CONTRADICTED, "the interval excludes even half of the claimed effect"
        return Verdict.INCONCLUSIVE, "the interval includes zero"
    if at_scale and fits_paper(claim, evidence):
        return Verdict.REPRODUCED, "the interval lies above zero and the paper's number fits"
    if at_scale:
        return Verdict.DIRECTION_ONLY, "the interval lies above zero, the paper's number does not fit"
    return Verdict.DIRECTION_ONLY, "the interval lies above zero; only the direction can be tested at this scale"


def _judge_no_gain(claim: Claim, low: float, high: float) -> tuple[Verdict, str]:
    margin = claim.margin or 0.0
    if low > 0:
        return Verdict.CONTRADICTED, "the interval lies above zero: there is a gain"
    if high <= margin:
        return Verdict.REPRODUCED, f"the interval excludes a gain of more than {margin:g} points"
    return Verdict.INCONCLUSIVE, f"the interval includes zero and a gain of {margin:g} points"


def _judge_level(claim: Claim, evidence: Evidence) -> tuple[Verdict, str]:
    if evidence.low is None or claim.paper.value is None:
        return Verdict.INCONCLUSIVE, "too few questions for an interval"
    if fits_paper(claim, evidence):
        return Verdict.REPRODUCED, "the paper's number lies within the noise of both"
    if evidence.value > claim.paper.value:
        return Verdict.DIRECTION_ONLY, "higher than the paper's number, beyond the noise of both"
    return Verdict.CONTRADICTED, "lower than the paper's number, beyond the noise of both"


def fits_paper(claim: Claim, evidence: Evidence) -> bool:
    """Whether the paper's number lies in the 95 % prediction interval made of its noise and ours."""
    if claim.paper.value is None or evidence.low is None or evidence.high is None:
        return False
    ours = (evidence.high - evidence.low) / 2
    return abs(evidence.value - claim.paper.value) <= hypot(ours, Z * (claim.paper.se or 0.0))
