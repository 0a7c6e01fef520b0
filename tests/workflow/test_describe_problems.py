"""Rule describe_problems: the card and the figure of the pool."""

import hashlib
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.problems.factory import problem, run_filter
from torl.files import write_json

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "describe_problems.py"
HASH = "5" * 64


def manifest(name: str, **fields: object) -> dict[str, object]:
    """A manifest as fetch_problems writes it."""
    files = [{"path": "a.json", "sha256": HASH, "rows": 3, "rejected": {}}]
    row = {"name": name, "kind": "files", "licence": "MIT", "rows": 4, "accepted": 3, "rejected": {"not_json": 1}}
    return row | {"files": files} | fields


def test_the_card_has_counts_licences_and_hashes_and_the_figure_is_drawn(tmp_path: Path) -> None:
    benchmark = problem("What is it?", source="amc")
    run_filter(tmp_path, [problem(), problem("Is it?", "yes"), problem("What is it?", "3")], [benchmark])
    hub = {"kind": "hub", "repo": "me/set", "commit": "c0ffee", "licence": "Apache-2.0"}
    write_json(tmp_path / "made.json", manifest("made"))
    write_json(tmp_path / "amc.json", manifest("amc", **hub))
    command = [sys.executable, str(SCRIPT), "--funnel", str(tmp_path / "funnel.json")]
    command += ["--files", str(tmp_path / "pool.parquet"), "--manifests"]
    command += [str(tmp_path / "made.json"), str(tmp_path / "amc.json")]
    command += ["--out-card", str(tmp_path / "card.md"), "--out-funnel", str(tmp_path / "funnel.svg")]
    subprocess.run(command, check=True)
    card = (tmp_path / "card.md").read_text()
    assert "1 problems of 3 rows." in card
    assert "| made | local files | MIT | 4 | 1 | 1 |" in card
    assert "| amc | me/set at c0ffee | Apache-2.0 | 3 | 1 exact |" in card
    assert f"| made | a.json | {HASH} |" in card
    assert "| yes_or_no | 1 | 2 |" in card
    assert hashlib.sha256((tmp_path / "pool.parquet").read_bytes()).hexdigest() in card
    assert ElementTree.fromstring((tmp_path / "funnel.svg").read_text()).tag.endswith("svg")
