"""Rule filter_problems: the pool, the dropped rows and the funnel of checked shards."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.problems.factory import FakeGrader, problem
from torl.files import read_json, read_table
from torl.problems.check import Checker, write_checked
from torl.problems.schema import Problem, read_problems

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "filter_problems.py"
FIRST = [problem(), problem("Is it?", "yes"), problem("Find $x$ in $x^2 = x$.", "x = 1")]
SECOND = [problem(source="b"), problem("What is " + "1 + " * 80 + "1?", "81", source="b")]


def run(folder: Path, shards: Sequence[Sequence[Problem]], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script on checked ``shards``, whose prompts are as long as their texts."""
    files = [str(folder / f"{number}.parquet") for number in range(len(shards))]
    for file, rows in zip(files, shards, strict=True):
        checker = Checker([problem(source="amc")], FakeGrader(), lambda texts: [len(text) for text in texts])
        write_checked(file, checker.check(rows))
    outputs = []
    for name in ("pool.parquet", "dropped.parquet", "overlap.parquet", "funnel.json"):
        outputs += [f"--out-{name.split('.')[0]}", str(folder / name)]
    command = [sys.executable, str(SCRIPT), "--checked", *files, *outputs, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_pool_the_dropped_rows_and_the_funnel_add_up(tmp_path: Path) -> None:
    result = run(tmp_path, [FIRST, SECOND], "--max-prompt-tokens", "300")
    assert result.returncode == 0, result.stderr
    assert [row.answer for row in read_problems(tmp_path / "pool.parquet")] == ["x = 1"]
    reasons = [row["reason"] for row in read_table(tmp_path / "dropped.parquet")]
    assert reasons == ["benchmark_overlap", "yes_or_no", "duplicate", "too_long"]
    assert [row["kind"] for row in read_table(tmp_path / "overlap.parquet")] == ["exact"]
    assert read_json(tmp_path / "funnel.json")["kept_by_source"] == {"made": 1}
    assert "duplicate" in result.stdout


def test_overlap_may_be_kept(tmp_path: Path) -> None:
    assert run(tmp_path, [FIRST], "--keep-overlap").returncode == 0
    assert len(read_problems(tmp_path / "pool.parquet")) == 2
    assert len(read_table(tmp_path / "overlap.parquet")) == 1


def test_nothing_left_shows_the_funnel_and_writes_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, [[problem("Is it?", "yes")]])
    assert result.returncode == 1
    assert "no problem is left after the filter" in result.stderr
    assert not (tmp_path / "pool.parquet").exists()
