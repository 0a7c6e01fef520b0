"""Fixtures that several parts use."""

import os
from pathlib import Path

import pytest

os.environ["VERL_PLATFORM"] = "cpu"  # before anything imports verl, whose plug-in asks for it once

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real problem sets beside the project; tests that need it skip without it."""
    folder = PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no folder shared/data beside the project: it holds real data sets that are not part of it")
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Qwen2 of 0.1 M parameters with a byte-level tokenizer, as a Hugging Face folder."""
    from tests.tiny_model import make_tiny_model

    folder = tmp_path_factory.mktemp("tiny model")  # with a space: paths are quoted everywhere or tests fail
    make_tiny_model(folder)
    return folder
