"""What the README shows is what the workflow is."""

import re
import shlex
from pathlib import Path

import pytest

from tests.chain import snakemake
from tests.conftest import PROJECT
from torl.config import scale_names

README = (PROJECT / "README.md").read_text(encoding="utf-8")
NODE = re.compile(r"^\s*(id\d+)\[(\w+)\]$", re.MULTILINE)
EDGE = re.compile(r"^\s*(id\d+) --> (id\d+)$", re.MULTILINE)


def edges(graph: str) -> set[tuple[str, str]]:
    names = dict(NODE.findall(graph))
    return {(names[source], names[target]) for source, target in EDGE.findall(graph)}


def test_the_picture_is_the_rule_graph(tmp_path: Path) -> None:
    drawn = snakemake(tmp_path, "--rulegraph", "mermaid-js").stdout
    shown = re.search(r"```mermaid\n(.*?)```", README, re.DOTALL)
    assert shown
    assert edges(shown[1]) == edges(drawn) != set()


def test_every_scale_is_listed() -> None:
    assert all(f"| `{scale}` |" in README for scale in scale_names(PROJECT / "config"))


COMMANDS = [line.partition("#")[0].strip() for line in README.splitlines() if line.startswith("snakemake ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_snakemake_command_is_a_plan(tmp_path: Path, command: str) -> None:
    plan = snakemake(tmp_path, "--dry-run", *shlex.split(command)[1:])
    assert "rule train_policy" in plan.stdout + plan.stderr


def test_the_slurm_profile_s_scale_stays_when_something_else_is_configured(tmp_path: Path) -> None:
    overrides = "overrides={data: {selection: random}}"
    plan = snakemake(tmp_path, "--dry-run", "--profile", "slurm", "all", "--config", overrides)
    assert "results/torl-1.5b/problems/random/train.parquet" in plan.stdout + plan.stderr


def test_nothing_is_left_to_fill_in() -> None:
    texts = [README, *(path.read_text(encoding="utf-8") for path in (PROJECT / "docs").glob("*.md"))]
    assert [line for text in texts for line in text.splitlines() if re.fullmatch(r"[A-Z]{4,}", line.strip())] == []


def test_every_path_that_is_named_exists() -> None:
    paths = re.findall(r"`((?:workflow|src|config|envs|tests|slurm)/[\w./-]*)`", README)
    paths += re.findall(r"\]\(((?!http)[^)]+)\)", README)
    missing = [path for path in paths if not (PROJECT / path).exists()]
    assert paths
    assert missing == []
