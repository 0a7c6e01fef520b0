"""The whole chain once, small: real verl, Ray, sandbox, evaluation and report, run as a user runs them."""

from pathlib import Path
from typing import Any

import pytest

from tests.chain import TINY, overrides, snakemake
from torl.files import read_json, read_jsonl, read_table
from torl.training.run_dir import RunDir

pytestmark = pytest.mark.timeout(1700)

EXPERIMENTS = ("torl", "no_tool")
ALL = ("--config", overrides(TINY), "--", "all")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain") / "a folder with spaces"
    folder.mkdir()
    snakemake(folder, *ALL)
    return folder / "results" / "demo"


def run_dir(results: Path, experiment: str) -> RunDir:
    return RunDir.named_by(results / experiment / "done.json")


def trajectories(results: Path, experiment: str) -> list[dict[str, Any]]:
    files = sorted(run_dir(results, experiment).trajectories.glob("step_*.jsonl"))
    return [row for path in files for row in read_jsonl(path)]


def test_a_second_run_has_nothing_to_do(results: Path) -> None:
    again = snakemake(results.parent.parent, *ALL)
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_rollout_of_every_step_is_a_row(results: Path, experiment: str) -> None:
    rows = trajectories(results, experiment)
    keys = [(row["step"], row["problem_id"], row["sample_index"]) for row in rows]
    assert len(set(keys)) == len(keys)
    for step in range(4):
        at_step = [row for row in rows if row["step"] == step]
        assert len(at_step) == 16
        assert len({row["problem_id"] for row in at_step}) == 4
    assert all(row["reward"] == (1.0 if row["correct"] else -1.0) for row in rows)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_training_changed_the_policy_and_its_server_kept_up(results: Path, experiment: str) -> None:
    exports = [read_json(results / experiment / "model" / f"step_{step}" / "export.json") for step in (0, 4)]
    assert exports[0]["sha256"] != exports[1]["sha256"]
    assert exports[1]["sha256"] == read_json(results / experiment / "done.json")["final_weights_sha256"]
    steps = list(read_jsonl(run_dir(results, experiment).metrics))
    assert [row["step"] for row in steps] == [1, 2, 3, 4]
    assert all(row["data"]["training/rollout_probs_diff_max"] < 1e-4 for row in steps)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_trained_policy_declares_the_end_tokens_of_its_base(results: Path, experiment: str) -> None:
    folders = results / "base", *(results / experiment / "model" / f"step_{step}" for step in (0, 4))
    declared = [read_json(folder / "generation_config.json")["eos_token_id"] for folder in folders]
    assert declared[0] is not None
    assert declared == [declared[0]] * 3


def test_no_code_ran_without_the_tool_and_no_call_failed_for_the_sandbox_s_sake(results: Path) -> None:
    assert not any(row["calls"] for row in trajectories(results, "no_tool"))
    calls = [call for row in trajectories(results, "torl") for call in row["calls"]]
    assert all(call["outcome"] != "sandbox_failed" for call in calls)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_question_was_answered_by_every_evaluated_policy(results: Path, experiment: str) -> None:
    asked = {row["id"] for row in read_table(results / "raw" / "generated_test.parquet")}
    for step in (0, 4):
        rows = read_table(results / experiment / "evaluation" / f"step_{step}" / "generated_test.parquet")
        assert {row["problem_id"] for row in rows} == asked
        assert len(rows) == len(asked) == 20
        assert all(row["correct"] is not None for row in rows)


def test_no_evaluation_question_was_trained_on(results: Path) -> None:
    asked = {row["id"] for row in read_table(results / "raw" / "generated_test.parquet")}
    trained = {row["extra_info"]["id"] for row in read_table(results / "problems" / "all" / "train.parquet")}
    assert asked.isdisjoint(trained)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_table_s_accuracy_is_that_of_the_rows(results: Path, experiment: str) -> None:
    table = read_table(results / experiment / "metrics.parquet")
    for step in (0, 4):
        rows = read_table(results / experiment / "evaluation" / f"step_{step}" / "generated_test.parquet")
        found = [
            row["value"]
            for row in table
            if (row["step"], row["benchmark"], row["metric"]) == (step, "generated_test", "accuracy")
        ]
        assert found == [pytest.approx(sum(row["correct"] for row in rows) / len(rows))]


def test_the_funnel_accounts_for_every_problem(results: Path) -> None:
    funnel = read_json(results / "problems" / "funnel.json")
    assert funnel["rows"] == 60
    assert funnel["kept"] + sum(step["dropped"] for step in funnel["steps"]) == funnel["rows"]


def test_the_resolved_configuration_lies_beside_each_result(results: Path) -> None:
    for experiment in EXPERIMENTS:
        config = read_json(results / experiment / "config.json")
        assert config["train"]["steps"] == 4
        assert config["rollout"]["max_tool_calls"] == (1 if experiment == "torl" else 0)


def test_the_report_is_one_page_that_names_both_experiments(results: Path) -> None:
    page = (results / "report.html").read_text(encoding="utf-8")
    assert all(experiment in page for experiment in EXPERIMENTS)
    assert "src=" not in page.replace("src=data:", "")


def test_a_changed_setting_of_the_evaluation_trains_nothing_again(results: Path) -> None:
    plan = snakemake(
        results.parent.parent, "-n", "--config", overrides(TINY, {"evaluation": {"limit": 5}}), "--", "all"
    )
    text = plan.stdout + plan.stderr
    assert "evaluate_policy" in text
    assert "rule train_policy" not in text


def test_a_changed_setting_of_the_training_trains_again_beside_the_old_run(results: Path) -> None:
    plan = snakemake(
        results.parent.parent, "-n", "--config", overrides(TINY, {"train": {"learning_rate": 1e-5}}), "--", "all"
    )
    assert "rule train_policy" in plan.stdout + plan.stderr
