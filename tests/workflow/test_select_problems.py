"""Rule select_problems: each way of selecting keeps what it promises, and says what it lacks."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.problems.factory import problem
from torl.files import read_json, read_table, write_json, write_table
from torl.problems.schema import problem_id, write_problems

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "select_problems.py"
TEXTS = [f"What is {n} + {n}?" for n in range(10)]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a pool of ten problems, whose scores are 0.0 to 0.9."""
    write_problems(folder / "pool.parquet", [problem(text, str(2 * n)) for n, text in enumerate(TEXTS)])
    rates = [{"problem_id": problem_id(text), "passes": n, "samples": 9} for n, text in enumerate(TEXTS)]
    write_table(folder / "rates.parquet", rates)
    write_json(folder / "scores.json", [{"prompt": text, "score": n / 10} for n, text in enumerate(TEXTS)])
    paths = {"--pool": "pool.parquet", "--out": "train.parquet", "--out-selection": "selection.json"}
    pairs = [part for name, file in paths.items() for part in (name, str(folder / file))]
    command = [sys.executable, str(SCRIPT), *pairs, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def answers(folder: Path) -> list[str]:
    return [row["reward_model"]["ground_truth"] for row in read_table(folder / "train.parquet")]


@pytest.mark.parametrize("cut", [("--minimum", "0.7"), ("--count", "3")])
def test_lim_keeps_the_highest_scores(tmp_path: Path, cut: tuple[str, str]) -> None:
    result = run(tmp_path, "--method", "lim", "--scores", str(tmp_path / "scores.json"), *cut)
    assert result.stdout == "selected 3 of 10 problems, wrote 3\n", result.stderr
    assert answers(tmp_path) == ["14", "16", "18"]
    assert read_json(tmp_path / "selection.json")["selected"] == 3


def test_pass_rate_keeps_the_band(tmp_path: Path) -> None:
    band = ("--band", "0.3", "0.7")
    result = run(tmp_path, "--method", "pass_rate", "--scores", str(tmp_path / "rates.parquet"), *band)
    assert result.stdout == "selected 4 of 10 problems, wrote 4\n", result.stderr
    assert answers(tmp_path) == ["6", "8", "10", "12"]
    assert read_json(tmp_path / "selection.json")["band"] == "0.3 to 0.7"


def test_the_problems_of_the_benchmarks_become_the_test_file(tmp_path: Path) -> None:
    write_problems(tmp_path / "amc.parquet", [problem(source="amc")])
    test = ("--benchmarks", str(tmp_path / "amc.parquet"), "--out-test", str(tmp_path / "test.parquet"))
    assert run(tmp_path, "--method", "all", *test).returncode == 0
    [row] = read_table(tmp_path / "test.parquet")
    assert (row["data_source"], row["extra_info"]["split"]) == ("amc", "test")


def test_random_draws_by_seed_and_all_keeps_the_pool(tmp_path: Path) -> None:
    drawn = []
    for seed in ("1", "1", "2"):
        assert run(tmp_path, "--method", "random", "--count", "4", "--seed", seed).returncode == 0
        drawn.append(answers(tmp_path))
    assert len(drawn[0]) == 4
    assert drawn[0] == drawn[1] != drawn[2]
    assert run(tmp_path, "--method", "all").returncode == 0
    assert len(answers(tmp_path)) == 10


def test_the_limit_caps_what_is_written_not_what_is_selected(tmp_path: Path) -> None:
    assert run(tmp_path, "--method", "all", "--limit", "2").returncode == 0
    summary = read_json(tmp_path / "selection.json")
    assert (summary["pool"], summary["selected"], summary["written"]) == (10, 10, 2)
    assert len(answers(tmp_path)) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "lim", "--minimum", "0.6"), "run the probe experiment"),
        (("--method", "pass_rate"), "method pass_rate needs the pass rates of the pool: sample"),
        (("--method", "random"), "method random needs --count"),
        (("--method", "lim", "--minimum", "0.6", "--scores", "none.json"), "none.json does not exist; run the probe"),
    ],
)
def test_what_is_missing_is_said_with_the_cure(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(tmp_path, *arguments)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (tmp_path / "train.parquet").exists()
