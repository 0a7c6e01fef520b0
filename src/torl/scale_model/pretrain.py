"""Pretraining of the scale model: the Qwen2 architecture at 0.9 M parameters, from scratch, in minutes on two CPU cores.

One seed and one thread count give the same weights on one machine.

Differs from ToRL: the paper's base is a published model; this one has seen generated text alone.
"""

import logging
import platform
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from transformers import PreTrainedTokenizerBase, Qwen2Config, Qwen2ForCausalLM

from torl.files import stable_seed, write_json
from torl.scale_model.checkpoint import Checkpoint, fingerprint
from torl.scale_model.corpus import write_corpus
from torl.scale_model.fitting import fit
from torl.scale_model.packing import encode, pack, shuffled
from torl.scale_model.settings import Settings
from torl.scale_model.tokenizer import MAX_LENGTH, train_tokenizer

log = logging.getLogger(__name__)


def new_model(settings: Settings, tokenizer: PreTrainedTokenizerBase) -> Qwen2ForCausalLM:
    """An untrained model whose vocabulary is the tokenizer's; the weights depend on the seed alone."""
    torch.manual_seed(stable_seed("weights", settings.seed))
    end = tokenizer.eos_token_id
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=settings.hidden,
            intermediate_size=settings.intermediate,
            num_hidden_layers=settings.layers,
            num_attention_heads=settings.heads,
            num_key_value_heads=settings.heads,
            max_position_embeddings=MAX_LENGTH,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=end,
            pad_token_id=end,
            dtype="float32",
        )
    )


def make_base(settings: Settings, out: Path) -> dict[str, Any]:
    """Write corpus, tokenizer and trained model; ``out`` becomes a Hugging Face folder, whole or not at all.

    A training that was interrupted goes on from its last checkpoint, which lies beside ``out`` until it has ended.

    Returns what ``training.json`` in the folder says: settings, loss curve, sizes, seconds (of the last attempt) and versions.
    """
    start = time.monotonic()
    torch.set_num_threads(settings.threads)
    log.info("writing %d documents", settings.documents)
    documents = list(write_corpus(settings.documents, settings.seed, settings.mix))
    tokenizer = train_tokenizer(
        (document.text for document in documents[: settings.tokenizer_documents]), settings.entries
    )
    examples = shuffled(encode(documents, tokenizer), stable_seed("order", settings.seed))
    rows = pack(examples, settings.row_tokens)
    model = new_model(settings, tokenizer)
    checkpoint = Checkpoint(path=out.with_name(f".{out.name}.checkpoint"), key=fingerprint(rows, settings))
    curve = fit(model, rows, settings, checkpoint)
    record = {
        "settings": asdict(settings),
        "loss_curve": curve,
        "parameters": model.num_parameters(),
        "corpus_tokens": sum(len(example.ids) for example in examples),
        "seconds": round(time.monotonic() - start, 1),
        "versions": {"python": platform.python_version()}
        | {module.__name__: module.__version__ for module in (torch, transformers, tokenizers)},
    }
    _save(model, tokenizer, record, out)
    checkpoint.remove()
    return record


def _save(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerBase, record: dict[str, Any], out: Path) -> None:
    """Fill a folder beside ``out``, then put it in its place."""
    staging = out.with_name(f".{out.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    model.save_pretrained(staging)
    tokenizer.save_pretrained(staging)
    write_json(staging / "training.json", record)
    for path in staging.iterdir():
        path.chmod(0o644)  # the weights' writer leaves them to the owner alone
    shutil.rmtree(out, ignore_errors=True)
    staging.rename(out)
