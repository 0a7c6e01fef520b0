"""One trajectory through the real agent loop of verl's side: what is trained on, what it earns, and what is kept of it."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from verl.experimental.agent_loop.agent_loop import AgentLoopOutput, DictConfigWrap

from tests.conftest import PROJECT
from tests.rollout.script import ANSWER, CALL, EOS, SEVEN, TOKENIZER, ScriptedModel, configured
from tests.training.test_overrides import overrides
from torl.analysis.behaviour import behaviour
from torl.config import RunConfig
from torl.evaluation import evaluate, job
from torl.files import read_json, read_jsonl, write_json
from torl.grading import Grade
from torl.rollout import setup
from torl.rollout.loop import ToolLoop
from torl.rollout.trajectory import CallOutcome
from torl.sandbox.client import Execution
from torl.training import agent_loop
from torl.training.agent_loop import ToolAgentLoop
from torl.training.verl_main import compose_config

CRASH = Execution(outcome=CallOutcome.RAISED, stderr="NameError: x", return_code=1)
BROKEN = Execution(outcome=CallOutcome.SANDBOX_FAILED)


class Server:
    """verl's client of the model server, as far as the loop uses it."""

    def __init__(self, lines: list[str]) -> None:
        self.model = ScriptedModel(lines)
        self.turn = 0
        self.parameters: list[dict[str, Any]] = []

    async def generate(self, *, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any]) -> Any:
        self.parameters.append(sampling_params)
        turn = await self.model(prompt_ids, sampling_params["max_tokens"], tuple(sampling_params["stop"]), self.turn)
        self.turn += 1
        return turn


class EndsWith(Server):
    """Ends its responses with another token than the tokenizer's."""

    def __init__(self, lines: list[str], end: int) -> None:
        super().__init__(lines)
        self.end = end

    async def generate(self, **request: Any) -> Any:
        turn = await super().generate(**request)
        return replace(turn, token_ids=[*turn.token_ids[:-1], self.end])


Run = Callable[..., tuple[AgentLoopOutput | list, dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path, tiny_model: Path) -> Run:
    """Run one trajectory of a configuration; returns what verl gets and the row that is kept."""

    def run_one(
        config: RunConfig,
        lines: list[str],
        execution: Execution = SEVEN,
        grade: Grade | None = None,
        server: Server | None = None,
        model: Path = tiny_model,
    ) -> tuple[AgentLoopOutput | list, dict[str, Any]]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        write_json(folder / "config.json", config.model_dump(mode="json"))
        verl = compose_config(overrides(config, folder, model))
        loop = ToolAgentLoop(
            trainer_config=DictConfigWrap(verl),
            server_manager=server or Server(lines),
            tokenizer=TOKENIZER,
            processor=None,
            dataset_cls=None,
            data_config=DictConfigWrap(verl.data),
            config_path=str(folder / "config.json"),
            run_dir=str(folder / "run"),
            sandbox_urls=["http://127.0.0.1:9"],
        )

        async def execute(code: str) -> Execution:
            return execution

        async def judge(gold: str, answer: str) -> Grade:
            return grade or Grade(correct=gold == answer, rule="same_text", seconds=0.0)

        loop.shared.sandbox = SimpleNamespace(run=execute)
        loop.shared.grader = SimpleNamespace(grade=judge)
        row = {"raw_prompt": [{"content": "Q\n"}], "problem_id": "p", "session_id": 0, "global_steps": 1, "uid": "u"}
        row |= {"question": "Q", "reward_model": {"ground_truth": "7"}}
        output = asyncio.get_event_loop().run_until_complete(loop.run({"temperature": 1.0, "top_p": 1.0}, **row))
        (kept,) = (line for path in (folder / "run").rglob("step_*.jsonl") for line in read_jsonl(path))
        return output, kept

    return run_one


def config(penalty: str = "none", **rollout: Any) -> RunConfig:
    return configured(reward={"penalty": penalty}, rollout={"max_response_tokens": 400, **rollout})


def test_what_verl_trains_on_is_what_the_model_sampled_with_the_observation_masked(run: Run) -> None:
    output, kept = run(config(), [CALL, ANSWER])
    shown = TOKENIZER.encode("\n7\n```\n")
    assert output.response_ids == [*TOKENIZER.encode(CALL), *shown, *TOKENIZER.encode(ANSWER), EOS]
    assert [at for at, bit in enumerate(output.response_mask) if bit == 0] == list(
        range(len(TOKENIZER.encode(CALL)), len(TOKENIZER.encode(CALL)) + len(shown))
    )
    assert len(output.response_logprobs) == len(output.response_ids)
    assert (output.reward_score, output.extra_fields["reward_extra_info"]) == (1.0, {"acc": 1.0})
    assert (kept["reward"], kept["correct"], kept["answer"], kept["model_tokens"]) == (
        1.0,
        True,
        "7",
        sum(output.response_mask),
    )


def test_a_response_ends_at_every_token_that_the_model_s_files_name_and_is_trained_on_with_it(
    run: Run, tiny_model: Path, tmp_path: Path
) -> None:
    other = TOKENIZER.convert_tokens_to_ids("z")
    model = Path(shutil.copytree(tiny_model, tmp_path / "model"))
    declared = read_json(model / "generation_config.json") | {"eos_token_id": [EOS, other]}
    write_json(model / "generation_config.json", declared)
    server = EndsWith([ANSWER], other)
    output, kept = run(config(), [], server=server, model=model)
    assert output.response_ids == [*TOKENIZER.encode(ANSWER), other]
    assert (set(output.response_mask), kept["stop_reason"], kept["answer"]) == ({1}, "answered", "7")
    assert set(server.parameters[0]["stop_token_ids"]) == {EOS, other}


def test_without_the_mask_every_token_is_trained_on(run: Run) -> None:
    output, _ = run(config(mask_observations=False), [CALL, ANSWER])
    assert set(output.response_mask) == {1}


@pytest.mark.parametrize(
    ("penalty", "lines", "execution", "reward"),
    [
        ("none", [CALL, ANSWER], CRASH, 1.0),
        ("paper", [CALL, ANSWER], CRASH, 0.5),
        ("paper", [ANSWER], SEVEN, 1.0),
        ("release", [ANSWER], SEVEN, 0.5),
        ("release", [CALL, ANSWER], SEVEN, 1.0),
        ("release", [CALL, "I give up."], CRASH, -1.5),
    ],
)
def test_penalties_reach_the_reward_and_leave_correctness_alone(
    run: Run, penalty: str, lines: list[str], execution: Execution, reward: float
) -> None:
    output, kept = run(config(penalty), lines, execution)
    correct = ANSWER in lines
    assert output.reward_score == kept["reward"] == reward
    assert output.extra_fields["reward_extra_info"]["acc"] == float(correct)
    assert kept["correct"] is correct


def test_a_response_that_the_sandbox_failed_on_is_not_trained_on_and_is_counted(run: Run) -> None:
    output, kept = run(config(), [CALL, ANSWER], BROKEN)
    assert output == []
    assert (kept["correct"], kept["reward"], kept["stop_reason"]) == (None, None, "sandbox_failed")
    metrics = behaviour([kept])
    assert (metrics["sandbox_failed_rate"], metrics["mean_reward"], metrics["accuracy"]) == (1.0, None, None)


@pytest.mark.parametrize("rule", ["grader_timeout", "grader_crashed"])
def test_a_response_that_the_grader_did_not_decide_on_is_not_trained_on_and_is_counted(run: Run, rule: str) -> None:
    output, kept = run(config(), [ANSWER], grade=Grade(correct=None, rule=rule, seconds=10.0))
    assert output == []
    assert (kept["correct"], kept["reward"], kept["stop_reason"]) == (None, None, "answered")
    metrics = behaviour([kept])
    assert (metrics["ungraded_rate"], metrics["mean_reward"], metrics["accuracy"]) == (1.0, None, None)


def test_with_all_quirks_of_the_release_a_lost_response_is_one_end_token_that_earns_minus_one(run: Run) -> None:
    output, kept = run(configured("release"), [ANSWER])
    assert (output.response_ids, output.response_mask, output.reward_score) == ([EOS], [1], -1.0)
    assert (kept["stop_reason"], kept["answer"]) == ("lost_round", None)


def test_training_and_evaluation_run_the_same_loop_and_take_the_answer_in_the_same_way() -> None:
    assert agent_loop.make_tool_loop is evaluate.make_tool_loop is setup.make_tool_loop
    assert agent_loop.final_answer is evaluate.final_answer is setup.final_answer
    assert agent_loop.make_grader is job.make_grader is setup.make_grader
    assert setup.ToolLoop is ToolLoop
    others = [p for p in (PROJECT / "src").rglob("*.py") if "ToolLoop(" in p.read_text() and p.name != "setup.py"]
    assert others == []  # nobody else makes one
