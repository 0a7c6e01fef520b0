"""The optimisation of the scale model: loss on what the model writes, one pass over the rows, checkpoints, progress lines.

The loss is a sum over tokens divided by a constant: a mean per batch would give short documents, the ones without code, more
weight and lower the share of code.
"""

import logging
import time
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import Qwen2ForCausalLM

from torl.errors import ConfigError
from torl.scale_model.checkpoint import Checkpoint, State
from torl.scale_model.muon import Muon
from torl.scale_model.packing import Batch, Example, attention_mask, collate
from torl.scale_model.settings import Settings

log = logging.getLogger(__name__)

REPORT_S = 5.0
"""Seconds between two lines of progress."""
CURVE_STEPS = 25
"""Steps that one point of the loss curve averages over."""
CHECKPOINT_STEPS = 100
"""Steps between two checkpoints: some seconds of work, and a file of twice the weights."""


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
            Muon(matrices, lr=settings.matrix_rate),
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

    def state(self) -> list[State]:
        """What the next step depends on besides weights and gradients."""
        return [part.state_dict() for part in (*self.optimizers, *self.schedules)]

    def restore(self, state: list[State]) -> None:
        """Go on from what ``state`` gave."""
        for part, kept in zip((*self.optimizers, *self.schedules), state, strict=True):
            part.load_state_dict(kept)


def fit(
    model: Qwen2ForCausalLM, rows: list[list[Example]], settings: Settings, checkpoint: Checkpoint
) -> list[dict[str, float]]:
    """Train on ``rows`` in their order; return the loss per token, a point every ``CURVE_STEPS`` steps.

    Goes on from ``checkpoint``, and leaves one every ``CHECKPOINT_STEPS`` steps.

    Raises:
        ConfigError: the rows do not fill one batch.
    """
    steps = _steps(rows, settings)
    learned = sum(sum(example.learned) for row in rows for example in row)
    tokens_a_step = learned * settings.rows / len(rows)
    optimizers = Optimizers(model, settings, steps)
    curve, recent, done = [], [], 0
    if state := checkpoint.load():
        model.load_state_dict(state["model"])
        optimizers.restore(state["optimizers"])
        curve, recent, done = state["curve"], state["recent"], state["step"]
        log.info("going on after step %d of %d", done, steps)
    clock = Clock(done, steps)
    for step, batch in enumerate(
        _batches(rows, settings, model.config.pad_token_id, range(done, steps)), start=done + 1
    ):
        loss = batch_loss(model, batch) / tokens_a_step
        optimizers.step(loss)
        recent.append(loss.item())
        if step % CURVE_STEPS == 0 or step == steps:
            curve.append({"step": step, "loss": round(sum(recent) / len(recent), 6)})
            recent = []
        if step % CHECKPOINT_STEPS == 0:
            kept = {"model": model.state_dict(), "optimizers": optimizers.state()}
            checkpoint.save(kept | {"curve": curve, "recent": recent, "step": step})
        clock.tick(step, curve)
    return curve


def _steps(rows: list[list[Example]], settings: Settings) -> int:
    steps = len(rows) // settings.rows
    if not steps:
        raise ConfigError(
            f"documents is {settings.documents}, which fills {len(rows)} rows of the {settings.rows} that one step needs; "
            "ask for more documents."
        )
    return steps if settings.steps is None else min(steps, settings.steps)


def _batches(rows: list[list[Example]], settings: Settings, pad_id: int, steps: range) -> Iterator[Batch]:
    for step in steps:
        chunk = rows[step * settings.rows : (step + 1) * settings.rows]
        yield collate(chunk, settings.row_tokens, pad_id)


class Clock:
    """Logs progress with an estimate of the time left, at most every ``REPORT_S`` seconds."""

    def __init__(self, done: int, steps: int) -> None:
        self.done, self.steps, self.start, self.last = done, steps, time.monotonic(), 0.0

    def tick(self, step: int, curve: list[dict[str, float]]) -> None:
        """Note that ``step`` is done."""
        spent = time.monotonic() - self.start
        if step < self.steps and spent - self.last < REPORT_S:
            return
        self.last = spent
        left = spent / (step - self.done) * (self.steps - step)
        loss = f"{curve[-1]['loss']:.3f}" if curve else "-"
        log.info("step %d of %d, loss %s, %.0f s spent, about %.0f s left", step, self.steps, loss, spent, left)
