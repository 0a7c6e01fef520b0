"""What the README shows is what the workflow is."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

from tests.chain import snakemake
from tests.conftest import PROJECT
from torl.config import experiment_names, scale_names

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


def test_every_target_in_a_command_exists() -> None:
    commands = [shlex.split(line, comments=True) for line in README.splitlines() if line.startswith("snakemake ")]
    targets = {
        word
        for command in commands
        for before, word in pairwise(command)
        if before not in ("--config", "--profile") and not word.startswith("-")
    }
    assert targets
    assert targets <= {"all", "report", *experiment_names(PROJECT / "config")}


def test_every_path_that_is_named_exists() -> None:
    paths = re.findall(r"`((?:workflow|src|config|envs|tests|slurm)/[\w./-]*)`", README)
    paths += re.findall(r"\]\(((?!http)[^)]+)\)", README)
    missing = [path for path in paths if not (PROJECT / path).exists()]
    assert paths
    assert missing == []
