"""The chain through a real SLURM on this machine: jobs, pretended GPUs, a time limit that is hit, resuming."""

import os
import re
from pathlib import Path

import pytest

from tests.chain import TINY, overrides, snakemake
from torl.files import read_json

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2400),
    pytest.mark.skipif("TORL_SLURM" not in os.environ, reason="needs the cluster of tests/slurm/run.sh (`make slurm`)"),
]

SMALL_MACHINE = [
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=2",
    "--latency-wait=10",
    "--default-resources",
    "mem_mb=1500",
    "runtime=20",
    "slurm_partition=everything",
    "--set-threads",
    "check_problems=2",
]


def slurm(folder: Path, *arguments: str, train: list[str], layers: tuple[dict, ...] = ()) -> str:
    resources = ["--set-resources", *train]
    result = snakemake(
        folder,
        "--profile",
        "slurm",
        *SMALL_MACHINE,
        *resources,
        "--config",
        "scale=demo",
        overrides(TINY, *layers),
        "--",
        *arguments,
        timeout=2300,
    )
    return result.stdout + result.stderr


def test_a_training_job_that_hits_its_time_limit_is_submitted_again_and_resumes(tmp_path: Path) -> None:
    folder = tmp_path / "on a cluster"
    folder.mkdir()
    long_run = {"train": {"steps": 40, "prompts_per_step": 2, "responses_per_prompt": 2, "save_every": 10}}
    output = slurm(
        folder,
        "no_tool",
        "report",
        train=[
            "train_policy:runtime=2",
            "train_policy:mem_mb=4000",
            "train_policy:gpu=1",
        ],
        layers=(long_run, {"evaluation": {"every": 40}}),
    )
    results = folder / "results" / "demo"
    for experiment in ("torl", "no_tool"):
        done = read_json(results / experiment / "done.json")
        assert done["steps"] == 40
        assert done["attempts"] >= 2
        metrics = (results / experiment / done["run_dir"] / "metrics.jsonl").read_text().splitlines()
        assert len(metrics) == 40
    assert (results / "report.html").stat().st_size > 10_000
    jobs = set(re.findall(r"SLURM jobid (\d+)", output))
    assert len(jobs) >= 10
    assert "stopped on request after step" in output
