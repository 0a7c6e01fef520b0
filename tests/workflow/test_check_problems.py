"""Rule check_problems: a shard of all rows, checked one by one."""

import subprocess
import sys
from pathlib import Path

from tests.problems.factory import problem
from torl.files import read_table
from torl.problems.schema import write_problems

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "check_problems.py"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script on ``folder/a.parquet`` and ``folder/b.parquet`` against the benchmark ``folder/amc.parquet``."""
    write_problems(folder / "a.parquet", [problem(), problem("Is it?", "yes")])
    write_problems(folder / "b.parquet", [problem("What is " + "1 + " * 80 + "1?", "81", source="b")])
    write_problems(folder / "amc.parquet", [problem("What is it?", source="amc")])
    inputs = ["--problems", str(folder / "a.parquet"), str(folder / "b.parquet")]
    inputs += ["--benchmarks", str(folder / "amc.parquet"), "--out", str(folder / "checked.parquet")]
    return subprocess.run(
        [sys.executable, str(SCRIPT), *inputs, *arguments], capture_output=True, text=True, check=False
    )


def test_a_shard_of_all_files_is_checked_and_prompts_are_counted_by_the_tokenizer(
    tmp_path: Path, tiny_model: Path
) -> None:
    result = run(tmp_path, "--shard", "2-of-2", "--tokenizer", str(tiny_model), "--prompt", "tir_base_0309")
    assert result.stdout == "checked 1 rows, shard 2 of 2\n", result.stderr
    [row] = read_table(tmp_path / "checked.parquet")
    assert (row["source"], row["reason"]) == ("b", None)
    assert row["tokens"] > 300
    assert "check 2 of 2" in result.stderr


def test_without_a_tokenizer_prompts_are_not_counted(tmp_path: Path) -> None:
    assert run(tmp_path).stdout == "checked 3 rows, shard 1 of 1\n"
    rows = read_table(tmp_path / "checked.parquet")
    assert [(row["reason"], row["tokens"]) for row in rows] == [(None, None), ("yes_or_no", None), (None, None)]


def test_a_wrong_shard_is_one_line(tmp_path: Path) -> None:
    result = run(tmp_path, "--shard", "2/3")
    assert result.returncode == 1
    assert result.stderr == "ConfigError: --shard is '2/3'; write k-of-n, for example 1-of-4.\n"
