import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import PROJECT
from torl.files import read_json, read_table
from torl.problems.__main__ import main


def test_filter_prints_the_funnel_and_writes_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"problem": "What is 1 + 1?", "answer": "2"}, {"problem": "Is it 2?", "answer": "yes"}, {"problem": 3}]
    (tmp_path / "my rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert main(["filter", str(tmp_path / "my rows.jsonl"), "--reader", "plain", "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr()
    assert "yes_or_no" in output.out
    assert '"wrong_type": 1' in output.err
    assert read_json(tmp_path / "out/funnel.json")["kept"] == 1
    assert len(read_table(tmp_path / "out/pool.parquet")) == 1
    assert read_table(tmp_path / "out/overlap.parquet") == []


def test_an_error_is_one_line_and_a_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["filter", str(tmp_path / "none.parquet"), "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: ")


HANGS = "\\binom{99999999}{4999999}"


def test_several_processes_give_the_pool_that_one_gives(tmp_path: Path) -> None:
    rows = [{"problem": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(9)]
    (tmp_path / "r.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    for workers in ("1", "3"):
        command = ["filter", str(tmp_path / "r.jsonl"), "--reader", "plain", "--workers", workers]
        assert main([*command, "--out", str(tmp_path / workers)]) == 0
    assert read_table(tmp_path / "1" / "pool.parquet") == read_table(tmp_path / "3" / "pool.parquet")


def test_processes_end_with_a_killed_owner(tmp_path: Path) -> None:
    rows = [{"problem": f"What is {n} choose that?", "answer": f"{n} + {HANGS}"} for n in range(40)]
    (tmp_path / "r.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    command = [sys.executable, "-m", "torl.problems", "filter", str(tmp_path / "r.jsonl"), "--reader", "plain"]
    command += ["--workers", "2", "--out", str(tmp_path / "out")]
    source = os.environ | {"PYTHONPATH": str(PROJECT / "src")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=source) as owner:
        started = owner.stderr.read(5)  # a worker is at its shard
        children = psutil.Process(owner.pid).children(recursive=True)
        workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
        owner.kill()
    assert b"che" in started
    assert workers
    assert psutil.wait_procs(workers, timeout=20)[1] == []
