#!/usr/bin/env python3
"""What waiting costs: lock-step rounds (the release) against trajectories that go on by themselves (ours), at C = 1, 2, 3.

``python bench/rollout.py [--rows FILE] [--seed N]`` replays the same turn lengths and code times through both, for the trajectories
of one GPU. Ours is the real tool loop; the model server and the sandbox are models of their timing, and the clock is virtual: the
event loop jumps to the next timer, so that minutes of rollout take seconds and nothing depends on the machine. What is left out
is the loop's own work, which is measured apart (last column, real time).

- Model server: continuous batching; a decoding step with n sequences takes ``STEP_S + n * SEQUENCE_S`` and gives each a token.
- Sandbox: so many snippets at once, first come first served.
- Lock-step: every round waits for the longest generation, then for the last snippet, as the release does.
- Ideal: no trajectory waits for anything but its own tokens and its own code (a worker for every snippet, no tool loop).

Lengths and times are sampled (``sample``) or recorded: trajectory rows of a run, JSONL or parquet.
"""

import argparse
import asyncio
import heapq
import math
import selectors
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from torl.analysis.texts import read_responses
from torl.config import load_settings, resolve
from torl.rollout.loop import Generation
from torl.rollout.release import Rank
from torl.rollout.setup import make_tool_loop
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution

CONFIG_DIR = Path(__file__).resolve().parent.parent / "config"
STEP_S = 0.012  # one decoding step of a 1.5B model on one GPU, without the sequences' own share; see docs/rollout.md
SEQUENCE_S = 0.00003  # what each sequence of the batch adds to it
TIMEOUT_S = 10.0
X, CALL, EOS, SHOWN = range(4)
TEXT = {X: "x ", CALL: "\n```python\nprint(1)\n```\n```output", EOS: "", SHOWN: "\n1\n```\n"}


class Turn(NamedTuple):
    """What one turn takes: its tokens, and the seconds of its code; None where it runs none and is the last."""

    tokens: int
    code_s: float | None


Plan = list[Turn]


class VirtualClock(selectors.DefaultSelector):
    """A selector that does not wait: it moves the clock to when the event loop would have woken up."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        self.now += timeout or 0.0
        return super().select(0)


def simulate(work: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """Virtual seconds until ``work`` is done."""
    clock = VirtualClock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now
    try:
        loop.run_until_complete(work())
    finally:
        loop.close()
    return clock.now


@dataclass
class Server:
    """A model server with continuous batching: all running sequences get their tokens at one common rate."""

    tokens: float = 0.0
    """Tokens that a sequence running from the start would have by now."""
    waiting: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list)
    arrivals: int = 0
    """Breaks ties, so that every run has the same order."""
    last: float = 0.0
    timer: asyncio.TimerHandle | None = None

    async def generate(self, count: int) -> None:
        """Return when ``count`` tokens are there."""
        loop = asyncio.get_running_loop()
        self._advance(loop.time())
        done = loop.create_future()
        self.arrivals += 1
        heapq.heappush(self.waiting, (self.tokens + count, self.arrivals, done))
        self._arm(loop)
        await done

    def _advance(self, now: float) -> None:
        if self.waiting:
            self.tokens += (now - self.last) / (STEP_S + SEQUENCE_S * len(self.waiting))
        self.last = now

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.waiting:
            left = max(0.0, self.waiting[0][0] - self.tokens) * (STEP_S + SEQUENCE_S * len(self.waiting))
            self.timer = loop.call_later(left, self._release, loop)

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        self._advance(loop.time())
        while self.waiting and self.waiting[0][0] <= self.tokens + 1e-6:
            heapq.heappop(self.waiting)[2].set_result(None)
        self._arm(loop)


@dataclass
class Sandbox:
    """Runs ``workers`` snippets at once; a snippet's time-out counts from its start."""

    workers: float
    slots: asyncio.Semaphore | None = None

    async def run(self, seconds: float) -> None:
        """Return when a snippet of ``seconds`` has run."""
        if math.isinf(self.workers):
            await asyncio.sleep(seconds)
            return
        self.slots = self.slots or asyncio.Semaphore(int(self.workers))
        async with self.slots:
            await asyncio.sleep(seconds)


class TurnTokenizer:
    """A token for each piece of text that the replay needs."""

    eos_token_id = EOS

    def encode(self, text: str, **_: bool) -> list[int]:
        """Every observation is that of the replay."""
        return [SHOWN]

    def decode(self, ids: Sequence[int], **_: bool) -> str:
        """The text of ``ids``."""
        return "".join(TEXT[token] for token in ids)


async def gather(jobs: Sequence[Awaitable[Any]]) -> None:
    """All of ``jobs`` at once."""
    await asyncio.gather(*jobs)


def ours(plans: Sequence[Plan], calls: int, workers: float) -> float:
    """Seconds of the rollout with the real tool loop."""
    overrides = {"rollout": {"max_tool_calls": calls}}
    config = resolve(load_settings({"scale": "torl-1.5b", "overrides": overrides}, CONFIG_DIR), "torl", CONFIG_DIR)

    async def work() -> None:
        server, sandbox = Server(), Sandbox(workers)
        await gather([replay(plan, server, sandbox).run([X]) for plan in plans])

    def replay(plan: Plan, server: Server, sandbox: Sandbox) -> Any:
        codes = iter([turn.code_s for turn in plan if turn.code_s is not None])

        async def generate(ids: list[int], max_tokens: int, stop: tuple[str, ...], turn: int) -> Generation:
            tokens, code_s = plan[turn]
            await server.generate(tokens)
            end = EOS if code_s is None else CALL
            return Generation(token_ids=[X] * (tokens - 1) + [end], log_probs=[0.0] * tokens)

        async def execute(code: str) -> Execution:
            seconds = next(codes)
            await sandbox.run(seconds)
            return Execution(outcome=CallOutcome.PASSED, stdout="1", return_code=0, seconds=seconds)

        return make_tool_loop(
            config,
            tokenizer=TurnTokenizer(),
            eos_ids=frozenset({EOS}),
            generate=generate,
            execute=execute,
            rank=Rank(),
        )

    return simulate(work)


def lock_step(plans: Sequence[Plan], calls: int, workers: float) -> float:
    """Seconds of the rollout in rounds."""

    async def work() -> None:
        server, sandbox = Server(), Sandbox(workers)
        for number in range(calls + 1):
            turns = [plan[number] for plan in plans if number < len(plan)]
            await gather([server.generate(turn.tokens) for turn in turns])
            await gather([sandbox.run(turn.code_s) for turn in turns if turn.code_s is not None])

    return simulate(work)


def ideal(plans: Sequence[Plan]) -> float:
    """Seconds of the rollout where nobody waits for another one's code or round."""

    async def alone(plan: Plan, server: Server) -> None:
        for turn in plan:
            await server.generate(turn.tokens)
            if turn.code_s is not None:
                await asyncio.sleep(turn.code_s)

    async def work() -> None:
        server = Server()
        await gather([alone(plan, server) for plan in plans])

    return simulate(work)


def sample(random: Random, calls: int) -> Plan:
    """A response in the manner of the paper's 1.5B run: four fifths call the tool, a call in thirty is ended at its time-out."""
    plan: Plan = []
    while len(plan) < calls and random.random() < (0.8 if not plan else 0.4):
        code_s = TIMEOUT_S if random.random() < 1 / 30 else min(TIMEOUT_S, random.lognormvariate(math.log(0.25), 1.0))
        plan.append(Turn(tokens(random, 250), code_s))
    return [*plan, Turn(tokens(random, 250), None)]


def tokens(random: Random, median: int) -> int:
    """Tokens of a turn; a response of any number of turns stays within 3,072."""
    return max(2, min(760, round(random.lognormvariate(math.log(median), 0.7))))


def recorded(row: dict[str, Any], calls: int) -> Plan:
    """The turns of a trajectory row; observations take an equal share of what is not the model's."""
    used = row["calls"][:calls]
    shown = (row["response_tokens"] - row["model_tokens"]) / max(1, len(row["calls"]))
    ends = [call["tokens_before"] - round(shown * index) for index, call in enumerate(used)] + [row["model_tokens"]]
    lengths = [max(2, end - start) for start, end in zip([0, *ends], ends, strict=False)]
    return [Turn(length, call["seconds"]) for length, call in zip(lengths, used, strict=False)] + [
        Turn(lengths[-1], None)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, help="trajectory rows to replay; sampled ones without it")
    parser.add_argument("--trajectories", type=int, default=256, help="of one GPU (the paper's run: 256)")
    parser.add_argument("--workers", type=float, nargs="+", default=[4, 16, math.inf], help="sandbox workers a GPU")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(
        f"{'C':>2}{'workers':>9}{'lock-step':>11}{'ours':>9}{'ideal':>9}{'ratio':>8}{'of ideal':>10}{'real ms/trajectory':>20}"
    )
    for calls in (1, 2, 3):
        random = Random(options.seed)
        if options.rows:
            rows = [row for row in read_responses(options.rows) if row["response_tokens"]][: options.trajectories]
            if not rows:
                parser.error(f"{options.rows} holds no trajectory rows; give those of a run.")
            plans = [recorded(row, calls) for row in rows]
        else:
            plans = [sample(random, calls) for _ in range(options.trajectories)]
        best = ideal(plans)
        for workers in options.workers:
            rounds = lock_step(plans, calls, workers)
            started = time.process_time()
            mine = ours(plans, calls, workers)
            real = 1000 * (time.process_time() - started) / len(plans)
            print(
                f"{calls:>2}{workers:>9g}{rounds:>9.1f} s{mine:>7.1f} s{best:>7.1f} s{rounds / mine:>8.2f}"
                f"{best / mine:>10.1%}{real:>20.2f}"
            )


if __name__ == "__main__":
    main()
