"""make_base_model as a program of its own."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "make_base_model.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_a_few_steps_give_a_whole_folder_at_a_path_with_spaces(tmp_path):
    out = tmp_path / "a base"
    finished = run("--seed", "1", "--threads", "1", "--documents", "300", "--steps", "2", "--out", str(out))
    assert finished.returncode == 0, finished.stderr
    names = {path.name for path in out.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "training.json"} <= names
    assert "step 2 of 2" in finished.stderr


def test_help_names_every_argument():
    finished = run("--help")
    assert finished.returncode == 0
    for argument in ("--seed", "--threads", "--documents", "--steps", "--out"):
        assert argument in finished.stdout
