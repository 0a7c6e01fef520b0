"""A response ends at every token that the model's own files name, whatever serves the model."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from transformers import GenerationConfig, PreTrainedTokenizerFast

from tests.rollout.script import ScriptedSandbox, rollout
from tests.tiny_model import make_tokenizer
from torl.errors import ModelServerError
from torl.files import read_json, write_json
from torl.rollout.loop import Generation, ToolLoop
from torl.rollout.release import Rank
from torl.rollout.setup import make_tool_loop
from torl.rollout.trajectory import StopReason
from torl.serving.end_tokens import end_token_ids
from torl.serving.request import SamplingRequest
from torl.serving.transformers_engine import TransformersEngine

TOKENIZER = make_tokenizer()
EOS = TOKENIZER.eos_token_id
OTHER = TOKENIZER.convert_tokens_to_ids("z")  # plays the second end token


@pytest.fixture
def model(tiny_model: Path, tmp_path: Path) -> Path:
    shutil.copytree(tiny_model, tmp_path / "model")
    return tmp_path / "model"


def declare(model: Path, file: str, ids: Any) -> None:
    write_json(model / file, read_json(model / file) | {"eos_token_id": ids})


def test_the_end_tokens_are_those_of_the_generation_config_and_the_tokenizer_s(model: Path) -> None:
    declare(model, "generation_config.json", [OTHER, OTHER + 1])
    assert end_token_ids(str(model), TOKENIZER) == {EOS, OTHER, OTHER + 1}


def test_a_model_without_a_generation_config_ends_where_its_config_says(model: Path) -> None:
    (model / "generation_config.json").unlink()
    declare(model, "config.json", OTHER)
    assert end_token_ids(str(model), TOKENIZER) == {EOS, OTHER}


def test_the_config_does_not_count_beside_a_generation_config(model: Path) -> None:
    declare(model, "config.json", OTHER)
    assert end_token_ids(str(model), TOKENIZER) == {EOS}


def test_a_model_that_nothing_ends_and_one_that_is_not_there_are_named(model: Path) -> None:
    GenerationConfig().save_pretrained(model)
    with pytest.raises(ModelServerError, match="names no end token; add eos_token_id"):
        end_token_ids(str(model), PreTrainedTokenizerFast(tokenizer_object=TOKENIZER.backend_tokenizer))
    with pytest.raises(ModelServerError, match="make or export it again"):
        end_token_ids(str(model / "nowhere"), TOKENIZER)


def test_the_transformers_server_ends_a_response_at_a_token_that_only_the_generation_config_lists(model: Path) -> None:
    prompt = tuple(TOKENIZER.encode("What is 3 + 4?"))
    request = SamplingRequest(prompt_ids=prompt, max_tokens=12, temperature=1.0, top_p=1.0, stop=(), seed=3)
    (free,) = TransformersEngine.load(model, rows=1).generate([request])
    declare(model, "generation_config.json", [EOS, free.token_ids[5]])
    ended = TransformersEngine.load(shutil.copytree(model, model.with_name("other")), rows=1)
    (generation,) = ended.generate([request])
    assert generation.token_ids == free.token_ids[: free.token_ids.index(free.token_ids[5]) + 1]


def test_a_response_that_ends_at_a_further_end_token_is_an_answer_and_is_kept_as_it_was_sampled() -> None:
    ids = [*TOKENIZER.encode("So \\boxed{7}."), OTHER]

    async def generate(*_: Any) -> Generation:
        return Generation(token_ids=ids, log_probs=[-1.0] * len(ids))

    def loop(eos_ids: set[int]) -> ToolLoop:
        return make_tool_loop(
            rollout(),
            tokenizer=TOKENIZER,
            eos_ids=frozenset(eos_ids),
            generate=generate,
            execute=ScriptedSandbox(),
            rank=Rank(),
        )

    trajectory = asyncio.run(loop({EOS, OTHER}).run([EOS]))
    assert (trajectory.stop_reason, trajectory.response_ids) == (StopReason.ANSWERED, ids)
    assert trajectory.mask == [1] * len(ids)
    with pytest.raises(ModelServerError, match="without an end token"):
        asyncio.run(loop({EOS}).run([EOS]))


def test_every_server_and_the_training_loop_take_the_end_tokens_from_one_place() -> None:
    source = Path(__file__).parents[2] / "src" / "torl"
    takers = {path.name for path in source.rglob("*.py") if "end_token_ids(" in path.read_text(encoding="utf-8")}
    assert takers == {"end_tokens.py", "transformers_engine.py", "vllm_engine.py", "agent_loop.py"}
