"""Evaluate one checkpoint on one benchmark: every (question, sample) becomes one row of ``TRAJECTORY_SCHEMA``.

The tool loop is the one of training. Rows are written as they finish and not held, so that an interrupted evaluation continues
and one of any size needs little memory; only samples that the sandbox or the grader failed on are made again.

A question whose whole prompt is over ``evaluation.max_prompt_tokens`` minus 10 is not asked. It has its rows all the same, with the
stop reason ``prompt_too_long``, and counts as wrong: an accuracy is over every question of its benchmark, whatever the budget.

Differs from ToRL: repeated samples have seeds of their own (the release asks greedily for four copies of AIME); a question is known
by its content hash, not by its position; the release leaves questions that are too long out of the denominator (the percentages of
the paper's table 3 are shares of 673 of OlympiadBench's 675 questions).
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torl.config.models import RunConfig
from torl.files import atomic_path, json_line, read_jsonl, stable_seed
from torl.grading import Grader
from torl.problems.schema import Problem
from torl.problems.sieve import RESERVED_TOKENS
from torl.rollout.loop import Generation, ToolLoop
from torl.rollout.prompts import render
from torl.rollout.release import Rank
from torl.rollout.setup import final_answer, make_tool_loop
from torl.rollout.trajectory import TRAJECTORY_SCHEMA, StopReason, Trajectory, trajectory_row
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
    ) -> None:
        """Answer every sample whose row ``kept`` lacks, and keep each row as soon as it is finished."""
        samples = ((problem, index) for problem in problems for index in range(self.config.evaluation.samples))

        async def answer_next() -> None:
            for problem, index in samples:  # each sample goes to whoever asks next
                if not kept.has(problem.id, index):
                    kept.add(await self._sample(benchmark, problem, index))
                progress(1)

        async with asyncio.TaskGroup() as group:
            for _ in range(self.config.evaluation.concurrency):
                group.create_task(answer_next())

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
    """Finished rows of an evaluation that may be interrupted: in a file, one JSON line each under a line with its fingerprint.

    In memory is only which samples the file had when it was opened.
    """

    def __init__(self, path: Path, fingerprint: str, columns: Sequence[str] = TRAJECTORY_SCHEMA.names) -> None:
        self.path = path
        self._columns = columns
        self._done: dict[str, set[int]] = defaultdict(set)
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as out:
            out.write(json_line({"fingerprint": fingerprint}))
            for row in _usable(path, fingerprint):
                if not self.has(row["problem_id"], row["sample_index"]):
                    self._done[row["problem_id"]].add(row["sample_index"])
                    out.write(self._line(row))

    def has(self, problem_id: str, sample_index: int) -> bool:
        """Whether the row of a sample was done before this evaluation went on."""
        return sample_index in self._done.get(problem_id, ())

    def add(self, row: Row) -> None:
        """Keep a finished row."""
        with self.path.open("a", encoding="utf-8") as out:
            out.write(self._line(row))

    def rows(self) -> Iterator[Row]:
        """The kept rows one by one, in the order in which they were finished."""
        rows = read_jsonl(self.path)
        next(rows)
        return rows

    def _line(self, row: Row) -> str:
        return json_line({name: row[name] for name in self._columns})


def _usable(path: Path, fingerprint: str) -> Iterator[Row]:
    """Rows of ``path`` that were graded and belong to this evaluation."""
    if not path.exists():
        return
    rows = read_jsonl(path, may_be_cut=True)
    if next(rows, {}).get("fingerprint") == fingerprint:
        yield from (row for row in rows if row["correct"] is not None)
