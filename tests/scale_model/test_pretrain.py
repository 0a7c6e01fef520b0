"""The base model: seeded, learning, whole or absent."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from torl.scale_model import fitting
from torl.scale_model.pretrain import make_base
from torl.scale_model.settings import Settings

TINY = Settings(seed=3, threads=1, documents=500, steps=12, entries=500, hidden=32, intermediate=64, layers=2, rows=4)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale model") / "base"
    make_base(TINY, folder)
    return folder


def test_one_seed_gives_the_same_files(base, tmp_path):
    make_base(TINY, tmp_path / "again")
    for name in ("model.safetensors", "tokenizer.json", "config.json", "tokenizer_config.json"):
        assert (tmp_path / "again" / name).read_bytes() == (base / name).read_bytes()


def test_another_seed_gives_other_weights(base, tmp_path):
    make_base(replace(TINY, seed=4), tmp_path / "other")
    assert (tmp_path / "other" / "model.safetensors").read_bytes() != (base / "model.safetensors").read_bytes()


def test_the_folder_loads_as_a_qwen2_with_the_vocabulary_of_its_tokenizer(base):
    model, tokenizer = AutoModelForCausalLM.from_pretrained(base), AutoTokenizer.from_pretrained(base)
    assert model.config.model_type == "qwen2"
    assert model.dtype is torch.float32
    assert model.get_input_embeddings().num_embeddings == len(tokenizer) == model.config.vocab_size
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id == tokenizer.pad_token_id
    assert model.config.max_position_embeddings == tokenizer.model_max_length == 4096


def test_training_json_says_what_the_weights_depend_on(base):
    record = json.loads((base / "training.json").read_text())
    assert record["settings"]["seed"] == TINY.seed
    assert record["settings"]["mix"]["with_programs"] == TINY.mix.with_programs
    assert record["versions"]["torch"] == torch.__version__
    assert record["loss_curve"][-1]["step"] == TINY.steps


def test_the_loss_falls(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "CURVE_STEPS", 5)
    curve = make_base(replace(TINY, documents=1500, steps=40, warmup_steps=4), tmp_path / "base")["loss_curve"]
    assert curve[-1]["loss"] < 0.9 * curve[0]["loss"]


def test_an_interrupted_training_leaves_no_model(tmp_path, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.Optimizers, "step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_base(TINY, tmp_path / "base")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def interrupted(tmp_path, monkeypatch) -> Path:
    """The folder of a training that was stopped in its 9th step, 3 steps after a checkpoint."""
    step, count = fitting.Optimizers.step, itertools.count(1)

    def interrupt(optimizers: fitting.Optimizers, loss: torch.Tensor) -> None:
        if next(count) == 9:
            raise KeyboardInterrupt
        step(optimizers, loss)

    monkeypatch.setattr(fitting, "CHECKPOINT_STEPS", 6)
    monkeypatch.setattr(fitting, "CURVE_STEPS", 5)
    monkeypatch.setattr(fitting.Optimizers, "step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_base(TINY, tmp_path / "base")
    monkeypatch.setattr(fitting.Optimizers, "step", step)
    assert [path.name for path in tmp_path.iterdir()] == [".base.checkpoint"]
    return tmp_path / "base"


def test_an_interrupted_training_goes_on_to_the_very_bytes_of_one_that_was_not(interrupted, base, tmp_path, caplog):
    with caplog.at_level("INFO"):
        record = make_base(TINY, interrupted)
    assert "going on after step 6 of 12" in caplog.messages
    assert (interrupted / "model.safetensors").read_bytes() == (base / "model.safetensors").read_bytes()
    assert record["loss_curve"] == make_base(TINY, tmp_path / "at once")["loss_curve"]
    assert {path.name for path in tmp_path.iterdir()} == {"base", "at once"}


def test_a_checkpoint_of_another_training_is_not_used(interrupted, caplog):
    with caplog.at_level("INFO"):
        make_base(replace(TINY, matrix_rate=0.01), interrupted)
    assert not any("going on" in line for line in caplog.messages)


def test_a_finished_training_replaces_the_whole_folder(base, tmp_path):
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "left_over.safetensors").write_bytes(b"old")
    make_base(TINY, folder)
    assert {path.name for path in folder.iterdir()} == {path.name for path in base.iterdir()}
    assert list(tmp_path.iterdir()) == [folder]


def test_progress_is_logged_with_the_time_left(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(fitting, "REPORT_S", 0.0)
    with caplog.at_level("INFO"):
        make_base(TINY, tmp_path / "base")
    lines = [line for line in caplog.messages if line.startswith("step ")]
    assert len(lines) == TINY.steps
    assert "s left" in lines[0]
