import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from tests.problems.hub import COMMIT, LINE, Hub
from torl.errors import ConfigError, DataError
from torl.problems.fetch import fetch
from torl.problems.schema import read_problems
from torl.problems.sources import FilesSource, GeneratedSource, HubSource, SourceFile


def source(
    path: str = "a.jsonl", *, repo: str = "me/set", revision: str = "main", sha256: str | None = None
) -> HubSource:
    file = SourceFile(path=path, reader="plain", sha256=sha256)
    return HubSource(kind="hub", repo=repo, revision=revision, licence="MIT", files=[file])


def get(tmp_path: Path, wanted: Any, **options: Any) -> dict[str, Any]:
    folders = {"data_dir": tmp_path, "cache_dir": tmp_path / "cache"}
    return fetch("made", wanted, out=tmp_path / "out.parquet", **folders, **options)


def test_a_hub_file_becomes_problems_and_the_manifest_has_its_commit(tmp_path: Path, hub: Hub) -> None:
    manifest = get(tmp_path, source())
    [problem] = read_problems(tmp_path / "out.parquet")
    assert (problem.text, problem.answer, problem.source) == ("What is 1 + 1?", "2", "made")
    assert (manifest["revision"], manifest["commit"], manifest["licence"]) == ("main", COMMIT, "MIT")
    assert manifest["files"][0]["sha256"] == hashlib.sha256(LINE).hexdigest()
    assert (manifest["rows"], manifest["accepted"], manifest["rejected"]) == (1, 1, {})


def test_a_cached_file_needs_no_network(tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    get(tmp_path, source())
    before = hub.gets
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert get(tmp_path, source())["commit"] == COMMIT
    assert hub.gets == before


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (source(repo="me/gated"), "access is gated.*HF_TOKEN"),
        (source(repo="me/none"), "does not exist, or is private"),
        (source(revision="v9"), "no such revision; it was moved"),
        (source("none.jsonl"), "no such file"),
        (source(sha256="0" * 64), "has sha256 .* but the sources file says 0000"),
    ],
)
def test_what_the_hub_refuses_is_a_data_error_with_the_cure(
    tmp_path: Path, hub: Hub, wanted: HubSource, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        get(tmp_path, wanted)
    assert not (tmp_path / "out.parquet").exists()


def test_a_broken_download_is_an_error_and_the_next_try_succeeds(tmp_path: Path, hub: Hub) -> None:
    hub.broken.add("data/long.jsonl")
    with pytest.raises(DataError, match=r"the download broke off.*Run again"):
        get(tmp_path, source("data/long.jsonl"))
    assert not (tmp_path / "out.parquet").exists()
    hub.broken.clear()
    assert get(tmp_path, source("data/long.jsonl"))["accepted"] == 5_000


def test_offline_without_a_cached_file_says_what_to_do(
    tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"not in the cache.*HF_HUB_OFFLINE"):
        get(tmp_path, source())


def test_endpoint_and_token_of_the_environment_are_used(tmp_path: Path, hub: Hub) -> None:
    sources = tmp_path / "sources.yaml"
    sources.write_text(
        "sources:\n  made: "
        "{kind: hub, repo: me/set, revision: main, licence: MIT, files: [{path: a.jsonl, reader: plain}]}\n"
    )
    script = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "fetch_problems.py"
    paths = {"--sources": sources, "--out": tmp_path / "o.parquet", "--manifest": tmp_path / "o.json"}
    arguments = [str(part) for pair in paths.items() for part in pair]
    environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_made_up", "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, str(script), "--name", "made", "--cache-dir", str(tmp_path / "cache"), *arguments]
    subprocess.run(command, env=environment, check=True)
    assert hub.tokens == {"Bearer hf_made_up"}
    assert len(read_problems(tmp_path / "o.parquet")) == 1


def test_local_files_are_read_in_order_and_rejected_rows_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINE + b"{broken\n")
    (tmp_path / "b.csv").write_text("problem,answer\nWhat is 2 + 2?,4\n")
    files = [SourceFile(path="a.jsonl", reader="plain"), SourceFile(path="b.csv", reader="csv")]
    manifest = get(tmp_path, FilesSource(kind="files", licence="own", files=files))
    assert [row.origin for row in read_problems(tmp_path / "out.parquet")] == ["a.jsonl:0", "b.csv:0"]
    assert (manifest["rows"], manifest["accepted"], manifest["rejected"]) == (3, 2, {"not_json": 1})


def test_missing_local_files_are_all_named(tmp_path: Path) -> None:
    files = [SourceFile(path=name, reader="plain") for name in ("a.jsonl", "b.jsonl")]
    with pytest.raises(DataError, match=r"a\.jsonl, .*b\.jsonl not found; copy"):
        get(tmp_path, FilesSource(kind="files", licence="own", files=files))


def test_generated_problems_carry_the_name_of_their_source(tmp_path: Path) -> None:
    manifest = get(tmp_path, GeneratedSource(kind="generated", split="train", licence="own", count=9), seed=3, count=5)
    problems = read_problems(tmp_path / "out.parquet")
    assert (manifest["accepted"], len(problems)) == (5, 5)
    assert {problem.source for problem in problems} == {"made"}


def test_a_count_for_a_source_that_is_not_generated_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="count is 5, but made is a hub source"):
        get(tmp_path, source(), count=5)
