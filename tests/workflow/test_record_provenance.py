"""The program writes one JSON document."""

from pathlib import Path

from tests.analysis.factory import run_script
from torl.files import read_json


def test_provenance_is_written_beside_the_results(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    out = tmp_path / "with space" / "provenance.json"
    assert run_script("record_provenance", "--config", config, "--out", out).returncode == 0
    assert read_json(out).keys() == {"recorded", "git", "config_sha256", "python", "packages", "machine"}
