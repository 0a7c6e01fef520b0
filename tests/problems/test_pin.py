import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from tests.conftest import PROJECT
from tests.problems.hub import COMMIT, LINE, LONG, Hub
from torl.errors import ConfigError, DataError
from torl.problems.fetch import fetch
from torl.problems.pin import Pin, pin_file, pinned_text
from torl.problems.schema import read_problems
from torl.problems.sources import read_sources

SOURCES = """\
# Where problems come from.
sources:
  both:   # two files
    kind: hub
    repo: me/set
    revision: main  # moves
    licence: MIT
    files:
      - {path: a.jsonl, reader: plain}   # small
      - path: data/long.jsonl
        reader: plain
  mine:
    kind: files
    licence: own
    files: [{path: b.jsonl, reader: plain}]
"""
PINNED = f"""\
# Where problems come from.
sources:
  both:   # two files
    kind: hub
    repo: me/set
    revision: {COMMIT}  # moves
    licence: MIT
    files:
      - {{path: a.jsonl, reader: plain, sha256: {hashlib.sha256(LINE).hexdigest()}}}   # small
      - path: data/long.jsonl
        reader: plain
        sha256: {hashlib.sha256(LONG).hexdigest()}
  mine:
    kind: files
    licence: own
    files: [{{path: b.jsonl, reader: plain}}]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "sources.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_commit_and_hashes_are_written_and_all_else_stays(tmp_path: Path, hub: Hub) -> None:
    path = written(tmp_path, SOURCES)
    pin_file(path, cache_dir=tmp_path / "cache")
    assert path.read_text(encoding="utf-8") == PINNED
    assert hub.gets == 2
    source = read_sources(path)["both"]
    manifest = fetch("both", source, out=tmp_path / "o.parquet", data_dir=tmp_path, cache_dir=tmp_path / "cache")
    assert manifest["commit"] == COMMIT
    assert len(read_problems(tmp_path / "o.parquet")) == 5_001


def test_a_hash_that_the_hub_keeps_costs_no_download(tmp_path: Path, hub: Hub) -> None:
    hub.large |= {"a.jsonl", "data/long.jsonl"}
    path = written(tmp_path, SOURCES)
    pin_file(path, cache_dir=tmp_path / "cache")
    assert path.read_text(encoding="utf-8") == PINNED
    assert hub.gets == 0


def test_a_pinned_file_stays_as_it_is(tmp_path: Path, hub: Hub) -> None:
    path = written(tmp_path, PINNED)
    pin_file(path, ["both"], cache_dir=tmp_path / "cache")
    assert path.read_text(encoding="utf-8") == PINNED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("me/set", "me/none", "both: me/none at revision main: does not exist, or is private"),
        ("me/set", "me/gated", "access is gated.*HF_TOKEN"),
        ("revision: main", "revision: v9", "no such revision"),
        ("path: a.jsonl", "path: c.jsonl", "has no file c.jsonl at revision main"),
        ("reader: plain}", f"reader: plain, sha256: {'0f' * 32}}}", "has sha256 .*, but the sources file says 0f0f"),
    ],
)
def test_what_the_hub_refuses_is_an_error_and_nothing_is_written(
    tmp_path: Path, hub: Hub, old: str, new: str, message: str
) -> None:
    text = SOURCES.replace(old, new, 1)
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=message):
        pin_file(path, cache_dir=tmp_path / "cache")
    assert path.read_text(encoding="utf-8") == text


def test_a_hub_that_cannot_be_reached_is_said_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"both: me/set at revision main: the hub cannot be reached.*HF_ENDPOINT"):
        pin_file(written(tmp_path, SOURCES))


def test_offline_mode_is_said_with_the_cure(tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match="HF_HUB_OFFLINE unset"):
        pin_file(written(tmp_path, SOURCES))


def test_only_hub_sources_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, SOURCES)
    with pytest.raises(ConfigError, match="mine cannot be pinned"):
        pin_file(path, ["mine"])
    with pytest.raises(ConfigError, match="did you mean both"):
        pin_file(path, ["bot"])


def test_a_layout_that_cannot_be_edited_is_refused_with_the_pins(tmp_path: Path, hub: Hub) -> None:
    shared = SOURCES.replace("  both:", "  both: &one").replace("  mine:", "  other:\n    <<: *one\n  mine:")
    path = written(tmp_path, shared)
    with pytest.raises(ConfigError, match=f"write these by hand: .*{COMMIT}"):
        pin_file(path, cache_dir=tmp_path / "cache")
    assert path.read_text(encoding="utf-8") == shared


def test_a_commit_of_digits_alone_stays_text() -> None:
    text = pinned_text(SOURCES, {"both": Pin("1" * 40, ("2" * 64, "3" * 64))})
    assert f'revision: "{"1" * 40}"' in text


def test_the_project_s_own_sources_can_be_pinned() -> None:
    path = PROJECT / "config" / "sources.yaml"
    sources = {name: source for name, source in read_sources(path).items() if source.kind == "hub"}
    pins = {name: Pin("c" * 40, ("d" * 64,) * len(source.files)) for name, source in sources.items()}
    text = pinned_text(path.read_text(encoding="utf-8"), pins)
    files = sum(len(source.files) for source in sources.values())
    assert (text.count("c" * 40), text.count("d" * 64)) == (len(sources), files)


def test_the_command_line_respects_endpoint_and_token_of_the_environment(tmp_path: Path, hub: Hub) -> None:
    path = written(tmp_path, SOURCES)
    command = [sys.executable, "-m", "torl.problems", "pin", "both", "--sources", str(path)]
    command += ["--cache-dir", str(tmp_path / "cache")]
    environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_made_up", "HF_HUB_OFFLINE": "0"}
    environment |= {"PYTHONPATH": str(PROJECT / "src")}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout == f"both: commit {COMMIT}, 2 file(s)\nwrote {path}\n"
    assert path.read_text(encoding="utf-8") == PINNED
    assert hub.tokens == {"Bearer hf_made_up"}
