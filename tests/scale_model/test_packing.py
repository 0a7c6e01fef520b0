"""Token rows: what is learned is what the model writes, and packed documents do not see each other."""

import pytest
import torch

from torl.rollout.trajectory import Segment
from torl.scale_model.corpus import CorpusMix, Document, write_corpus
from torl.scale_model.fitting import batch_loss
from torl.scale_model.packing import attention_mask, collate, encode, pack
from torl.scale_model.pretrain import new_model
from torl.scale_model.settings import Settings
from torl.scale_model.tokenizer import train_tokenizer

LENGTH = 256


@pytest.fixture(scope="module")
def documents():
    return list(write_corpus(300, 1, CorpusMix()))


@pytest.fixture(scope="module")
def tokenizer(documents):
    return train_tokenizer((document.text for document in documents), 500)


@pytest.fixture(scope="module")
def examples(documents, tokenizer):
    return encode(documents, tokenizer)


def test_what_is_learned_is_the_models_text_and_the_end(documents, examples, tokenizer):
    for document, example in zip(documents, examples, strict=True):
        learned = [token for token, flag in zip(example.ids, example.learned, strict=True) if flag]
        written = "".join(segment.text for segment in document.segments if segment.kind == "model")
        assert tokenizer.decode(learned) == written + tokenizer.eos_token


def test_segments_are_tokenised_alone_as_the_rollout_does(tokenizer, documents):
    document = next(document for document in documents if document.has_code)
    (example,) = encode([document], tokenizer)
    pieces = [document.prompt, *(segment.text for segment in document.segments)]
    alone = [token for piece in pieces for token in tokenizer.encode(piece, add_special_tokens=False)]
    assert example.ids == [*alone, tokenizer.eos_token_id]


def test_every_document_is_packed_once_and_no_row_is_too_long(examples):
    rows = pack(examples, LENGTH)
    assert sorted(example for row in rows for example in row) == sorted(examples)
    assert max(sum(len(example.ids) for example in row) for row in rows) <= LENGTH


def test_hardly_any_of_a_row_is_padding(examples):
    rows = pack(examples, LENGTH)
    assert sum(len(example.ids) for row in rows for example in row) > 0.9 * LENGTH * len(rows)


def test_a_document_longer_than_a_row_is_left_out(tokenizer, documents):
    long = Document(fact=documents[0].fact, prompt="x" * 500, segments=(Segment("model", "y"),))
    examples = encode([documents[0], long, documents[1]], tokenizer)
    assert pack(examples, LENGTH) == [[examples[0], examples[2]]]


def test_a_batch_counts_positions_from_zero_in_each_document(examples):
    row = pack(examples, LENGTH)[0]
    batch = collate([row], LENGTH, pad_id=0)
    starts = [index for index in range(LENGTH) if batch.positions[0, index] == 0 and batch.documents[0, index] >= 0]
    sizes = [len(example.ids) for example in row]
    assert starts == [sum(sizes[:index]) for index in range(len(row))]
    assert batch.learned.sum() == sum(sum(example.learned) for example in row)


def test_a_token_sees_itself_and_what_stands_before_it_in_its_document():
    mask = attention_mask(torch.tensor([[0, 0, 1, 1, -1]]))[0, 0]
    assert mask.tolist() == [
        [True, False, False, False, False],
        [True, True, False, False, False],
        [False, False, True, False, False],
        [False, False, True, True, False],
        [False, False, False, False, True],
    ]


def test_the_loss_of_packed_documents_is_the_sum_of_their_own(examples, tokenizer):
    model = new_model(Settings(hidden=32, intermediate=64, layers=2), tokenizer)
    row = pack(examples, LENGTH)[0]
    with torch.no_grad():
        together = batch_loss(model, collate([row], LENGTH, 0))
        alone = sum(batch_loss(model, collate([[example]], LENGTH, 0)) for example in row)
    assert together.item() == pytest.approx(alone.item(), rel=1e-5)
