"""The tool loop of a configuration and the answer of its trajectories: training and evaluation take both from here, so that they
cannot differ."""

from torl.config.models import RunConfig
from torl.grading import extract_answer
from torl.quirks import GradingQuirk, RolloutQuirk
from torl.rollout.hooks import RolloutLimits, Tokenizer
from torl.rollout.loop import Execute, Generate, ToolLoop
from torl.rollout.release import Rank, release_hooks, release_protocol
from torl.rollout.release_observation import give_up_after, make_observe
from torl.rollout.trajectory import Trajectory

RELEASE_NESTING = 3  # levels of braces inside a box that the release reads
BOX = "\\boxed{"


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
        return last_box(trajectory.text)
    return extract_answer(config.rollout.protocol.prose(trajectory.model_text))


def last_box(text: str) -> str | None:
    """The content of the last box anywhere in ``text`` with its braces nested at most ``RELEASE_NESTING`` deep."""
    answer, position = None, 0
    while (start := text.find(BOX, position)) >= 0:
        start = position = start + len(BOX)
        end = _box_end(text, start)
        if end is not None:
            answer, position = text[start:end], end
    return answer


def _box_end(text: str, start: int) -> int | None:
    """Where the brace that was opened before ``start`` is closed; None where it is not, or nests too deep."""
    depth, position = 0, start
    while position < len(text):
        if text.startswith(("\\{", "\\}"), position):
            position += 1
        elif text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
        if depth < 0:
            return position
        if depth > RELEASE_NESTING:
            return None
        position += 1
    return None
