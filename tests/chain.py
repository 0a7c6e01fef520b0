"""The workflow as a user runs it, on a model and problems small enough for a test."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import PROJECT

TINY: dict[str, Any] = {
    "model": {"pretrain_documents": 1000, "pretrain_steps": 40},
    "data": {"generate": 60},
    "train": {"steps": 4, "prompts_per_step": 4, "responses_per_prompt": 4, "save_every": 2},
    "evaluation": {"generate": 20, "every": 4},
}


def overrides(*layers: dict[str, Any]) -> str:
    """The value of ``--config overrides=``; later layers win, section by section."""
    merged: dict[str, dict[str, Any]] = {}
    for layer in layers:
        for section, values in layer.items():
            merged[section] = merged.get(section, {}) | values
    return f"overrides={json.dumps(merged)}"


def snakemake(
    folder: Path, *arguments: str, project: Path = PROJECT, check: bool = True, timeout: float = 1500
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on ``project`` with results in ``folder``."""
    command = [sys.executable, "-m", "snakemake", "-s", str(project / "workflow" / "Snakefile")]
    command += ["--directory", str(folder), *arguments]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, cwd=PROJECT, env=os.environ | {"HF_HUB_OFFLINE": "1"}
    )
    if check and result.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{result.stdout[-3000:]}\n{result.stderr[-6000:]}")
    return result
