"""A model that says its lines, a sandbox that replies as told, and the loop that training and evaluation use around them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import PROJECT
from tests.tiny_model import make_tokenizer
from torl.config import RunConfig, load_settings, resolve
from torl.quirks import RolloutQuirk
from torl.rollout.loop import Generation, ToolLoop
from torl.rollout.protocol import Protocol
from torl.rollout.release import Rank
from torl.rollout.setup import make_tool_loop
from torl.rollout.trajectory import CallOutcome, Trajectory
from torl.sandbox.client import Execution

CONFIG_DIR = PROJECT / "config"
TOKENIZER = make_tokenizer()
EOS = TOKENIZER.eos_token_id
EOS_TEXT = TOKENIZER.eos_token
PROMPT = TOKENIZER.encode("What is 3 + 4?\nAssistant:\n")
CODE = "```python\nprint(3 + 4)\n```\n"
CALL = f"Let us compute.\n{CODE}```output"
ANSWER = "So \\boxed{7}."
SEVEN = Execution(outcome=CallOutcome.PASSED, stdout="7\n", return_code=0, seconds=0.01)


def configured(experiment: str = "torl", config_dir: Path = CONFIG_DIR, **overrides: Any) -> RunConfig:
    """The configuration of ``experiment`` at scale demo with ``overrides`` by section."""
    return resolve(load_settings({"overrides": overrides}, config_dir), experiment, config_dir)


def shipped(name: str) -> Protocol:
    """A protocol of the project."""
    return configured(rollout={"protocol": name}).rollout.protocol


BASE = configured()


def rollout(calls: int = 1, budget: int = 400, **changes: Any) -> RunConfig:
    """``BASE`` with these settings of its rollout; quicker than reading the files again."""
    changes |= {"max_tool_calls": calls, "max_response_tokens": budget}
    return BASE.model_copy(update={"rollout": BASE.rollout.model_copy(update=changes)})


RELEASE = configured("release", reward={"penalty": "release"})


def release(calls: int = 1, budget: int = 400) -> RunConfig:
    """The experiment `release` with its penalty."""
    changes = {"max_tool_calls": calls, "max_response_tokens": budget, "max_prompt_tokens": 400}
    return RELEASE.model_copy(update={"rollout": RELEASE.rollout.model_copy(update=changes)})


def with_quirks(*quirks: RolloutQuirk, calls: int = 1, budget: int = 400, room: int = 128) -> RunConfig:
    """``BASE`` with these quirks alone; ``room`` is what the context has for the prompt."""
    return rollout(calls, budget, quirks=list(quirks), max_prompt_tokens=room)


@dataclass
class ScriptedModel:
    """Says its lines in order; a line that is not cut by stop or budget ends with the end token."""

    lines: Sequence[str]
    seen: list[list[int]] = field(default_factory=list)

    async def __call__(self, ids: list[int], max_tokens: int, stop: tuple[str, ...], turn: int) -> Generation:
        self.seen.append(ids)
        line = self.lines[turn] if turn < len(self.lines) else ""
        tokens: list[int] = []
        for token in [*TOKENIZER.encode(line, add_special_tokens=False), EOS]:
            tokens.append(token)
            if len(tokens) == max_tokens or any(marker in TOKENIZER.decode(tokens) for marker in stop):
                break
        return Generation(token_ids=tokens, log_probs=[-0.5 - token / 1000 for token in tokens])


@dataclass
class ScriptedSandbox:
    """Replies in order, over and over, and keeps what it was asked to run."""

    executions: Sequence[Execution] = (SEVEN,)
    ran: list[str] = field(default_factory=list)

    async def __call__(self, code: str) -> Execution:
        self.ran.append(code)
        return self.executions[(len(self.ran) - 1) % len(self.executions)]


def make_loop(config: RunConfig, generate: Callable[..., Any], execute: Callable[..., Any], rank: Rank) -> ToolLoop:
    """The loop of ``config`` with the tokenizer of the tests."""
    return make_tool_loop(
        config, tokenizer=TOKENIZER, eos_ids=frozenset({EOS}), generate=generate, execute=execute, rank=rank
    )


def roll_out(
    lines: Sequence[str], config: RunConfig | None = None, executions: Sequence[Execution] = (SEVEN,)
) -> tuple[Trajectory, ScriptedModel, list[str]]:
    """One trajectory, the model that wrote it, and the code that ran."""
    model, sandbox = ScriptedModel(lines), ScriptedSandbox(executions)
    loop = make_loop(config or rollout(), model, sandbox, Rank())
    return asyncio.run(loop.run(PROMPT)), model, sandbox.ran


def roll_out_rank(
    scripts: Sequence[Sequence[str]], config: RunConfig, executions: Sequence[Execution] = (SEVEN,)
) -> list[Trajectory]:
    """The trajectories of one rank, which go through their rounds together."""
    rank = Rank()

    async def run() -> list[Trajectory]:
        loops = [make_loop(config, ScriptedModel(lines), ScriptedSandbox(executions), rank) for lines in scripts]
        return await asyncio.gather(*(loop.run(PROMPT) for loop in loops))

    return asyncio.run(run())


def masked_text(trajectory: Trajectory) -> str:
    """What the loss leaves out."""
    return TOKENIZER.decode(
        [token for token, mask in zip(trajectory.response_ids, trajectory.mask, strict=True) if mask == 0]
    )
