"""What is asked of a model server, whichever it is."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from torl.rollout.loop import Generation


@dataclass(frozen=True, kw_only=True)
class SamplingRequest:
    """One turn to generate."""

    prompt_ids: tuple[int, ...]
    max_tokens: int
    temperature: float
    """0 is greedy."""
    top_p: float
    stop: tuple[str, ...]
    """Generation ends once one of these has been written; it stays in the result."""
    seed: int


class ModelServer(Protocol):
    """Generates for many coroutines at once."""

    tokenizer: PreTrainedTokenizerBase
    eos_ids: frozenset[int]
    """Tokens that end a response (``torl.serving.end_tokens``)."""

    def generate(self, request: SamplingRequest) -> Awaitable[Generation]:
        """Generate one turn."""
        ...

    async def close(self) -> None:
        """Give back what the server holds."""
        ...
