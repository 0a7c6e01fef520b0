from pathlib import Path

import pytest

from torl.errors import ConfigError
from torl.problems.sources import FilesSource, GeneratedSource, HubSource, read_sources, source_named

PROJECT = Path(__file__).resolve().parents[2]
FILE = "{path: a.jsonl, reader: plain}"


def sources(tmp_path: Path, entry: str) -> Path:
    """A sources file with the one entry ``a``."""
    path = tmp_path / "sources.yaml"
    path.write_text(f"sources:\n  a: {entry}\n")
    return path


def test_the_projects_own_sources_are_valid() -> None:
    read = read_sources(PROJECT / "config" / "sources.yaml")
    assert isinstance(read["numina_math_cot"], HubSource)
    assert isinstance(read["deepscaler_local"], FilesSource)
    assert isinstance(read["generated_train"], GeneratedSource)


def test_the_local_sources_exist(shared_data: Path) -> None:
    for source in read_sources(PROJECT / "config" / "sources.yaml").values():
        if isinstance(source, FilesSource):
            assert all((shared_data / file.path).is_file() for file in source.files)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (f"{{kind: files, licence: MIT, files: [{FILE}], revison: main}}", r"a\.files\.revison: is not a known key"),
        ("{kind: files, licence: MIT, files: [{path: a, reader: json}]}", r"reader: .*'numina_cot'.*got 'json'"),
        ("{kind: http, url: x}", r"kind.*'hub', 'files', 'generated'|'http'"),
        (f"{{kind: hub, licence: MIT, repo: a/b, files: [{FILE}]}}", r"revision: Field required"),
        (f"{{kind: hub, licence: MIT, repo: no-owner, revision: main, files: [{FILE}]}}", "repo"),
        ("{kind: files, licence: MIT, files: []}", "files"),
        ("{kind: files, licence: MIT, files: [{path: a, reader: plain, sha256: abc}]}", "sha256"),
        ("{kind: generated, split: train, licence: MIT, count: 0}", "count"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_sources(sources(tmp_path, entry))


def test_a_missing_or_broken_file_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        read_sources(tmp_path / "none.yaml")
    (tmp_path / "broken.yaml").write_text("sources: [")
    with pytest.raises(ConfigError, match="is not YAML"):
        read_sources(tmp_path / "broken.yaml")


def test_an_unknown_name_shows_the_nearest(tmp_path: Path) -> None:
    read = read_sources(PROJECT / "config" / "sources.yaml")
    with pytest.raises(ConfigError, match=r"'deepscalar' is not known; did you mean deepscaler"):
        source_named(read, "deepscalar")
