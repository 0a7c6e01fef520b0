"""What made the results: code revision, package versions, machine. The only place that holds a time of day."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from torl.files import sha256_of

PACKAGES = (
    "torch",
    "verl",
    "vllm",
    "transformers",
    "ray",
    "math-verify",
    "snakemake",
    "snakemake-executor-plugin-slurm",
    "numpy",
    "pandas",
    "pyarrow",
    "matplotlib",
    "torl-workflow",
)
"""Packages whose version can change a result or the shape of a file."""
PROBE_TIMEOUT_S = 20  # nvidia-smi can hang on a broken driver


def collect(config: Path, folder: Path) -> dict[str, Any]:
    """The document: ``folder`` is asked for its git revision, ``config`` for its hash."""
    return {
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": git_revision(folder),
        "config_sha256": sha256_of(config),
        "python": platform.python_version(),
        "packages": {name: installed_version(name) for name in PACKAGES},
        "machine": {
            "cpu": cpu_model(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_gib": memory_gib(),
            "os": os_name(),
            "gpus": gpu_names(),
        },
    }


def git_revision(folder: Path) -> dict[str, Any] | None:
    """Commit and whether files differ from it; None outside a git checkout or without git."""
    revision = _output(["git", "-C", str(folder), "rev-parse", "HEAD"])
    if revision is None:
        return None
    return {"revision": revision, "dirty": bool(_output(["git", "-C", str(folder), "status", "--porcelain"]))}


def installed_version(package: str) -> str | None:
    """Version of an installed package, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str | None:
    """Name of the first processor; None where the system does not tell."""
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or None


def memory_gib(meminfo: Path = Path("/proc/meminfo")) -> float | None:
    """Memory of the machine in GiB, one decimal; None where the system does not tell."""
    text = meminfo.read_text(encoding="utf-8") if meminfo.exists() else ""
    sizes = [int(line.split()[1]) for line in text.splitlines() if line.startswith("MemTotal:")]
    return round(sizes[0] / 2**20, 1) if sizes else None


def os_name(release: Path = Path("/etc/os-release")) -> str:
    """Distribution where it is known, and the kernel."""
    lines = release.read_text(encoding="utf-8").splitlines() if release.exists() else []
    pretty = [line.partition("=")[2].strip('"') for line in lines if line.startswith("PRETTY_NAME=")]
    return ", ".join([*pretty[:1], f"{platform.system()} {platform.release()}"])


def gpu_names() -> list[str]:
    """Names of the GPUs that nvidia-smi lists; empty without it."""
    listed = _output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    return listed.splitlines() if listed else []


def _output(command: list[str]) -> str | None:
    """Standard output of a command; None where it is missing, fails or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
