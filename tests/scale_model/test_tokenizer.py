"""The tokenizer loses nothing, and prompts and fences are cheap."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from torl.files import read_table
from torl.rollout.prompts import render
from torl.scale_model.corpus import CorpusMix, write_corpus
from torl.scale_model.tokenizer import FENCES, train_tokenizer

ENTRIES = 600


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer((document.text for document in write_corpus(1500, 1, CorpusMix())), ENTRIES)


def round_trip(tokenizer, text: str) -> str:
    return tokenizer.decode(tokenizer.encode(text, add_special_tokens=False))


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_round_trips_in_composed_form(tokenizer, text):
    assert round_trip(tokenizer, text) == unicodedata.normalize("NFC", text)


@given(parts=st.lists(st.sampled_from([*FENCES, "```", "``", "python", "output", "\n", " ", "12", "\\boxed{", "}"])))
def test_fences_in_any_company_round_trip(tokenizer, parts):
    assert round_trip(tokenizer, "".join(parts)) == "".join(parts)


def test_real_problems_round_trip(tokenizer, shared_data):
    path = next(iter(sorted(shared_data.rglob("*.parquet"))), None)
    if path is None:
        pytest.skip(f"no parquet file under {shared_data}")
    for row in read_table(path)[:200]:
        for value in row.values():
            if isinstance(value, str):
                assert round_trip(tokenizer, value) == unicodedata.normalize("NFC", value)


def test_vocabulary_has_the_size_that_was_asked_for(tokenizer):
    assert len(tokenizer) == ENTRIES
    assert sorted(tokenizer.get_vocab().values()) == list(range(ENTRIES))


def test_digits_are_tokens_of_their_own(tokenizer):
    assert [tokenizer.decode([i]) for i in tokenizer.encode("print(1234+56)")][-8:] == [*"1234", "+", *"56", ")"]


@pytest.mark.parametrize("prompt", ["tir_base_0309", "cot_base"])
def test_a_prompt_costs_two_tokens_more_than_its_problem(tokenizer, prompt):
    problem = "What is 38 + 47?"
    alone = tokenizer.encode(problem, add_special_tokens=False)
    assert tokenizer.encode(render(prompt, problem), add_special_tokens=False)[1:-1] == alone


@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_is_one_token(tokenizer, fence):
    assert len(tokenizer.encode(fence, add_special_tokens=False)) == 1


def test_end_of_text_is_also_padding_and_cannot_be_written_by_an_observation(tokenizer):
    assert tokenizer.eos_token == tokenizer.pad_token == "<|endoftext|>"
    written = tokenizer.encode("<|endoftext|>", add_special_tokens=False, split_special_tokens=True)
    assert tokenizer.eos_token_id not in written


def test_what_transformers_loads_from_a_folder_is_the_same_tokenizer(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "qwen2"}')
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    for document in write_corpus(50, 2, CorpusMix()):
        assert loaded.encode(document.text) == tokenizer.encode(document.text)
    assert len(loaded) == len(tokenizer)
