"""The tool loop of a configuration, the answer of its trajectories, and what judges that: training and evaluation take all of
them from here, so that they cannot differ."""

from torl.config.models import RunConfig
from torl.grading import Grader, Method, Policy, extract_answer, release_answer
from torl.quirks import GradingQuirk, RolloutQuirk
from torl.rollout.hooks import RolloutLimits, Tokenizer
from torl.rollout.loop import Execute, Generate, ToolLoop
from torl.rollout.release import Rank, release_hooks, release_protocol
from torl.rollout.release_observation import give_up_after, make_observe
from torl.rollout.trajectory import Trajectory


def make_tool_loop(
    config: RunConfig,
    *,
    tokenizer: Tokenizer,
    eos_ids: frozenset[int],
    generate: Generate,
    execute: Execute,
    rank: Rank,
) -> ToolLoop:
    """A loop with the protocol, budgets, observation text and quirks of ``config``.

    ``rank`` is what the trajectories of this process share where they go through rounds together.
    """
    rollout = config.rollout
    protocol = release_protocol(rollout.protocol, rollout.quirks)
    limits = RolloutLimits(
        max_tool_calls=rollout.max_tool_calls,
        max_response_tokens=rollout.max_response_tokens,
        max_prompt_tokens=rollout.max_prompt_tokens,
    )
    if RolloutQuirk.CLIENT_TIMEOUT in rollout.quirks:
        execute = give_up_after(config.sandbox.timeout_seconds, execute)
    return ToolLoop(
        tokenizer=tokenizer,
        protocol=protocol,
        limits=limits,
        eos_ids=eos_ids,
        generate=generate,
        execute=execute,
        observe=make_observe(rollout.quirks, rollout.max_observation_characters),
        hooks=release_hooks(rollout.quirks, (tokenizer, protocol, limits), rank),
    )


def final_answer(trajectory: Trajectory, config: RunConfig) -> str | None:
    """The answer of a trajectory: the last box of what the model wrote outside code; None without one."""
    if GradingQuirk.ANSWER_ANYWHERE in config.grading.quirks:
        return release_answer(trajectory.text)
    return extract_answer(config.rollout.protocol.prose(trajectory.model_text))


def make_grader(config: RunConfig) -> Grader:
    """The grader of a configuration."""
    method = Method.RELEASE if GradingQuirk.UNDELIMITED in config.grading.quirks else Method.SOUND
    return Grader(method=method, policy=Policy.from_names(config.grading.rules_off))
