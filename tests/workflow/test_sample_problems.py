"""Rule sample_problems: pass rates of the base model over the pool."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import PROJECT
from tests.problems.factory import problem
from torl.config import load_settings, resolve
from torl.files import read_table, write_json
from torl.problems.schema import write_problems
from torl.selection import read_pass_rates

SCRIPT = PROJECT / "workflow" / "scripts" / "sample_problems.py"


def test_every_problem_of_the_pool_gets_its_passes_and_the_cost_is_said_first(tmp_path: Path, tiny_model: Path) -> None:
    overrides = {
        "rollout": {"max_tool_calls": 0, "max_response_tokens": 8, "max_prompt_tokens": 400},
        "sandbox": {"allow_unsafe": True},
    }
    config = resolve(load_settings({"overrides": overrides}, PROJECT / "config"), "torl", PROJECT / "config")
    write_json(tmp_path / "config.json", config.model_dump(mode="json"))
    pool = [problem("What is 6 times 7?", "42"), problem("What is 6 plus 7?", "13")]
    write_problems(tmp_path / "pool.parquet", pool)
    command = [sys.executable, str(SCRIPT), "--config", str(tmp_path / "config.json"), "--model", str(tiny_model)]
    command += ["--pool", str(tmp_path / "pool.parquet"), "--samples", "3", "--out", str(tmp_path / "rates.parquet")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    assert "2 problems x 3 samples = 6 responses, at most 48 tokens" in result.stderr
    rows = read_table(tmp_path / "rates.parquet")
    assert [(row["problem_id"], row["samples"]) for row in rows] == [(row.id, 3) for row in pool]
    assert set(read_pass_rates(tmp_path / "rates.parquet")) == {row.id for row in pool}
    assert not list(tmp_path.glob("*.partial.jsonl"))
