"""Documents as token rows: each segment tokenised on its own as in the rollout, rows packed so that little is padding."""

from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from torl.scale_model.corpus import Document

OPEN_ROWS = 64
"""Rows that may still be filled: enough that about 2 % of the tokens are padding."""


class Example(NamedTuple):
    """A document in tokens."""

    ids: list[int]
    learned: list[bool]
    """True on the tokens that the model writes, the end of text included; the same length as ``ids``."""


class Batch(NamedTuple):
    """Rows of packed documents, all of shape (B, L)."""

    ids: Tensor
    learned: Tensor
    positions: Tensor
    """Place within the document, from 0."""
    documents: Tensor
    """Number of the document within the row; -1 on padding."""


def encode(documents: Sequence[Document], tokenizer: PreTrainedTokenizerBase) -> list[Example]:
    """The tokens of each document, segment by segment."""
    texts = [[document.prompt, *(segment.text for segment in document.segments)] for document in documents]
    pieces = iter(tokenizer(list(chain.from_iterable(texts)), add_special_tokens=False)["input_ids"])
    return [_example(document, pieces, tokenizer.eos_token_id) for document in documents]


def _example(document: Document, pieces: Iterator[list[int]], end: int) -> Example:
    """One document from the next ``1 + segments`` pieces."""
    ids = list(next(pieces))
    learned = [False] * len(ids)
    for segment in document.segments:
        piece = next(pieces)
        ids += piece
        learned += [segment.kind == "model"] * len(piece)
    return Example([*ids, end], [*learned, True])


def pack(examples: Sequence[Example], length: int) -> list[list[Example]]:
    """Examples in rows of at most ``length`` tokens, nearly in their order; longer ones are left out.

    Each goes to the fullest of the last ``OPEN_ROWS`` rows that has room for it, or to a new row.
    """
    rows: list[list[Example]] = []
    room: list[int] = []
    for example in examples:
        size = len(example.ids)
        if size > length:
            continue
        fitting = [index for index in range(max(0, len(rows) - OPEN_ROWS), len(rows)) if room[index] >= size]
        if not fitting:
            rows.append([])
            room.append(length)
            fitting = [len(rows) - 1]
        best = min(fitting, key=room.__getitem__)
        rows[best].append(example)
        room[best] -= size
    return rows


def collate(rows: Sequence[list[Example]], length: int, pad_id: int) -> Batch:
    """Rows as tensors of shape (B, ``length``)."""
    shape = (len(rows), length)
    ids, learned = torch.full(shape, pad_id), torch.zeros(shape, dtype=torch.bool)
    positions, documents = torch.zeros(shape, dtype=torch.long), torch.full(shape, -1)
    for number, row in enumerate(rows):
        start = 0
        for index, example in enumerate(row):
            span = slice(start, start + len(example.ids))
            ids[number, span] = torch.tensor(example.ids)
            learned[number, span] = torch.tensor(example.learned)
            positions[number, span] = torch.arange(len(example.ids))
            documents[number, span] = index
            start = span.stop
    return Batch(ids, learned, positions, documents)


def attention_mask(documents: Tensor) -> Tensor:
    """(B, 1, L, L), True where a token may look: at itself and at what stands before it in its document."""
    length = documents.shape[1]
    same = documents[:, :, None] == documents[:, None, :]
    return (same & torch.ones(length, length, dtype=torch.bool).tril())[:, None]


def shuffled(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples in an order that depends on ``seed`` alone."""
    return Random(seed).sample(examples, len(examples))
