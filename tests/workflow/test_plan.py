"""What Snakemake plans, without running anything: every scale and experiment, every target, every mistake."""

from pathlib import Path

import pytest

from tests.chain import snakemake
from tests.conftest import PROJECT
from torl.config import experiment_names, scale_names

CONFIG = PROJECT / "config"


def plan(folder: Path, *arguments: str, check: bool = True) -> str:
    result = snakemake(folder, "-n", *arguments, check=check)
    return result.stdout + result.stderr


@pytest.mark.parametrize("scale", scale_names(CONFIG))
def test_every_experiment_can_be_planned_at_every_scale(scale: str, tmp_path: Path) -> None:
    names = experiment_names(CONFIG)
    data = tmp_path / "lim" / "limr_scores.json.zst"
    data.parent.mkdir()
    data.touch()
    text = plan(tmp_path, "--config", f"scale={scale}", f"data_dir={tmp_path}", "--", "all", *names)
    for name in names:
        assert f"results/{scale}/report_{name}.html" in text


def test_the_slurm_profile_plans_the_paper_s_scale_without_a_network(tmp_path: Path) -> None:
    text = plan(tmp_path, "--profile", "slurm", "--", "all")
    assert "results/torl-1.5b/report.html" in text
    assert "gpu=8" in text


def test_the_slurm_profile_yields_to_a_scale_on_the_command_line(tmp_path: Path) -> None:
    assert "results/demo/report.html" in plan(tmp_path, "--profile", "slurm", "--config", "scale=demo", "--", "all")


def test_one_ablation_is_compared_with_torl_and_with_nothing_else(tmp_path: Path) -> None:
    text = plan(tmp_path, "C2")
    assert "results/demo/C2/done.json" in text
    assert "results/demo/torl/done.json" in text
    assert "results/demo/no_tool" not in text


def test_the_list_of_targets_says_what_each_experiment_makes(tmp_path: Path) -> None:
    listed = snakemake(tmp_path, "--list-target-rules").stdout.splitlines()
    assert "C2 (Two tool calls per response instead of one. Its report compares it with torl.)" in listed
    for name in experiment_names(CONFIG):
        assert any(line.startswith(f"{name} (") for line in listed)


def test_all_is_the_default(tmp_path: Path) -> None:
    assert "results/demo/report.html" in plan(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--config", "scale=demoo"], ["'demoo'", "Did you mean 'demo'"]),
        (["--config", "scal=demo"], ["scal", "unknown key"]),
        (["--config", "scale=real", "data_dir=nowhere"], ["data_dir nowhere is no folder", "make real DATA="]),
        (["--config", "experiments=[torl,C3]"], ["'C3'"]),
        (["--config", "scale=real"], ["data_dir (not set) is no folder"]),
        (
            ["--config", "overrides={data: {sources: [generated_trian]}}"],
            ["generated_trian", "did you mean generated_train"],
        ),
        (["--config", "overrides={rollout: {prompt: tir_base_0308}}"], ["tir_base_0308", "tir_base_0309"]),
        (["--config", "overrides={seed: 7}"], ["overrides.seed"]),
        (
            ["--config", "overrides={data: {selection: lim}}"],
            ["experiment probe too", "set data.selection in the scale's file"],
        ),
        (["--config", "overrides={train: {step: 5}}"], ["train.step", "did you mean 'steps'"]),
        (
            ["--config", "overrides={rollout: {max_tool_calls: 0}, reward: {penalty: paper}}"],
            ["reward.penalty", "max_tool_calls"],
        ),
    ],
)
def test_a_mistake_stops_the_plan_with_its_cure(arguments: list[str], parts: list[str], tmp_path: Path) -> None:
    text = plan(tmp_path, *arguments, check=False)
    for part in parts:
        assert part in text
    assert "Traceback" not in text


def test_overrides_need_fit_only_the_experiments_that_are_asked_for(tmp_path: Path) -> None:
    override = ["--config", "overrides={reward: {penalty: paper}}"]
    assert "train_policy" in plan(tmp_path, *override, "--", "torl")
    refused = plan(tmp_path, *override, "--", "no_tool", check=False)
    for part in ("Overrides hold for every experiment", "experiment 'no_tool'", "config/experiments.yaml"):
        assert part in refused


@pytest.mark.parametrize(
    "target", ["problems/nonsense/train.parquet", "raw/nonsense.parquet", "torl/evaluation/step_0/nonsense.parquet"]
)
def test_a_file_of_an_unknown_selection_or_source_is_no_target(target: str, tmp_path: Path) -> None:
    text = plan(tmp_path, f"results/demo/{target}", check=False)
    assert f"No rule to produce results/demo/{target}" in text


def test_a_local_file_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    local = tmp_path / "data" / "benchmarks" / "amc23_qwen.jsonl"
    local.parent.mkdir(parents=True)
    local.write_text('{"problem": "What is 1 + 1?", "answer": 2}')
    fetch = ["--config", "scale=real", f"data_dir={tmp_path / 'data'}", "--", "results/real/raw/amc23_local.parquet"]
    snakemake(tmp_path, *fetch)
    assert "Nothing to be done" in plan(tmp_path, *fetch)
    local.write_text('{"problem": "What is 1 + 2?", "answer": 3}')
    assert "fetch_problems" in plan(tmp_path, *fetch)
