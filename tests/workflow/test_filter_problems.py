import subprocess
import sys
from pathlib import Path

from tests.problems.factory import problem
from torl.files import read_json, read_table
from torl.problems.schema import read_problems, write_problems

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "filter_problems.py"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script on ``folder/a.parquet`` and ``folder/b.parquet`` against the benchmark ``folder/amc.parquet``."""
    problems = [str(folder / "a.parquet"), str(folder / "b.parquet")]
    outputs = []
    for name in ("pool.parquet", "dropped.parquet", "funnel.json"):
        outputs += [f"--out-{name.split('.')[0]}", str(folder / name)]
    inputs = ["--problems", *problems, "--benchmarks", str(folder / "amc.parquet")]
    command = [sys.executable, str(SCRIPT), *inputs, *outputs, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write_inputs(folder: Path) -> None:
    first = [problem(), problem("Is it?", "yes"), problem("Find $x$ in $x^2 = x$.", "x = 1")]
    second = [problem(source="b"), problem("What is " + "1 + " * 80 + "1?", "81", source="b")]
    write_problems(folder / "a.parquet", first)
    write_problems(folder / "b.parquet", second)
    write_problems(folder / "amc.parquet", [problem("What is it?", source="amc")])


def test_the_pool_the_dropped_rows_and_the_funnel_add_up(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    result = run(tmp_path)
    assert result.returncode == 0, result.stderr
    assert len(read_problems(tmp_path / "pool.parquet")) == 3
    assert [row["reason"] for row in read_table(tmp_path / "dropped.parquet")] == ["yes_or_no", "duplicate"]
    assert read_json(tmp_path / "funnel.json")["kept_by_source"] == {"made": 2, "b": 1}
    assert "duplicate" in result.stdout
    assert "filter: rules" in result.stderr


def test_the_tokenizer_and_the_budget_drop_long_problems(tmp_path: Path, tiny_model: Path) -> None:
    write_inputs(tmp_path)
    budget = ["--tokenizer", str(tiny_model), "--max-prompt-tokens", "300", "--prompt", "tir_base_0309"]
    result = run(tmp_path, *budget)
    assert result.returncode == 0, result.stderr
    assert [row["reason"] for row in read_table(tmp_path / "dropped.parquet")] == ["yes_or_no", "duplicate", "too_long"]


def test_nothing_left_shows_the_funnel_and_writes_nothing(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    for name in ("a", "b"):
        write_problems(tmp_path / f"{name}.parquet", [problem("Is it?", "yes")])
    result = run(tmp_path)
    assert result.returncode == 1
    assert "no problem is left after the filter" in result.stderr
    assert not (tmp_path / "pool.parquet").exists()
