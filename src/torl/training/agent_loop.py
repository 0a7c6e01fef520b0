"""The tool loop inside verl: one trajectory becomes one training sample and one row of the run's trajectory files.

Differs from ToRL: a trajectory whose code the sandbox could not run, or whose answer the grader could not judge, is left out of
the loss (verl pads the batch) and stays in the rows, so that it is counted.
"""

import functools
import os
import socket
import time
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from torl.config.models import RunConfig
from torl.files import json_line, read_json, stable_seed
from torl.grading import Grade
from torl.rollout.loop import Generation, ToolLoop
from torl.rollout.release import Rank
from torl.rollout.setup import final_answer, make_grader, make_tool_loop
from torl.rollout.trajectory import StopReason, Trajectory, trajectory_row
from torl.sandbox.alarm import FailureAlarm
from torl.sandbox.client import SandboxClient
from torl.serving.end_tokens import end_token_ids
from torl.training.reward import reward_of
from torl.training.run_dir import RunDir


class Shared:
    """What the trajectories of one worker process share."""

    def __init__(self, config_path: str, run_dir: str, sandbox_urls: tuple[str, ...]) -> None:
        self.config = RunConfig.model_validate(read_json(config_path))
        self.run_dir = RunDir(run_dir)
        self.run_dir.trajectories.mkdir(parents=True, exist_ok=True)
        self.writer = f"{socket.gethostname()}-{os.getpid()}"
        self.sandbox = SandboxClient(sandbox_urls, timeout_s=self.config.sandbox.timeout_seconds, alarm=FailureAlarm())
        self.grader = make_grader(self.config)
        self.rank = Rank()

    def write(self, row: dict[str, Any]) -> None:
        """Append one row to this worker's file of the row's step."""
        path = self.run_dir.trajectory_file(row["step"], self.writer)
        with path.open("a", encoding="utf-8") as out:
            out.write(json_line(row))


@functools.cache
def shared(config_path: str, run_dir: str, sandbox_urls: tuple[str, ...]) -> Shared:
    """The shared objects of this process, made once."""
    return Shared(config_path, run_dir, sandbox_urls)


class ToolAgentLoop(AgentLoopBase):
    """verl makes one per trajectory, with the keyword arguments of the agent-loop file."""

    def __init__(self, *args: Any, config_path: str, run_dir: str, sandbox_urls: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shared = shared(config_path, run_dir, tuple(sandbox_urls))

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput | list[AgentLoopOutput]:
        """Make, grade, record and return one trajectory; an empty list where it must not be trained on.

        verl would go on with what other trajectories are left after an error; the note makes the trainer stop instead.
        """
        try:
            return await self._run(sampling_params, **row)
        except Exception as error:
            self.shared.run_dir.note_failure(error)
            raise

    async def _run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput | list[AgentLoopOutput]:
        started = time.monotonic()
        policy_step = int(row["global_steps"]) - 1  # updates behind the weights that are sampled from
        seed = stable_seed(self.shared.config.seed, policy_step, row["problem_id"], row["session_id"])
        prompt_ids = self.tokenizer.encode(row["raw_prompt"][0]["content"], add_special_tokens=False)
        trajectory = await self._tool_loop(sampling_params, seed, request_id=f"{row['uid']}-{row['session_id']}").run(
            prompt_ids
        )
        answer = final_answer(trajectory, self.shared.config)
        gold = row["reward_model"]["ground_truth"]
        grade = await self._grade(trajectory, gold, answer)
        reward = None
        if grade.correct is not None:
            reward = reward_of(
                trajectory, correct=grade.correct, answered=answer is not None, config=self.shared.config
            )
        self.shared.write(
            trajectory_row(
                trajectory,
                experiment=self.shared.config.experiment,
                step=policy_step,
                benchmark="train",
                problem_id=row["problem_id"],
                sample_index=int(row["session_id"]),
                seed=seed,
                question=row["question"],
                gold=gold,
                answer=answer,
                correct=grade.correct,
                reward=reward,
                seconds=time.monotonic() - started,
            )
        )
        if reward is None:
            return []
        return self._sample(trajectory, reward, grade, policy_step=policy_step, seconds=time.monotonic() - started)

    def _tool_loop(self, sampling_params: dict[str, Any], seed: int, request_id: str) -> ToolLoop:
        eos_ids = end_token_ids(self.config.actor_rollout_ref.model.path, self.tokenizer)

        async def generate(ids: list[int], max_tokens: int, stop: tuple[str, ...], turn: int) -> Generation:
            output = await self.server_manager.generate(
                request_id=request_id,
                prompt_ids=ids,
                sampling_params=sampling_params
                | {
                    "max_tokens": max_tokens,
                    "stop": list(stop),
                    "stop_token_ids": sorted(eos_ids),
                    "include_stop_str_in_output": True,
                    "seed": stable_seed(seed, turn),
                },
            )
            return Generation(token_ids=list(output.token_ids), log_probs=list(output.log_probs or []))

        return make_tool_loop(
            self.shared.config,
            tokenizer=self.tokenizer,
            eos_ids=eos_ids,
            generate=generate,
            execute=self.shared.sandbox.run,
            rank=self.shared.rank,
        )

    async def _grade(self, trajectory: Trajectory, gold: str, answer: str | None) -> Grade:
        if trajectory.stop_reason is StopReason.SANDBOX_FAILED:
            return Grade(correct=None, rule="sandbox_failed", seconds=0.0)
        if answer is None:
            return Grade(correct=False, rule="no_answer", seconds=0.0)
        return await self.shared.grader.grade(gold, answer)

    def _sample(
        self, trajectory: Trajectory, reward: float, grade: Grade, *, policy_step: int, seconds: float
    ) -> AgentLoopOutput:
        masked = self.shared.config.rollout.mask_observations
        tool_seconds = sum(call.seconds for call in trajectory.calls)
        return AgentLoopOutput(
            prompt_ids=trajectory.prompt_ids,
            response_ids=trajectory.response_ids,
            response_mask=trajectory.mask if masked else [1] * len(trajectory.response_ids),
            response_logprobs=trajectory.log_probs,
            reward_score=reward,
            num_turns=1 + 2 * len(trajectory.calls),
            metrics=AgentLoopMetrics(
                generate_sequences=seconds - tool_seconds - grade.seconds,
                tool_calls=tool_seconds,
                compute_score=grade.seconds,
            ),
            extra_fields={
                "reward_extra_info": {"acc": float(bool(grade.correct))},
                "turn_scores": [],
                "tool_rewards": [],
                "min_global_steps": policy_step,
                "max_global_steps": policy_step,
            },
        )
