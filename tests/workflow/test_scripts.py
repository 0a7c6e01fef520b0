"""Every rule has its program, which can be called by name and says what it wants."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT

SCRIPTS = sorted((PROJECT / "workflow" / "scripts").glob("*.py"))
RULES = "\n".join(path.read_text(encoding="utf-8") for path in (PROJECT / "workflow" / "rules").glob("*.smk"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_program_can_be_called_by_name(script: Path) -> None:
    assert script.read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n")
    assert os.access(script, os.X_OK)
    shown = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True)
    assert "--out" in shown.stdout


def test_rules_and_programs_have_the_same_names() -> None:
    rules = set(re.findall(r"^\s*rule (\w+):", RULES, re.MULTILINE))
    assert {script.stem for script in SCRIPTS} == rules - {"resolve_config", "resolve_settings"}


def test_every_rule_calls_its_own_program() -> None:
    for name, body in re.findall(r"^\s*rule (\w+):\n(.*?)(?=^\s*rule |\Z)", RULES, re.MULTILINE | re.DOTALL):
        if not name.startswith("resolve_"):
            assert f" {name}.py " in body


def test_what_a_command_substitutes_is_quoted_because_a_clone_may_lie_in_a_folder_with_spaces() -> None:
    assert "$(" in RULES
    assert re.findall(r'(?<!")\$\(', RULES) == []
