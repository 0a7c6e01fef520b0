"""Rule sample_problems: pass rates of the base model over the pool."""

import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import PROJECT
from tests.problems.factory import problem
from torl.config import load_settings, resolve
from torl.files import read_jsonl, read_table, write_json, write_jsonl
from torl.problems.schema import Problem, write_problems
from torl.selection import read_pass_rates

SCRIPT = PROJECT / "workflow" / "scripts" / "sample_problems.py"


def command(folder: Path, model: Path, pool: list[Problem]) -> list[str]:
    """The program on ``pool``, 3 responses of 8 tokens to each problem."""
    overrides = {
        "rollout": {"max_tool_calls": 0, "max_response_tokens": 8, "max_prompt_tokens": 400},
        "sandbox": {"allow_unsafe": True},
    }
    config = resolve(load_settings({"overrides": overrides}, PROJECT / "config"), "torl", PROJECT / "config")
    write_json(folder / "config.json", config.model_dump(mode="json"))
    write_problems(folder / "pool.parquet", pool)
    paths = {"--config": folder / "config.json", "--model": model, "--pool": folder / "pool.parquet"}
    arguments = [str(part) for pair in paths.items() for part in pair]
    arguments += ["--samples", "3", "--out", str(folder / "rates.parquet")]
    return [sys.executable, str(SCRIPT), *arguments, "--out-responses", str(folder / "responses.parquet")]


def test_every_problem_of_the_pool_gets_its_passes_and_the_cost_is_said_first(tmp_path: Path, tiny_model: Path) -> None:
    pool = [problem("What is 6 times 7?", "42"), problem("What is 6 plus 7?", "13")]
    result = subprocess.run(command(tmp_path, tiny_model, pool), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    assert "2 problems x 3 samples = 6 responses, at most 48 tokens" in result.stderr
    rows = read_table(tmp_path / "rates.parquet")
    assert [(row["problem_id"], row["samples"]) for row in rows] == [(row.id, 3) for row in pool]
    assert set(read_pass_rates(tmp_path / "rates.parquet")) == {row.id for row in pool}
    responses = read_table(tmp_path / "responses.parquet")
    assert {(row["problem_id"], row["sample_index"]) for row in responses} == {
        (row.id, i) for row in pool for i in range(3)
    }
    assert read_pass_rates(tmp_path / "responses.parquet") == read_pass_rates(tmp_path / "rates.parquet")
    assert not list(tmp_path.glob("*.partial.jsonl"))


def test_a_killed_run_left_no_rates_and_the_next_goes_on_where_it_stopped(tmp_path: Path, tiny_model: Path) -> None:
    pool = [problem(f"What is {n} plus 7?", str(n + 7)) for n in range(100)]
    partial = tmp_path / "responses.partial.jsonl"
    with subprocess.Popen(command(tmp_path, tiny_model, pool), stderr=subprocess.PIPE) as process:
        while process.poll() is None and (not partial.exists() or partial.read_bytes().count(b"\n") < 3):
            time.sleep(0.01)
        process.kill()
    assert not list(tmp_path.glob("r*.parquet"))
    fingerprint, *done = read_jsonl(partial, may_be_cut=True)
    assert 1 < len(done) < 300
    assert not any(row["correct"] for row in done)  # the model is random, so what is right below was not asked again
    write_jsonl(partial, [fingerprint, *(row | {"correct": True} for row in done)])
    again = subprocess.run(command(tmp_path, tiny_model, pool), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr[-3000:]
    rows = read_table(tmp_path / "rates.parquet")
    assert [(row["problem_id"], row["samples"]) for row in rows] == [(row.id, 3) for row in pool]
    assert sum(row["passes"] for row in rows) == len(done)
