"""The tokenizer of the scale model: Qwen2's, with a vocabulary of a few hundred entries learned on the corpus.

Digits are tokens of their own and every byte is an entry, so any text round-trips up to Unicode's composed form (NFC),
as with Qwen2.5. The sentences of the prompts and the fences of the tool protocol are added tokens, so that a prompt costs
hardly more than its problem and the decision to run code is one token.
"""

import re
from collections.abc import Iterable, Iterator

from tokenizers import AddedToken
from transformers import PreTrainedTokenizerBase, Qwen2Tokenizer

from torl.rollout.prompts import PROMPTS

PROMPT_NAMES = ("tir_base_0309", "cot_base")
"""The prompts that the scale model knows."""

FENCES = ("```python\n", "\n```\n```output", "```output")
MAX_LENGTH = 4096
"""Positions of the model, in tokens."""


def added_tokens() -> list[str]:
    """The fixed texts that are one token each, in the order of their ids."""
    sentences = {part for name in PROMPT_NAMES for part in PROMPTS[name]}
    return [*sorted(sentences), *FENCES]


def train_tokenizer(texts: Iterable[str], entries: int) -> PreTrainedTokenizerBase:
    """Learn merges on ``texts`` until the vocabulary, bytes and added tokens included, has ``entries`` entries.

    The vocabulary stays smaller when the texts hold too few words to merge.
    """
    added = added_tokens()
    empty = Qwen2Tokenizer(model_max_length=MAX_LENGTH, padding_side="left")
    tokenizer = empty.train_new_from_iterator(_between(added, texts), entries - len(added), show_progress=False)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in added])
    return tokenizer


def _between(added: list[str], texts: Iterable[str]) -> Iterator[str]:
    """What stands between added tokens: merges learned inside them would never be used."""
    pattern = re.compile("|".join(map(re.escape, added)))
    for text in texts:
        yield from filter(None, pattern.split(text))
