"""Pretraining of the scale model: the Qwen2 architecture at 0.9 M parameters, from scratch, in minutes on two CPU cores.

The loss is on what the model writes, never on prompts and observations, and is a sum over tokens divided by a constant: a mean
per batch would give short documents, the ones without code, more weight and lower the share of code. Matrices are trained
with Muon, which needs about half the tokens of AdamW here. One seed and one thread count give the same weights.
"""

import logging
import platform
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerBase, Qwen2Config, Qwen2ForCausalLM

from torl.files import stable_seed, write_json
from torl.scale_model.corpus import CorpusMix, write_corpus
from torl.scale_model.packing import Batch, Example, attention_mask, collate, encode, pack, shuffled
from torl.scale_model.tokenizer import MAX_LENGTH, train_tokenizer

log = logging.getLogger(__name__)

REPORT_S = 5.0
"""Seconds between two lines of progress."""
CURVE_STEPS = 25
"""Steps that one point of the loss curve averages over."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that the weights depend on, besides the versions of the libraries and the machine."""

    seed: int = 1
    """Of the corpus, the first weights and the order of the documents."""
    threads: int = 2
    """Threads of matrix products; another count gives other weights."""
    documents: int = 56_000
    """Documents in the corpus; each is seen once."""
    steps: int | None = None
    """Optimizer steps at most; None for as many as the documents fill."""
    mix: CorpusMix = field(default_factory=CorpusMix)
    """Shares of the kinds of documents."""
    entries: int = 704
    """Entries of the vocabulary: enough that every frequent word of the problems is one token."""
    tokenizer_documents: int = 8_000
    """Documents that the tokenizer is learned on."""
    hidden: int = 128
    """Width of the model."""
    intermediate: int = 384
    """Width of the feed-forward layers."""
    layers: int = 4
    """Decoder layers."""
    heads: int = 4
    """Attention heads of a layer."""
    row_tokens: int = 192
    """Length of a row of packed documents."""
    rows: int = 8
    """Rows of one optimizer step."""
    matrix_rate: float = 0.02
    """Muon's learning rate, for the matrices inside the layers."""
    other_rate: float = 3e-3
    """AdamW's learning rate, for embeddings, biases and norms."""
    warmup_steps: int = 60
    """Steps of linear warm-up; the rate then falls linearly to zero."""
    clip: float = 1.0
    """Largest norm of the gradient."""


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


def batch_loss(model: Qwen2ForCausalLM, batch: Batch) -> Tensor:
    """Sum of the negative log-likelihoods of the tokens to learn, in nats."""
    hidden = model.model(
        input_ids=batch.ids,
        attention_mask=attention_mask(batch.documents),
        position_ids=batch.positions,
        use_cache=False,
    ).last_hidden_state
    targets = batch.learned[:, 1:]
    return cross_entropy(model.lm_head(hidden[:, :-1][targets]), batch.ids[:, 1:][targets], reduction="sum")


class Optimizers:
    """Muon for the matrices inside the layers, AdamW for the rest, one schedule for both."""

    def __init__(self, model: Qwen2ForCausalLM, settings: Settings, steps: int) -> None:
        matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "layers" in name]
        others = [p for name, p in model.named_parameters() if not (p.ndim == 2 and "layers" in name)]
        self.parameters = list(model.parameters())
        self.clip = settings.clip
        self.optimizers = (
            torch.optim.Muon(matrices, lr=settings.matrix_rate, weight_decay=0.0),
            torch.optim.AdamW(others, lr=settings.other_rate, weight_decay=0.0, betas=(0.9, 0.95), fused=True),
        )

        def share(step: int) -> float:
            return min(1.0, (step + 1) / settings.warmup_steps) * (1 - step / steps)

        self.schedules = [torch.optim.lr_scheduler.LambdaLR(optimizer, share) for optimizer in self.optimizers]

    def step(self, loss: Tensor) -> None:
        """One update from ``loss``."""
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        for part in (*self.optimizers, *self.schedules):
            part.step()


def fit(model: Qwen2ForCausalLM, rows: list[list[Example]], settings: Settings) -> list[dict[str, float]]:
    """Train on ``rows`` in their order; return the loss per token, a point every ``CURVE_STEPS`` steps."""
    steps = len(rows) // settings.rows
    if settings.steps is not None:
        steps = min(steps, settings.steps)
    learned = sum(sum(example.learned) for row in rows for example in row)
    tokens_a_step = learned * settings.rows / len(rows)
    optimizers, clock = Optimizers(model, settings, steps), Clock(steps)
    curve, recent = [], []
    for step, batch in enumerate(_batches(rows, settings, model.config.pad_token_id, steps), start=1):
        loss = batch_loss(model, batch) / tokens_a_step
        optimizers.step(loss)
        recent.append(loss.item())
        if step % CURVE_STEPS == 0 or step == steps:
            curve.append({"step": step, "loss": round(sum(recent) / len(recent), 6)})
            recent = []
        clock.tick(step, curve)
    return curve


def _batches(rows: list[list[Example]], settings: Settings, pad_id: int, steps: int) -> Iterator[Batch]:
    for step in range(steps):
        chunk = rows[step * settings.rows : (step + 1) * settings.rows]
        yield collate(chunk, settings.row_tokens, pad_id)


class Clock:
    """Logs progress with an estimate of the time left, at most every ``REPORT_S`` seconds."""

    def __init__(self, steps: int) -> None:
        self.steps, self.start, self.last = steps, time.monotonic(), 0.0

    def tick(self, step: int, curve: list[dict[str, float]]) -> None:
        """Note that ``step`` is done."""
        spent = time.monotonic() - self.start
        if step < self.steps and spent - self.last < REPORT_S:
            return
        self.last = spent
        left = spent / step * (self.steps - step)
        loss = f"{curve[-1]['loss']:.3f}" if curve else "-"
        log.info("step %d of %d, loss %s, %.0f s spent, about %.0f s left", step, self.steps, loss, spent, left)


def make_base(settings: Settings, out: Path) -> dict[str, Any]:
    """Write corpus, tokenizer and trained model; ``out`` becomes a Hugging Face folder, whole or not at all.

    Returns what ``training.json`` in the folder says: settings, loss curve, sizes, seconds and versions.
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
    curve = fit(model, rows, settings)
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
