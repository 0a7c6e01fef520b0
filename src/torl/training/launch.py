"""One training run from start, resume or interruption to the content of ``done.json``.

Sequence: lock the run folder, forget what came after the last checkpoint, start the sandbox, train in a process of its own,
check that the last weights are there. On SIGTERM or SIGINT, and shortly before the job's time limit, the trainer finishes its
step, saves, and the run ends with ``Stopped``; a second signal ends it at once. Either way the same command continues from
the last checkpoint. (SLURM's own warning signal is no help: it reaches all of Ray, which then has nothing left to save.)
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from torl.config.models import RunConfig
from torl.errors import TrainerError
from torl.files import sha256_of, write_json
from torl.sandbox.launcher import sandboxes
from torl.training.overrides import verl_overrides
from torl.training.process import run_stoppable
from torl.training.progress import Progress
from torl.training.run_dir import STOPPED, RunDir
from torl.training.version import require_verl
from torl.training.weights import weights_sha256

OTHER_VENDORS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK")
"""SLURM sets these beside CUDA_VISIBLE_DEVICES whatever the GPU is, and verl refuses to start where it sees two of a kind."""

DECIDING = ("seed", "model", "data", "rollout", "reward", "grading", "train")
"""Sections that decide what is learned; the others say only where and how fast."""


class Stopped(TrainerError):
    """The run was asked to stop, has saved its state, and can be continued."""


def run_fingerprint(config: RunConfig, model_path: str, train_file: Path) -> dict[str, Any]:
    """All that decides what a run learns: another value of any of it is another run."""
    values = config.model_dump(mode="json")
    local = Path(model_path)
    return {name: values[name] for name in DECIDING} | {
        "base": weights_sha256(local) if local.is_dir() else model_path,
        "problems": sha256_of(train_file),
    }


def run_dir_for(runs_dir: Path, fingerprint: dict[str, Any]) -> RunDir:
    """The folder of the run with this fingerprint; a changed configuration gets a new one and leaves the old alone."""
    text = json.dumps(fingerprint, sort_keys=True)
    return RunDir(runs_dir / hashlib.sha256(text.encode()).hexdigest()[:12])


def train(
    config: RunConfig, *, model_path: str, train_file: Path, runs_dir: Path, minutes: float | None = None
) -> dict[str, Any]:
    """Train to the end, from the last checkpoint if there is one; returns the content of ``done.json``.

    ``minutes`` is the time limit of this job; the run stops ``compute.stop_margin_seconds`` before it.

    Raises:
        Stopped: a signal or the time limit ended it early, state saved.
        TrainerError: the run is in use elsewhere, the limit leaves no time, the problems are fewer than a batch, or
            training failed.
    """
    require_verl()
    problems = pq.read_metadata(train_file).num_rows
    config = sized(config, problems)
    sys.stderr.write(training_cost(config, problems) + "\n")
    seconds = None if minutes is None else time_for_training(minutes, config.compute.stop_margin_seconds)
    fingerprint = run_fingerprint(config, model_path, train_file)
    run_dir = run_dir_for(runs_dir, fingerprint)
    with run_dir.locked():
        write_json(run_dir.root / "fingerprint.json", fingerprint)
        write_json(run_dir.root / "config.json", config.model_dump(mode="json"))
        run_dir.forget_requests()
        last = run_dir.latest_step()
        if last in config.kept_steps and last > 0:
            run_dir.keep_weights(last)
        if last < config.train.steps:
            if last > 0:
                sys.stderr.write(f"going on after step {last} of {config.train.steps}\n")
            run_dir.rewind(last)
            _attempt(config, model_path, train_file.resolve(), run_dir, seconds)
        run_dir.collect_metrics(config.train.steps)
        return _summary(config, run_dir)


def sized(config: RunConfig, problems: int) -> RunConfig:
    """``config`` with its number of steps, for a run over ``problems`` problems.

    Raises:
        TrainerError: the problems do not fill one batch.
    """
    try:
        return config.for_problems(problems)
    except ValueError as error:
        raise TrainerError(f"{error}.") from error


def training_cost(config: RunConfig, problems: int) -> str:
    """What a run over ``problems`` problems takes, in responses and tokens; said before it starts."""
    train = config.train
    passes = train.steps * train.prompts_per_step / problems
    responses = train.steps * train.prompts_per_step * train.responses_per_prompt
    return (
        f"{config.experiment}: {train.steps:,} steps of {train.prompts_per_step} problems x {train.responses_per_prompt} "
        f"responses = {responses:,} responses, {passes:.1f} passes over {problems:,} problems, at most "
        f"{responses * config.rollout.max_response_tokens:,} tokens"
    )


def time_for_training(minutes: float, margin_seconds: float) -> float:
    """Seconds until a job of ``minutes`` should stop.

    Raises:
        TrainerError: none are left.
    """
    seconds = 60 * minutes - margin_seconds
    if seconds <= 0:
        raise TrainerError(
            f"the job has {minutes:g} minutes and is to stop {margin_seconds:g} s before its end (compute.stop_margin_seconds): "
            "nothing is left; raise the job's runtime in the profile, or lower the margin."
        )
    return seconds


def _attempt(config: RunConfig, model_path: str, train_file: Path, run_dir: RunDir, seconds: float | None) -> None:
    attempt = run_dir.new_attempt()
    started = time.time()
    with sandboxes(
        config.sandbox.url,
        workers=config.sandbox.workers,
        allow_unsafe=config.sandbox.allow_unsafe,
        log_path=attempt / "sandbox.log",
    ) as used:
        agent_loops = _write_agent_loops(attempt, run_dir, used.urls)
        overrides = verl_overrides(
            config, model_path=model_path, train_file=train_file, run_dir=run_dir, agent_loops=agent_loops
        )
        write_json(attempt / "overrides.json", overrides)
        shown = Progress(attempt / "metrics.jsonl", config.train.steps)

        def look() -> None:
            shown.show()
            used.require_alive()

        code = run_stoppable(
            [sys.executable, "-m", "torl.training.verl_main", str(attempt / "overrides.json")],
            environment=training_environment(config, attempt, os.environ),
            log=attempt / "train.log",
            stop_request=run_dir.stop_request,
            progress=look,
            seconds=seconds,
        )
    write_json(attempt / "attempt.json", {"seconds": round(time.time() - started, 1), "exit_code": code})
    _require_success(code, attempt, run_dir)


def _require_success(code: int, attempt: Path, run_dir: RunDir) -> None:
    if code == STOPPED:
        raise Stopped(f"stopped on request after step {run_dir.latest_step()}; run the same command to continue.")
    if code != 0:
        reason = run_dir.failure.read_text(encoding="utf-8") if run_dir.failure.exists() else f"exit code {code}"
        raise TrainerError(
            f"training failed ({reason}); read the end of {attempt / 'train.log'}, then run the same command to continue "
            f"after step {run_dir.latest_step()}."
        )


def _write_agent_loops(attempt: Path, run_dir: RunDir, urls: list[str]) -> Path:
    path = attempt / "agent_loops.yaml"
    loop = {
        "name": "torl",
        "_target_": "torl.training.agent_loop.ToolAgentLoop",
        "config_path": str(run_dir.root / "config.json"),
        "run_dir": str(run_dir.root),
        "sandbox_urls": list(urls),
    }
    path.write_text(yaml.safe_dump([loop]), encoding="utf-8")
    return path


def training_environment(config: RunConfig, attempt: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """Environment of the training process and, by inheritance, of all Ray workers; ``inherited`` is that of the job."""
    environment = {name: value for name, value in inherited.items() if name not in OTHER_VENDORS} | {
        "VERL_FILE_LOGGER_PATH": str(attempt / "metrics.jsonl"),
        "OMP_NUM_THREADS": str(config.compute.threads),
        "TOKENIZERS_PARALLELISM": "false",
        "RAY_USAGE_STATS_ENABLED": "0",
        "HYDRA_FULL_ERROR": "1",
        "PYTHONUNBUFFERED": "1",
    }
    if config.compute.platform == "cpu":
        # verl registers its FSDP engine under "cuda" alone; nothing in it needs a GPU
        environment |= {"VERL_PLATFORM": "cpu", "VERL_ENGINE_DEVICE": "cuda"}
        environment["TORCHDYNAMO_DISABLE"] = "1"  # compiling would need a C++ compiler, and longer than it saves here
        environment.pop("CUDA_VISIBLE_DEVICES", None)  # Ray compares it with the number of GPUs it is told of
    return environment


def _summary(config: RunConfig, run_dir: RunDir) -> dict[str, Any]:
    steps = config.train.steps
    attempts = [json.loads(path.read_text()) for path in sorted(run_dir.attempts.glob("*/attempt.json"))]
    final = weights_sha256(run_dir.weights(steps))
    if not final:
        raise TrainerError(
            f"training ended without the weights of step {steps} in {run_dir.weights(steps)}; read the logs in "
            f"{run_dir.attempts}, delete {run_dir.root}, then run the same command again."
        )
    return {
        "experiment": config.experiment,
        "scale": config.scale,
        "seed": config.seed,
        "steps": steps,
        "seconds": round(sum(attempt["seconds"] for attempt in attempts), 1),
        "attempts": len(list(run_dir.attempts.glob("[0-9]*"))),  # one that was killed has no attempt.json
        "checkpoints": [step for step in config.evaluated_steps if step > 0],
        "run_dir": str(run_dir.root),
        "final_weights_sha256": final,
    }
