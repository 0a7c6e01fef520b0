"""The tool loop of a configuration: training and evaluation build theirs here, so that they cannot differ."""

import functools

from torl.config.models import RolloutConfig
from torl.rollout.loop import Execute, Generate, RolloutLimits, Tokenizer, ToolLoop
from torl.rollout.protocol import get_protocol
from torl.sandbox.observation import observation_text


def make_tool_loop(
    config: RolloutConfig, *, tokenizer: Tokenizer, eos_ids: frozenset[int], generate: Generate, execute: Execute
) -> ToolLoop:
    """A loop with the protocol, budgets and observation text of ``config``."""
    return ToolLoop(
        tokenizer=tokenizer,
        protocol=get_protocol(config.protocol),
        limits=RolloutLimits(max_tool_calls=config.max_tool_calls, max_response_tokens=config.max_response_tokens),
        eos_ids=eos_ids,
        generate=generate,
        execute=execute,
        observe=functools.partial(observation_text, max_characters=config.max_observation_characters),
    )
