"""Evaluation with a scripted model: one row a sample, seeds of their own, nothing asked twice."""

import asyncio
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from tests.conftest import PROJECT
from tests.tiny_model import make_tokenizer
from torl.config import RunConfig, load_settings, resolve
from torl.evaluation.evaluate import Evaluator, KeptRows
from torl.evaluation.job import not_asked
from torl.evaluation.statistics import estimate, score_rows
from torl.files import read_table, write_table
from torl.grading import Grader
from torl.problems.schema import Problem
from torl.rollout.loop import Generation
from torl.rollout.prompts import render
from torl.rollout.trajectory import TRAJECTORY_SCHEMA, CallOutcome
from torl.sandbox.client import Execution
from torl.serving.request import SamplingRequest

CALL = "```python\nprint(7)\n```\n```output"
PROBLEMS = [
    Problem(
        id=f"p{i}",
        source="b",
        subset="",
        text=f"What is {i} + 1?",
        answer=str(i + 1),
        solution=None,
        level=None,
        origin="",
    )
    for i in range(4)
]


@dataclass
class FakeServer:
    """Calls the tool once, then answers 1: right for the first problem alone."""

    tokenizer: PreTrainedTokenizerFast = field(default_factory=make_tokenizer)
    requests: list[SamplingRequest] = field(default_factory=list)

    @property
    def eos_ids(self) -> frozenset[int]:
        return frozenset({self.tokenizer.eos_token_id})

    async def generate(self, request: SamplingRequest) -> Generation:
        self.requests.append(request)
        calls = request.stop and "```output" not in self.tokenizer.decode(request.prompt_ids)
        ids = self.tokenizer.encode(CALL) if calls else [*self.tokenizer.encode("\\boxed{1}"), *self.eos_ids]
        return Generation(token_ids=ids, log_probs=[-1.0] * len(ids))

    async def close(self) -> None:
        pass


@dataclass
class FakeSandbox:
    outcome: Callable[[int], CallOutcome] = lambda count: CallOutcome.PASSED
    count: int = 0

    async def run(self, code: str) -> Execution:
        self.count += 1
        return Execution(outcome=self.outcome(self.count), stdout="7\n", seconds=0.1)


def settings(**evaluation: Any) -> RunConfig:
    return resolve(
        load_settings({"overrides": {"evaluation": evaluation}}, PROJECT / "config"), "torl", PROJECT / "config"
    )


def evaluate(
    config: RunConfig,
    kept: Path,
    server: FakeServer,
    sandbox: FakeSandbox,
    fingerprint: str = "same",
    problems: list[Problem] = PROBLEMS,
) -> list[dict[str, Any]]:
    file = KeptRows(kept, fingerprint)

    async def run() -> None:
        with Grader() as grader:
            evaluator = Evaluator(config=config, step=3, server=server, sandbox=sandbox, grader=grader)
            await evaluator.run("b", problems, file, lambda _: None)

    asyncio.run(run())
    order = [problem.id for problem in problems]
    return sorted(file.rows(), key=lambda row: (order.index(row["problem_id"]), row["sample_index"]))


def test_every_sample_is_one_row_of_the_schema(tmp_path: Path) -> None:
    config = settings(samples=3, temperature=1.0)
    rows = evaluate(config, tmp_path / "kept", FakeServer(), FakeSandbox())
    assert [(row["problem_id"], row["sample_index"]) for row in rows] == [(p.id, i) for p in PROBLEMS for i in range(3)]
    write_table(tmp_path / "rows.parquet", rows, TRAJECTORY_SCHEMA)
    assert read_table(tmp_path / "rows.parquet") == rows
    assert [row["correct"] for row in rows] == [True] * 3 + [False] * 9
    assert {(row["step"], row["benchmark"], row["reward"]) for row in rows} == {(3, "b", None)}


def test_an_answer_within_the_tolerance_that_the_problem_states_is_right(tmp_path: Path) -> None:
    problems = [replace(PROBLEMS[1], id=str(tolerance), tolerance=tolerance) for tolerance in (None, 0.5, 1.5)]
    rows = evaluate(settings(), tmp_path / "kept", FakeServer(), FakeSandbox(), problems=problems)
    assert [row["correct"] for row in rows] == [False, False, True]


def test_a_response_without_an_answer_is_wrong_and_stays_in_the_denominator(tmp_path: Path) -> None:
    class Silent(FakeServer):
        async def generate(self, request: SamplingRequest) -> Generation:
            return Generation(token_ids=[*self.eos_ids], log_probs=[-1.0])

    rows = evaluate(settings(), tmp_path / "kept", Silent(), FakeSandbox())
    assert {(row["answer"], row["correct"]) for row in rows} == {(None, False)}
    found = estimate(score_rows(rows))
    assert (found.value, found.n_problems) == (0.0, len(PROBLEMS))


def test_every_sample_and_every_turn_has_a_seed_of_its_own_that_reaches_the_server(tmp_path: Path) -> None:
    server = FakeServer()
    evaluate(settings(samples=3, temperature=1.0), tmp_path / "kept", server, FakeSandbox())
    seeds = [request.seed for request in server.requests]
    assert len(set(seeds)) == len(seeds) == 4 * 3 * 2
    again = FakeServer()
    evaluate(settings(samples=3, temperature=1.0), tmp_path / "kept 2", again, FakeSandbox())
    assert {request.seed for request in again.requests} == set(seeds)


def test_the_evaluation_s_sampling_is_used_not_that_of_training(tmp_path: Path) -> None:
    server = FakeServer()
    evaluate(settings(), tmp_path / "kept", server, FakeSandbox())
    assert {(request.temperature, request.top_p) for request in server.requests} == {(0.0, 1.0)}


def test_a_row_lies_in_the_file_before_the_next_sample_is_asked(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    lines = []

    class Looking(FakeServer):
        async def generate(self, request: SamplingRequest) -> Generation:
            lines.append(len(kept.read_text().splitlines()))
            return await super().generate(request)

    evaluate(settings(concurrency=1), kept, Looking(), FakeSandbox())
    assert lines == [1, 1, 2, 2, 3, 3, 4, 4]  # the fingerprint, then a row after each two turns


def test_rows_are_not_held_in_memory(tmp_path: Path) -> None:
    printed = "7" * 200_000
    kept = KeptRows(tmp_path / "kept", "same")

    class Printing(FakeSandbox):
        async def run(self, code: str) -> Execution:
            return Execution(outcome=CallOutcome.PASSED, stdout=printed[:-1] + str(len(code)), seconds=0.1)

    async def run() -> None:
        with Grader() as grader:
            config = settings(samples=100, temperature=1.0, concurrency=4)
            evaluator = Evaluator(config=config, step=3, server=FakeServer(), sandbox=Printing(), grader=grader)
            await evaluator.run("b", PROBLEMS, kept, lambda _: None)

    tracemalloc.start()
    try:
        asyncio.run(run())
        rows = sum(len(row["calls"][0]["stdout"]) == 200_000 for row in kept.rows())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == 400
    assert kept.path.stat().st_size > 80_000_000
    assert peak < 20_000_000


def test_only_the_wanted_columns_are_kept(tmp_path: Path) -> None:
    columns = ("problem_id", "sample_index", "correct")
    whole = evaluate(settings(), tmp_path / "kept", FakeServer(), FakeSandbox())
    kept = KeptRows(tmp_path / "kept", "same", columns)
    assert sorted(kept.rows(), key=lambda row: row["problem_id"]) == [
        {name: row[name] for name in columns} for row in whole
    ]
    assert all(kept.has(problem.id, 0) for problem in PROBLEMS)


def test_an_interrupted_evaluation_asks_only_what_is_missing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    whole = evaluate(settings(), kept, FakeServer(), FakeSandbox())
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[:3]) + lines[3][:20])  # two rows, and one cut off by a kill
    server = FakeServer()
    rows = evaluate(settings(), kept, server, FakeSandbox())
    assert len(server.requests) == 2 * 2
    assert [row | {"seconds": 0} for row in rows] == [row | {"seconds": 0} for row in whole]


def test_rows_of_another_policy_are_not_used(tmp_path: Path) -> None:
    evaluate(settings(), tmp_path / "kept", FakeServer(), FakeSandbox(), fingerprint="one")
    server = FakeServer()
    evaluate(settings(), tmp_path / "kept", server, FakeSandbox(), fingerprint="other")
    assert len(server.requests) == 8


def test_a_sample_that_the_sandbox_failed_on_is_not_judged_and_is_asked_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    broken = FakeSandbox(outcome=lambda count: CallOutcome.SANDBOX_FAILED if count == 1 else CallOutcome.PASSED)
    rows = evaluate(settings(concurrency=1), kept, FakeServer(), broken)
    assert [row["correct"] for row in rows] == [None, False, False, False]
    server = FakeServer()
    assert evaluate(settings(), kept, server, FakeSandbox())[0]["correct"] is True
    assert len(server.requests) == 2


def test_no_more_trajectories_run_at_once_than_allowed(tmp_path: Path) -> None:
    running, most = 0, 0

    class Counting(FakeServer):
        async def generate(self, request: SamplingRequest) -> Generation:
            nonlocal running, most
            running, most = running + 1, max(most, running + 1)
            await asyncio.sleep(0)
            running -= 1
            return await super().generate(request)

    evaluate(settings(concurrency=2), tmp_path / "kept", Counting(), FakeSandbox())
    assert most == 2


@pytest.mark.parametrize("experiment", ["torl", "no_tool"])
def test_the_prompt_of_the_experiment_is_asked(experiment: str, tmp_path: Path) -> None:
    config = resolve(load_settings({}, PROJECT / "config"), experiment, PROJECT / "config")
    server = FakeServer()
    evaluate(config, tmp_path / "kept", server, FakeSandbox())
    text = server.tokenizer.decode(server.requests[0].prompt_ids)
    assert ("integrate natural language reasoning with programs" in text) == (experiment == "torl")
    assert all(request.stop == () for request in server.requests) == (experiment == "no_tool")


def budget_of(problem: Problem) -> int:
    """The smallest ``max_prompt_tokens`` with which ``problem`` is asked."""
    prompt = render(settings().rollout.prompt, problem.text)
    return len(make_tokenizer().encode(prompt, add_special_tokens=False)) + 10


def test_a_question_whose_prompt_is_over_the_budget_minus_ten_is_not_asked_and_counts_as_wrong(tmp_path: Path) -> None:
    long = replace(PROBLEMS[0], id="long", text=PROBLEMS[0].text + "!")
    config = settings(samples=2, temperature=1.0, max_prompt_tokens=budget_of(PROBLEMS[0]))
    server = FakeServer()
    rows = evaluate(config, tmp_path / "kept", server, FakeSandbox(), problems=[PROBLEMS[0], long])
    assert [(row["problem_id"], row["correct"]) for row in rows] == [("p0", True)] * 2 + [("long", False)] * 2
    assert [row["stop_reason"] for row in rows[1:3]] == ["answered", "prompt_too_long"]
    assert rows[2]["prompt_tokens"] == rows[0]["prompt_tokens"] + 1
    assert (rows[2]["segments"], rows[2]["answer"], rows[2]["response_tokens"]) == ([], None, 0)
    assert len(server.requests) == 2 * 2
    assert settings().evaluation.max_prompt_tokens - 10 == 1014
    found = estimate(score_rows(rows))
    assert (found.value, found.n_problems, score_rows(rows).not_asked) == (0.5, 2, 1)


def test_the_log_says_how_many_of_how_many_questions_were_not_asked_and_what_to_do() -> None:
    rows = [{"problem_id": i // 2, "stop_reason": "prompt_too_long" if i < 6 else "answered"} for i in range(20)]
    assert "aime24: the prompts of 3 of 10 questions" in not_asked(rows, "aime24")
    assert "Raise evaluation.max_prompt_tokens" in not_asked(rows, "aime24")
    assert not_asked(rows[6:], "aime24") == ""
