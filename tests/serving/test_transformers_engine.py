"""The small text generator: exact log-probabilities, and results that do not depend on the company in a batch."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from torl.errors import ModelServerError
from torl.rollout.loop import Generation
from torl.serving.request import SamplingRequest
from torl.serving.transformers_engine import BatchingServer, TransformersEngine


@pytest.fixture(scope="module")
def engine(tiny_model: Path) -> TransformersEngine:
    return TransformersEngine.load(tiny_model, rows=8)


def request(engine: TransformersEngine, text: str, **changes: object) -> SamplingRequest:
    values = {"max_tokens": 24, "temperature": 1.0, "top_p": 1.0, "stop": (), "seed": 7} | changes
    ids = tuple(engine.tokenizer.encode(text, add_special_tokens=False))
    return SamplingRequest(prompt_ids=ids, **values)


def test_a_response_does_not_depend_on_what_else_is_in_the_batch(engine: TransformersEngine) -> None:
    target = request(engine, "What is 3 + 4?")
    alone = engine.generate([target])[0]
    others = [request(engine, f"Another question {i}", seed=i, max_tokens=30) for i in range(7)]
    for position in (0, 3, 7):
        company = [*others[:position], target, *others[position:]]
        assert engine.generate(company)[position] == alone


def test_log_probabilities_are_those_of_the_model(engine: TransformersEngine) -> None:
    target = request(engine, "What is 3 + 4?")
    generation = engine.generate([target])[0]
    ids = torch.tensor([[*target.prompt_ids, *generation.token_ids]])
    with torch.inference_mode():
        log_p = engine.model(ids).logits.float().log_softmax(-1)[0]
    start = len(target.prompt_ids)
    expected = [log_p[start - 1 + i, token].item() for i, token in enumerate(generation.token_ids)]
    assert generation.log_probs == pytest.approx(expected, abs=1e-4)


def test_seeds_differ_and_repeat(engine: TransformersEngine) -> None:
    first, second, again = engine.generate([request(engine, "x", seed=s) for s in (1, 2, 1)])
    assert first == again
    assert first.token_ids != second.token_ids


def test_greedy_takes_the_most_likely_token(engine: TransformersEngine) -> None:
    target = request(engine, "What is 3 + 4?", temperature=0.0, max_tokens=1)
    token = engine.generate([target])[0].token_ids[0]
    with torch.inference_mode():
        logits = engine.model(torch.tensor([list(target.prompt_ids)])).logits[0, -1]
    assert token == int(logits.argmax())


def test_samples_follow_the_distribution(engine: TransformersEngine) -> None:
    requests = [request(engine, "abc", seed=seed, max_tokens=1) for seed in range(4000)]
    counts = torch.bincount(
        torch.tensor([generation.token_ids[0] for generation in engine.generate(requests)]),
        minlength=engine.model.config.vocab_size,
    )
    with torch.inference_mode():
        p = engine.model(torch.tensor([list(requests[0].prompt_ids)])).logits[0, -1].float().softmax(-1)
    top = p.topk(20).indices
    expected, seen = p[top] * len(requests), counts[top].float()
    assert (((seen - expected) ** 2) / expected).sum() < 45  # chi-square with 20 degrees of freedom, p about 0.001


def test_top_p_keeps_the_smallest_set_that_reaches_it(engine: TransformersEngine) -> None:
    with torch.inference_mode():
        ids = engine.tokenizer.encode("abc", add_special_tokens=False)
        p = engine.model(torch.tensor([ids])).logits[0, -1].float().softmax(-1)
    order = p.argsort(descending=True)
    kept = set(order[: int((p[order].cumsum(0) < 0.3).sum()) + 1].tolist())
    requests = [request(engine, "abc", seed=seed, max_tokens=1, top_p=0.3) for seed in range(500)]
    assert {generation.token_ids[0] for generation in engine.generate(requests)} <= kept


def test_generation_ends_once_the_stop_string_is_complete(engine: TransformersEngine) -> None:
    free = engine.generate([request(engine, "abc", max_tokens=40)])[0]
    text = engine.tokenizer.decode(free.token_ids[:20])
    marker = text[-2:]
    stopped = engine.generate([request(engine, "abc", max_tokens=40, stop=(marker,))])[0]
    assert stopped.token_ids == free.token_ids[: len(stopped.token_ids)]
    assert marker in engine.tokenizer.decode(stopped.token_ids)
    assert marker not in engine.tokenizer.decode(stopped.token_ids[:-1])


def test_a_stop_string_of_many_tokens_is_seen_with_its_last_one(engine: TransformersEngine) -> None:
    marker = "<end_of_what_is_to_be_executed_and_shown>"
    ids = engine.tokenizer.encode(f"Some text.\n{marker}", add_special_tokens=False)
    assert len(engine.tokenizer.encode(marker)) > 30
    assert [engine.stopped(ids[:end], (marker, "|")) for end in (len(ids) - 1, len(ids))] == [False, True]


def test_prompts_of_any_length_are_served_together(engine: TransformersEngine) -> None:
    requests = [request(engine, "ab" * length, seed=length, max_tokens=5) for length in (1, 40, 90, 300)]
    together = engine.generate(requests)
    assert together == [engine.generate([one])[0] for one in requests]


def test_weights_of_another_model_are_refused(engine: TransformersEngine) -> None:
    with pytest.raises(ModelServerError, match="one model"):
        engine.load_weights({"model.unknown": torch.zeros(1)})


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelServerError, match="no model"):
        TransformersEngine.load(tmp_path, rows=1)


def test_the_server_answers_many_coroutines_with_the_engine_s_results(engine: TransformersEngine) -> None:
    requests = [request(engine, f"question {i}", seed=i) for i in range(20)]

    async def serve() -> list[object]:
        server = BatchingServer(engine, linger_s=0.01)
        return await asyncio.gather(*[server.generate(one) for one in requests])

    assert asyncio.run(serve()) == engine.generate(requests)


def test_a_failing_batch_reaches_every_waiting_coroutine(engine: TransformersEngine) -> None:
    bad = SamplingRequest(prompt_ids=(10**6,), max_tokens=4, temperature=1.0, top_p=1.0, stop=(), seed=0)

    async def serve() -> list[object]:
        server = BatchingServer(engine, linger_s=0.01)
        return await asyncio.gather(*[server.generate(bad) for _ in range(3)], return_exceptions=True)

    assert all(isinstance(result, ModelServerError) for result in asyncio.run(serve()))


def test_a_failure_of_any_kind_reaches_whoever_waits_and_the_next_batch_is_served(engine: TransformersEngine) -> None:
    one = request(engine, "abc", max_tokens=2)

    class Fails:
        rows, tokenizer, eos_ids = 1, engine.tokenizer, engine.eos_ids
        errors: ClassVar = [KeyError("layer"), None]

        def stream(self, requests: Sequence[SamplingRequest]) -> Iterator[tuple[int, Generation]]:
            if error := self.errors.pop(0):
                raise error
            yield from engine.stream(requests)

    async def serve() -> list[object]:
        server = BatchingServer(Fails(), linger_s=0.01)
        waiting = [asyncio.create_task(server.generate(one)) for _ in range(2)]
        return await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), timeout=60)

    failed, served = asyncio.run(serve())
    assert "generation failed (KeyError: 'layer'); check model" in str(failed)
    assert served == engine.generate([one])[0]


def test_a_short_turn_is_handed_over_before_the_batch_has_ended(engine: TransformersEngine) -> None:
    short, long = request(engine, "abc", max_tokens=2), request(engine, "abd", max_tokens=200, temperature=0.0)

    async def serve() -> bool:
        server = BatchingServer(engine, linger_s=0.01)
        waiting = asyncio.create_task(server.generate(long))
        await server.generate(short)
        early = not waiting.done()
        await waiting
        return early

    assert len(engine.generate([long])[0].token_ids) > 20
    assert asyncio.run(serve())
