"""A model as a folder that transformers and vLLM load: checking, copying, fingerprinting."""

import os
import shutil
from pathlib import Path

from torl.errors import TrainerError
from torl.files import sha256_of

WEIGHT_PATTERNS = ("*.safetensors", "*.bin")
NEEDED = ("config.json", "tokenizer_config.json")


def weight_files(folder: Path) -> list[Path]:
    """The files that hold weights, by name."""
    return sorted(path for pattern in WEIGHT_PATTERNS for path in folder.glob(pattern))


def weights_sha256(folder: Path) -> dict[str, str]:
    """File name -> sha256 of every file with weights."""
    return {path.name: sha256_of(path) for path in weight_files(folder)}


def copy_model(source: Path, destination: Path) -> None:
    """Copy the model in ``source`` to ``destination``, replacing what is there; ``destination`` is whole or absent.

    Raises:
        TrainerError: ``source`` holds no whole model.
    """
    missing = [name for name in NEEDED if not (source / name).exists()]
    if missing or not weight_files(source):
        what = ", ".join(missing) or "weights"
        raise TrainerError(f"{source} holds no whole model ({what} missing); train to that step again, then export.")
    staging = destination.with_name(f".{destination.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.is_file():
            _link_or_copy(path, staging / path.name)
    shutil.rmtree(destination, ignore_errors=True)
    staging.rename(destination)


def _link_or_copy(source: Path, destination: Path) -> None:
    """A hard link costs no space; another file system needs a copy."""
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)
