"""Both ways of selecting that need the model, whole: probe run -> scores -> lim -> training -> report, and responses of the
base -> pass rates -> band -> training.
"""

import shutil
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chain import overrides, snakemake
from tests.conftest import PROJECT
from torl.files import read_json, read_jsonl, read_table
from torl.training.run_dir import RunDir

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1700)]

PROBLEMS, EPOCHS, SAMPLES, KEPT = 14, 2, 8, 6
SCALE = {
    "model": {"base": "scale-model", "pretrain_documents": 20_000, "pretrain_steps": 600},
    "data": {"sources": ["generated_train"], "generate": PROBLEMS, "selection": "lim", "count": KEPT},
    "rollout": {"prompt": "tir_base_0309", "max_tool_calls": 1, "max_prompt_tokens": 128, "max_response_tokens": 120},
    "train": {
        "steps": 2,
        "prompts_per_step": 4,
        "responses_per_prompt": 4,
        "learning_rate": 2.0e-4,
        "save_every": 2,
    },
    "evaluation": {"benchmarks": ["generated_test"], "generate": 10, "every": 2},
}
BAND = (0.125, 0.75)
PASS_RATE = {"selection": "pass_rate", "pass_rate_samples": SAMPLES, "pass_rate_band": list(BAND), "count": None}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's workflow with a scale of its own, and a short probe."""
    folder = tmp_path_factory.mktemp("project")
    for part in ("workflow", "config"):
        shutil.copytree(PROJECT / part, folder / part)
    demo = yaml.safe_load((folder / "config" / "scales" / "demo.yaml").read_text())
    scale = SCALE | {"compute": demo["compute"]}
    (folder / "config" / "scales" / "tiny.yaml").write_text(yaml.safe_dump(scale))
    experiments = yaml.safe_load((folder / "config" / "experiments.yaml").read_text())
    experiments["probe"]["train"] |= {"epochs": EPOCHS, "responses_per_prompt": 4}
    (folder / "config" / "experiments.yaml").write_text(yaml.safe_dump(experiments))
    return folder


@pytest.fixture(scope="module")
def results(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The probe, what it selects, the run on that and the report of both."""
    folder = tmp_path_factory.mktemp("chain")
    snakemake(folder, "--config", "scale=tiny", "--", "probe", project=project)
    return folder / "results" / "tiny"


@pytest.fixture(scope="module")
def by_pass_rate(results: Path, project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same pool and base model, selected by pass rates."""
    folder = tmp_path_factory.mktemp("chain by pass rate")
    shutil.copytree(results.parent.parent, folder, dirs_exist_ok=True)
    snakemake(
        folder,
        "--config",
        "scale=tiny",
        overrides({"data": PASS_RATE}),
        "--",
        "results/tiny/torl/done.json",
        project=project,
    )
    return folder / "results" / "tiny"


def trajectories(results: Path, experiment: str) -> list[dict[str, Any]]:
    run = RunDir.named_by(results / experiment / "done.json")
    return [row for path in sorted(run.trajectories.glob("step_*.jsonl")) for row in read_jsonl(path)]


def selected(results: Path, selection: str) -> list[str]:
    return [row["extra_info"]["id"] for row in read_table(results / "problems" / selection / "train.parquet")]


def pool(results: Path) -> list[str]:
    return [row["id"] for row in read_table(results / "problems" / "pool.parquet")]


def trained_on(results: Path) -> set[str]:
    return {row["problem_id"] for row in trajectories(results, "torl")}


def test_the_probe_makes_whole_passes_over_the_whole_pool(results: Path) -> None:
    steps = EPOCHS * (PROBLEMS // 4)
    assert read_json(results / "probe" / "done.json")["steps"] == steps
    rows = trajectories(results, "probe")
    assert {row["problem_id"] for row in rows} == set(pool(results)) == set(selected(results, "all"))
    for epoch in range(EPOCHS):
        asked = [row["problem_id"] for row in rows if row["step"] // (PROBLEMS // 4) == epoch]
        assert {asked.count(name) for name in set(asked)} == {4}
        assert len(set(asked)) == 4 * (PROBLEMS // 4)


def test_scores_are_the_formula_applied_to_the_rewards_of_the_probe(results: Path) -> None:
    by_epoch: dict[str, list[list[int]]] = defaultdict(lambda: [[] for _ in range(EPOCHS)])
    for row in trajectories(results, "probe"):
        by_epoch[row["problem_id"]][row["step"] // (PROBLEMS // 4)].append(int(row["reward"] == 1.0))
    curves = {}
    for name, epochs in by_epoch.items():
        curve = [Fraction(sum(rewards), len(rewards)) if rewards else None for rewards in epochs]
        filled = [now if now is not None else then for now, then in zip(curve, [*curve[1:], None], strict=True)]
        if None not in filled:
            curves[name] = filled
    mean = [sum(curve[k] for curve in curves.values()) / len(curves) for k in range(EPOCHS)]
    room = sum((1 - value) ** 2 for value in mean)
    wanted = {
        name: float(1 - sum((r - m) ** 2 for r, m in zip(curve, mean, strict=True)) / room)
        for name, curve in curves.items()
    }
    scores = {row["problem_id"]: row["score"] for row in read_table(results / "problems" / "scores.parquet")}
    assert scores == pytest.approx(wanted, abs=0.00501)  # two decimals
    assert len(set(scores.values())) > 2


def test_lim_trains_on_the_highest_scores(results: Path) -> None:
    scores = {row["problem_id"]: row["score"] for row in read_table(results / "problems" / "scores.parquet")}
    ranked = sorted((name for name in pool(results) if name in scores), key=lambda name: -scores[name])
    assert selected(results, "lim") == [name for name in pool(results) if name in ranked[:KEPT]]
    assert trained_on(results) <= set(ranked[:KEPT])


def test_the_report_shows_the_probe_s_training_and_says_what_it_has_no_evaluation_of(results: Path) -> None:
    report = read_json(results / "report_probe.json")
    assert [(run["experiment"], run["steps"]) for run in report["runs"]] == [
        ("torl", 2),
        ("probe", EPOCHS * (PROBLEMS // 4)),
    ]
    lines = {line["experiment"]: line for group in report["headline"] for line in group["lines"]}
    assert lines["torl"]["evaluated"]
    assert not lines["probe"]["evaluated"]
    assert lines["probe"]["start"]["value"] == lines["torl"]["start"]["value"]
    assert report["comparisons"] == []
    assert report["selection"]["method"] == "lim"
    page = (results / "report_probe.html").read_text(encoding="utf-8")
    assert "not evaluated at this step" in page
    assert "torl minus probe" not in page


def test_pass_rates_are_counts_of_the_responses_and_the_band_is_what_is_trained_on(by_pass_rate: Path) -> None:
    rates = {row["problem_id"]: row for row in read_table(by_pass_rate / "problems" / "pass_rates.parquet")}
    responses = read_table(by_pass_rate / "problems" / "responses.parquet")
    assert list(rates) == pool(by_pass_rate)
    assert {row["samples"] for row in rates.values()} == {SAMPLES}
    for name, row in rates.items():
        assert row["passes"] == sum(response["correct"] for response in responses if response["problem_id"] == name)
    assert len({row["passes"] for row in rates.values()}) > 1
    inside = [name for name, row in rates.items() if BAND[0] <= row["passes"] / row["samples"] <= BAND[1]]
    assert selected(by_pass_rate, "pass_rate") == inside
    assert trained_on(by_pass_rate) <= set(inside)
