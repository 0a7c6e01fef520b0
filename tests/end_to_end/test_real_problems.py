"""`make real` on a sample: real problems, published scores and benchmarks through every part, down to the report."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.chain import TINY, overrides, snakemake
from torl.files import read_json, read_table

pytestmark = pytest.mark.timeout(1700)

SAMPLE = 1500  # rows of each parquet file
BENCHMARKS = ("aime24_local", "aime25_local", "amc23_local", "math500_local", "olympiadbench_local")


@pytest.fixture(scope="module")
def sample(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of real files with the parquet files cut short."""
    folder = tmp_path_factory.mktemp("sample of real files")
    for path in shared_data.rglob("*"):
        target = folder / path.relative_to(shared_data)
        if path.suffix == ".parquet":
            target.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pq.read_table(path).slice(0, SAMPLE), target)
        elif path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return folder


@pytest.fixture(scope="module")
def results(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    small = overrides(
        {"model": TINY["model"]},
        {"train": {"steps": 2, "prompts_per_step": 4, "responses_per_prompt": 2, "save_every": 2}},
        {"evaluation": {"every": 2, "limit": 5}},
    )
    snakemake(folder, "--config", "scale=real", f"data_dir={sample}", small, "--", "torl")
    return folder / "results" / "real"


def test_every_row_is_kept_or_dropped_for_one_reason(results: Path) -> None:
    funnel = read_json(results / "problems" / "funnel.json")
    assert funnel["rows"] > 5 * SAMPLE
    assert funnel["kept"] + sum(step["dropped"] for step in funnel["steps"]) == funnel["rows"]
    assert {step["reason"] for step in funnel["steps"] if step["dropped"]} >= {"proof", "duplicate"}


def test_the_published_scores_select_what_is_trained_on(results: Path) -> None:
    selection = read_json(results / "problems" / "lim" / "selection.json")
    assert (selection["method"], selection["minimum"]) == ("lim", 0.6)
    rows = read_table(results / "problems" / "lim" / "train.parquet")
    assert len(rows) == selection["written"] > 50
    assert "math_local" in {row["data_source"] for row in rows}


def test_every_benchmark_is_asked_real_questions(results: Path) -> None:
    for benchmark in BENCHMARKS:
        rows = read_table(results / "torl" / "evaluation" / "step_2" / f"{benchmark}.parquet")
        assert len(rows) == 5
        assert all(row["correct"] is not None for row in rows)
        assert all(len(row["question"]) > 40 for row in rows)


def test_the_report_names_every_benchmark(results: Path) -> None:
    page = (results / "report_torl.html").read_text(encoding="utf-8")
    assert all(benchmark.removesuffix("_local") in page for benchmark in BENCHMARKS)
