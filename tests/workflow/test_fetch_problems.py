"""Rule fetch_problems: a source becomes problems and a manifest, or one line that says what is missing."""

import subprocess
import sys
from pathlib import Path

from torl.files import read_json
from torl.problems.schema import read_problems

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "fetch_problems.py"


def run(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script on ``folder/sources.yaml`` and the data in ``folder``."""
    paths = ["--sources", str(folder / "sources.yaml"), "--data-dir", str(folder), "--cache-dir", str(folder / "cache")]
    outputs = ["--out", str(folder / f"{name}.parquet"), "--manifest", str(folder / f"{name}.json")]
    command = [sys.executable, str(SCRIPT), "--name", name, *paths, *outputs, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write_sources(folder: Path) -> None:
    (folder / "rows.csv").write_text("problem,answer\nWhat is 1 + 1?,2\n,3\n")
    (folder / "sources.yaml").write_text(
        "sources:\n"
        "  mine: {kind: files, licence: own, files: [{path: rows.csv, reader: csv}]}\n"
        "  gone: {kind: files, licence: own, files: [{path: gone.csv, reader: csv}]}\n"
        "  made: {kind: generated, split: train, licence: own, count: 9}\n"
    )


def test_a_local_source_becomes_problems_and_a_manifest(tmp_path: Path) -> None:
    write_sources(tmp_path)
    result = run(tmp_path, "mine", "--seed", "1")
    assert result.stdout == "mine: 1 problems, 1 rows not usable\n", result.stderr
    assert [row.answer for row in read_problems(tmp_path / "mine.parquet")] == ["2"]
    assert read_json(tmp_path / "mine.json")["rejected"] == {"empty_text": 1}


def test_a_benchmark_with_a_row_that_is_not_usable_is_an_error_and_leaves_nothing_behind(tmp_path: Path) -> None:
    write_sources(tmp_path)
    result = run(tmp_path, "mine", "--whole")
    assert result.returncode == 1
    assert result.stderr.startswith(
        "DataError: rows.csv: 1 of 2 rows of mine are not usable (empty_text 1), and a benchmark"
    )
    assert not list(tmp_path.glob("mine*"))


def test_a_generated_source_depends_on_its_seed_and_count(tmp_path: Path) -> None:
    write_sources(tmp_path)
    texts = []
    for seed in ("1", "1", "2"):
        assert run(tmp_path, "made", "--seed", seed, "--count", "6").returncode == 0
        texts.append([row.text for row in read_problems(tmp_path / "made.parquet")])
    assert len(texts[0]) == 6
    assert texts[0] == texts[1] != texts[2]


def test_a_missing_file_is_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    write_sources(tmp_path)
    result = run(tmp_path, "gone")
    assert result.returncode == 1
    assert result.stderr.startswith("DataError: ")
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*gone*"))
