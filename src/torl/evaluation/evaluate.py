"""Evaluate one checkpoint on one benchmark: every (question, sample) becomes one row of ``TRAJECTORY_SCHEMA``.

The tool loop is the one of training. Rows are kept as they finish, so that an interrupted evaluation continues; only samples
that the sandbox or the grader failed on are made again.

A question whose whole prompt is over ``evaluation.max_prompt_tokens`` minus 10 is not asked. It has its rows all the same, with the
stop reason ``prompt_too_long``, and counts as wrong: an accuracy is over every question of its benchmark, whatever the budget.

Differs from ToRL: repeated samples have seeds of their own (the release asks greedily for four copies of AIME); a question is known
by its content hash, not by its position; the release leaves questions that are too long out of the denominator (the percentages of
the paper's table 3 are shares of 673 of OlympiadBench's 675 questions).
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torl.config.models import RunConfig
from torl.files import json_line, read_jsonl, stable_seed
from torl.grading import Grader
from torl.problems.schema import Problem
from torl.problems.sieve import RESERVED_TOKENS
from torl.rollout.loop import Generation, ToolLoop
from torl.rollout.prompts import render
from torl.rollout.release import Rank
from torl.rollout.setup import final_answer, make_tool_loop
from torl.rollout.trajectory import StopReason, Trajectory, trajectory_row
from torl.sandbox.client import SandboxClient
from torl.serving.request import ModelServer, SamplingRequest

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """One policy with everything it needs to answer."""

    config: RunConfig
    step: int
    server: ModelServer
    sandbox: SandboxClient
    grader: Grader
    rank: Rank = field(default_factory=Rank)

    async def run(
        self, benchmark: str, problems: Sequence[Problem], kept: "KeptRows", progress: Callable[[int], None]
    ) -> list[Row]:
        """Rows of all samples in order of question and sample; ``kept`` holds those that are done already."""
        samples = [(p, i) for p in problems for i in range(self.config.evaluation.samples)]
        admitted = asyncio.Semaphore(self.config.evaluation.concurrency)

        async def answer(problem: Problem, index: int) -> Row:
            row = kept.get(problem.id, index)
            if row is None:
                async with admitted:
                    row = await self._sample(benchmark, problem, index)
                kept.add(row)
            progress(1)
            return row

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer(problem, index)) for problem, index in samples]
        return [task.result() for task in tasks]

    async def _sample(self, benchmark: str, problem: Problem, index: int) -> Row:
        started = time.monotonic()
        seed = stable_seed(self.config.seed, benchmark, problem.id, index)
        prompt = render(self.config.rollout.prompt, problem.text)
        prompt_ids = self.server.tokenizer.encode(prompt, add_special_tokens=False)
        if len(prompt_ids) <= self.config.evaluation.max_prompt_tokens - RESERVED_TOKENS:
            trajectory = await self._tool_loop(seed).run(prompt_ids)
        else:
            trajectory = Trajectory(prompt_ids=prompt_ids, stop_reason=StopReason.PROMPT_TOO_LONG)
        answer = final_answer(trajectory, self.config)
        return trajectory_row(
            trajectory,
            experiment=self.config.experiment,
            step=self.step,
            benchmark=benchmark,
            problem_id=problem.id,
            sample_index=index,
            seed=seed,
            question=problem.text,
            gold=problem.answer,
            answer=answer,
            correct=await self._correct(trajectory.stop_reason, problem, answer),
            reward=None,
            seconds=time.monotonic() - started,
        )

    async def _correct(self, stop_reason: StopReason | None, problem: Problem, answer: str | None) -> bool | None:
        if stop_reason is StopReason.SANDBOX_FAILED:
            return None
        if answer is None:
            return False
        return (await self.grader.grade(problem.answer, answer, tolerance=problem.tolerance)).correct

    def _tool_loop(self, seed: int) -> ToolLoop:
        settings = self.config.evaluation

        async def generate(ids: list[int], max_tokens: int, stop: tuple[str, ...], turn: int) -> Generation:
            return await self.server.generate(
                SamplingRequest(
                    prompt_ids=tuple(ids),
                    max_tokens=max_tokens,
                    temperature=settings.temperature,
                    top_p=settings.top_p,
                    stop=stop,
                    seed=stable_seed(seed, turn),
                )
            )

        return make_tool_loop(
            self.config,
            tokenizer=self.server.tokenizer,
            eos_ids=self.server.eos_ids,
            generate=generate,
            execute=self.sandbox.run,
            rank=self.rank,
        )


class KeptRows:
    """Finished rows of an evaluation that may be interrupted, one JSON line each under a line with its fingerprint."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self._rows = {(row["problem_id"], row["sample_index"]): row for row in _usable(path, fingerprint)}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            out.write(json_line({"fingerprint": fingerprint}))
            out.writelines(json_line(row) for row in self._rows.values())

    def get(self, problem_id: str, sample_index: int) -> Row | None:
        """The row of a sample, if it is done."""
        return self._rows.get((problem_id, sample_index))

    def add(self, row: Row) -> None:
        """Keep a finished row."""
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json_line(row))


def _usable(path: Path, fingerprint: str) -> Iterator[Row]:
    """Rows of ``path`` that were graded and belong to this evaluation; a line cut off by a kill ends them."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
    rows = read_jsonl(path)
    if next(rows, {}).get("fingerprint") == fingerprint:
        yield from (row for row in rows if row["correct"] is not None)
