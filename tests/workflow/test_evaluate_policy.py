"""Rule evaluate_policy: every question of a benchmark has its rows, asked or not, and nothing else is left behind."""

import shutil
from pathlib import Path

import pytest

from tests.analysis.factory import run_script
from tests.problems.factory import problem
from tests.rollout.script import configured
from torl.files import read_table, write_json
from torl.problems.schema import write_problems

ASKED, LONG = problem("What is 1 + 1?", "2"), problem("What is " + "1 + " * 200 + "1?", "201")


@pytest.fixture
def folder(tmp_path: Path, tiny_model: Path) -> Path:
    shutil.copytree(tiny_model, tmp_path / "model")
    write_json(tmp_path / "model" / "export.json", {"step": 4, "sha256": {}})
    limits = {"max_response_tokens": 6, "max_tool_calls": 0}
    config = configured(evaluation={"max_prompt_tokens": 600}, rollout=limits)
    write_json(tmp_path / "config.json", config.model_dump(mode="json"))
    return tmp_path


def test_a_question_that_is_too_long_is_a_wrong_row_and_a_line_of_the_log_with_the_cure(folder: Path) -> None:
    write_problems(folder / "problems.parquet", [ASKED, LONG])
    out = folder / "out" / "aime.parquet"
    files = ["--config", folder / "config.json", "--export", folder / "model" / "export.json"]
    files += ["--problems", folder / "problems.parquet", "--out", out]
    done = run_script("evaluate_policy", "--benchmark", "aime", *files)
    assert done.returncode == 0, done.stderr
    asked, long = read_table(out)
    assert (asked["step"], asked["benchmark"], asked["response_tokens"] > 0) == (4, "aime", True)
    assert (long["problem_id"], long["stop_reason"], long["correct"]) == (LONG.id, "prompt_too_long", False)
    assert "aime: the prompts of 1 of 2 questions are over the budget" in done.stderr
    assert "Raise evaluation.max_prompt_tokens" in done.stderr
    assert list(out.parent.iterdir()) == [out]


def test_a_benchmark_without_questions_is_named_with_the_cure(folder: Path) -> None:
    write_problems(folder / "problems.parquet", [])
    files = ["--config", folder / "config.json", "--export", folder / "model" / "export.json"]
    files += ["--problems", folder / "problems.parquet", "--out", folder / "out.parquet"]
    done = run_script("evaluate_policy", "--benchmark", "aime", *files)
    assert done.returncode == 1
    assert "holds no questions; fetch the benchmark 'aime' again" in done.stderr
    assert not (folder / "out.parquet").exists()
