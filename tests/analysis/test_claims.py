"""A claim gets the verdict that its evidence allows, and never a stronger one."""

import pytest

from tests.analysis.factory import ROOT
from torl.analysis.claims import Verdict, judge, judge_all
from torl.analysis.evidence import PAPER_BENCHMARKS, Findings
from torl.analysis.paper import Claim, read_ledger
from torl.errors import DataError
from torl.evaluation.statistics import Scores

CLAIMS = {claim.id: claim for claim in read_ledger(ROOT / "config" / "paper" / "claims.yaml").claims}


def scores(right: int, questions: int = 100) -> Scores:
    return Scores(by_question={f"q{i:03d}": (float(i < right),) for i in range(questions)})


def lines(metric: str, values: list[float], experiment: str = "torl") -> list[dict]:
    context = {"experiment": experiment, "benchmark": "train", "metric": metric, "low": None, "high": None}
    return [context | {"step": step, "value": value} for step, value in enumerate(values)]


def findings(scale: str = "demo", seeds: int = 3, **changes: object) -> Findings:
    values = {"scores": {}, "metrics": [], "step_seconds": {}} | changes
    return Findings(scale=scale, training_seeds=seeds, **values)


def compared(claim: str, first: int, second: int, scale: str = "demo", seeds: int = 3) -> Verdict:
    names = CLAIMS[claim].experiments
    measured = {names[0]: {"heldout": scores(first)}, names[1]: {"heldout": scores(second)}}
    return judge(CLAIMS[claim], findings(scale, seeds, scores=measured)).verdict


@pytest.mark.parametrize(
    ("first", "second", "scale", "verdict"),
    [
        (60, 50, "torl-7b", Verdict.REPRODUCED),
        (90, 10, "torl-7b", Verdict.DIRECTION_ONLY),
        (60, 50, "demo", Verdict.DIRECTION_ONLY),
        (50, 50, "demo", Verdict.INCONCLUSIVE),
        (50, 60, "demo", Verdict.CONTRADICTED),
        (50, 50, "torl-7b", Verdict.CONTRADICTED),
    ],
)
def test_verdict_on_a_claimed_gain(first: int, second: int, scale: str, verdict: Verdict) -> None:
    assert compared("tool_beats_no_tool", first, second, scale) is verdict


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(50, 50, Verdict.INCONCLUSIVE), (40, 60, Verdict.REPRODUCED), (60, 40, Verdict.CONTRADICTED)],
)
def test_verdict_on_a_claim_of_no_gain(first: int, second: int, verdict: Verdict) -> None:
    assert compared("penalty_does_not_help", first, second, "torl-1.5b") is verdict


@pytest.mark.parametrize("scale", ["demo", "torl-7b"])
def test_one_training_run_supports_no_more_than_consistent_with(scale: str) -> None:
    assert compared("tool_beats_no_tool", 60, 50, scale, seeds=1) is Verdict.CONSISTENT


def test_one_training_run_can_still_contradict() -> None:
    assert compared("tool_beats_no_tool", 40, 60, seeds=1) is Verdict.CONTRADICTED


def test_a_number_of_the_paper_is_not_run_at_another_scale() -> None:
    judgement = judge(CLAIMS["level_7b"], findings("demo"))
    assert judgement.verdict is Verdict.NOT_RUN
    assert judgement.reason == "not run at this scale; needs torl-7b"


@pytest.mark.parametrize(
    ("right", "verdict"), [(56, Verdict.REPRODUCED), (20, Verdict.CONTRADICTED), (95, Verdict.DIRECTION_ONLY)]
)
def test_verdict_on_a_level_needs_all_of_the_papers_benchmarks(right: int, verdict: Verdict) -> None:
    measured = {name: scores(right) for name in PAPER_BENCHMARKS}
    assert judge(CLAIMS["level_7b"], findings("torl-7b", scores={"torl": measured})).verdict is verdict
    del measured["amc23"]
    judgement = judge(CLAIMS["level_7b"], findings("torl-7b", scores={"torl": measured}))
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_RUN, "not evaluated: amc23")


def test_an_experiment_that_was_not_evaluated_is_named() -> None:
    judgement = judge(CLAIMS["second_call_helps"], findings(scores={"torl": {"heldout": scores(5)}}))
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_RUN, "not evaluated: C2")


def test_rising_curve_supports_a_claimed_rise() -> None:
    rising = lines("code_ratio", [0.4 + 0.01 * step for step in range(40)])
    judgement = judge(CLAIMS["code_ratio_rises"], findings(metrics=rising))
    assert judgement.verdict is Verdict.DIRECTION_ONLY
    assert judgement.evidence.value == pytest.approx(0.36)


def test_falling_curve_contradicts_a_claimed_rise() -> None:
    falling = lines("code_ratio", [0.9 - 0.01 * step for step in range(40)])
    assert judge(CLAIMS["code_ratio_rises"], findings(metrics=falling)).verdict is Verdict.CONTRADICTED


def test_run_without_calls_leaves_the_pass_ratio_untested() -> None:
    nothing = [line | {"value": None} for line in lines("pass_ratio", [0.0] * 40)]
    judgement = judge(CLAIMS["pass_ratio_rises"], findings(metrics=nothing))
    assert judgement.verdict is Verdict.NOT_RUN
    assert "too few training steps with a pass_ratio" in judgement.reason


def test_gap_between_right_and_wrong_responses_is_tested_step_by_step() -> None:
    metrics = lines("pass_ratio_correct", [0.9, 0.91, 0.92]) + lines("pass_ratio_incorrect", [0.7, 0.72, 0.71])
    judgement = judge(CLAIMS["right_answers_have_better_code"], findings(metrics=metrics))
    assert judgement.verdict is Verdict.DIRECTION_ONLY
    assert judgement.evidence.value == pytest.approx(0.2)


def test_time_of_a_step_is_a_ratio_without_an_interval() -> None:
    judgement = judge(CLAIMS["calls_cost_time"], findings(step_seconds={"torl": 6.0, "no_tool": 3.0}))
    assert (judgement.verdict, judgement.evidence.value, judgement.evidence.low) == (Verdict.CONSISTENT, 2.0, None)


def test_without_any_run_every_claim_is_not_run_with_a_reason() -> None:
    judgements = judge_all(list(CLAIMS.values()), findings())
    assert {one.verdict for one in judgements} == {Verdict.NOT_RUN}
    assert all(one.reason for one in judgements)


def test_a_claim_without_its_experiments_is_refused_by_id(tmp_path) -> None:
    path = tmp_path / "claims.yaml"
    text = (ROOT / "config" / "paper" / "claims.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("experiments: [torl, no_tool]", "experiments: [torl]", 1), encoding="utf-8")
    with pytest.raises(DataError, match="claim tool_beats_no_tool: kind comparison needs 2 experiments"):
        read_ledger(path)


def test_claims_have_unique_ids_and_metrics_that_exist() -> None:
    from torl.analysis.behaviour import behaviour

    claims: list[Claim] = read_ledger(ROOT / "config" / "paper" / "claims.yaml").claims
    assert len({claim.id for claim in claims}) == len(claims)
    named = {name for claim in claims for name in (claim.metric, claim.minus) if name}
    assert named <= behaviour([]).keys()
