"""A small text generator on top of transformers, for machines without a GPU.

Batches have a fixed number of rows and prompt widths in steps of ``PROMPT_STEP``: the shape of every matrix product depends on the
request alone, and so does its result. Together with a seed per request this makes a response independent of what else happens
to be in the batch, which vLLM does not promise.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from torl.errors import ModelServerError
from torl.rollout.loop import Generation
from torl.serving.end_tokens import end_token_ids
from torl.serving.request import SamplingRequest

PROMPT_STEP = 32  # tokens; prompts are padded to a multiple of it
STOP_SLACK = 8  # tokens decoded beyond the bytes of a stop string, each of which may be a token


def width(request: SamplingRequest) -> int:
    """Prompt length rounded up to a multiple of ``PROMPT_STEP``; only equal widths share a batch."""
    return -(-len(request.prompt_ids) // PROMPT_STEP) * PROMPT_STEP


class TransformersEngine:
    """Generates for batches of at most ``rows`` requests."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: int, eos_ids: frozenset[int]
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.rows = rows
        self.eos_ids = eos_ids
        self._pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(self.eos_ids)

    @classmethod
    def load(cls, model_dir: Path | str, rows: int) -> "TransformersEngine":
        """Load a Hugging Face folder in fp32.

        Raises:
            ModelServerError: the folder holds no model that transformers can read.
        """
        try:
            model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
            tokenizer = AutoTokenizer.from_pretrained(model_dir)
        except (OSError, ValueError) as error:
            raise ModelServerError(
                f"{model_dir} holds no model that transformers can load ({error}); make or export it again."
            ) from error
        return cls(model, tokenizer, rows, end_token_ids(str(model_dir), tokenizer))

    def load_weights(self, weights: dict[str, torch.Tensor]) -> None:
        """Replace the weights in place; a tied output layer may be left out.

        Raises:
            ModelServerError: a name is unknown, or a parameter is missing.
        """
        tied = {"lm_head.weight"} if self.model.config.tie_word_embeddings else set()
        weights = {name: tensor for name, tensor in weights.items() if name not in tied}
        missing, unknown = self.model.load_state_dict(weights, strict=False)
        missing = set(missing) - tied
        if missing or unknown:
            raise ModelServerError(
                f"synced weights lack {sorted(missing)} and have unknown {sorted(unknown)}; trainer and server must load one model."
            )

    def generate(self, requests: Sequence[SamplingRequest]) -> list[Generation]:
        """Generate one turn per request, in the order given."""
        results = dict(self.stream(requests))
        return [results[index] for index in range(len(requests))]

    @torch.inference_mode()
    def stream(self, requests: Sequence[SamplingRequest]) -> Iterator[tuple[int, Generation]]:
        """Generate one turn per request and yield each with its index as soon as it has ended."""
        by_width: dict[int, list[int]] = defaultdict(list)
        for index, request in enumerate(requests):
            by_width[width(request)].append(index)
        for indices in by_width.values():
            for start in range(0, len(indices), self.rows):
                chunk = indices[start : start + self.rows]
                for row, generation in _Batch([requests[index] for index in chunk], self).run():
                    yield chunk[row], generation

    def stopped(self, ids: list[int], stop: tuple[str, ...]) -> bool:
        """Whether one of ``stop`` has just been completed."""
        if not stop:
            return False
        longest = max(len(marker.encode()) for marker in stop)
        tail = self.tokenizer.decode(ids[-longest - STOP_SLACK :], skip_special_tokens=True)
        return any(marker in tail for marker in stop)


class _Batch:
    """One batch being decoded: row i belongs to request i, further rows are padding."""

    def __init__(self, requests: Sequence[SamplingRequest], engine: TransformersEngine) -> None:
        self.requests = requests
        self.engine = engine
        columns, rows = width(requests[0]), engine.rows
        self.ids = torch.full((rows, columns), engine._pad_id)
        self.attention = torch.zeros((rows, columns), dtype=torch.long)
        self.attention[:, -1] = 1  # a padding row attends to one token, so that no softmax is over nothing
        for row, request in enumerate(requests):
            length = len(request.prompt_ids)
            self.ids[row, columns - length :] = torch.tensor(request.prompt_ids)
            self.attention[row, columns - length :] = 1
        self.steps = max(request.max_tokens for request in requests)
        self.draws = torch.full((rows, self.steps), 0.5)
        for row, request in enumerate(requests):
            generator = torch.Generator().manual_seed(request.seed)
            self.draws[row, : request.max_tokens] = torch.rand(request.max_tokens, generator=generator)
        self.temperature = torch.ones(rows)
        self.top_p = torch.ones(rows)
        for row, request in enumerate(requests):
            self.temperature[row] = request.temperature or 1.0
            self.top_p[row] = request.top_p
        self.greedy = torch.tensor([r.temperature == 0 for r in requests] + [True] * (rows - len(requests)))

    def run(self) -> Iterator[tuple[int, Generation]]:
        """Decode until every request has ended; yield each row when it does."""
        token_ids: list[list[int]] = [[] for _ in self.requests]
        log_probs: list[list[float]] = [[] for _ in self.requests]
        active = set(range(len(self.requests)))
        for step, (tokens, logs) in enumerate(self._decode()):
            for row in sorted(active):
                token_ids[row].append(tokens[row])
                log_probs[row].append(logs[row])
                request = self.requests[row]
                ended = tokens[row] in self.engine.eos_ids or step + 1 == request.max_tokens
                if ended or self.engine.stopped(token_ids[row], request.stop):
                    active.remove(row)
                    yield row, Generation(token_ids=token_ids[row], log_probs=log_probs[row])
            if not active:
                break

    def _decode(self) -> Iterator[tuple[list[int], list[float]]]:
        """Yield the next token and its log-probability of every row, step by step."""
        cache, ids = None, self.ids
        for step in range(self.steps):
            positions = (self.attention.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            output = self.engine.model(
                input_ids=ids,
                attention_mask=self.attention,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            cache = output.past_key_values
            tokens, logs = self._sample(output.logits[:, -1, :].float(), self.draws[:, step])
            yield tokens.tolist(), logs.tolist()
            ids = tokens[:, None]
            self.attention = torch.cat([self.attention, self.attention.new_ones(len(tokens), 1)], dim=1)

    def _sample(self, logits: torch.Tensor, draws: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Inverse-CDF sampling with one uniform draw a row; (rows, vocabulary) -> (rows,), (rows,)."""
        log_p = torch.log_softmax(logits / self.temperature[:, None], dim=-1)
        sorted_p, order = log_p.exp().sort(dim=-1, descending=True, stable=True)
        cumulative = sorted_p.cumsum(-1)
        kept = (cumulative - sorted_p) < self.top_p[:, None]  # the first token is always kept
        mass = (sorted_p * kept).sum(-1)
        rank = torch.searchsorted(cumulative, (draws * mass)[:, None], right=True).squeeze(-1)
        rank = torch.minimum(rank, kept.sum(-1) - 1)
        rank = torch.where(self.greedy, torch.zeros_like(rank), rank)
        tokens = order.gather(-1, rank[:, None]).squeeze(-1)
        return tokens, log_p.gather(-1, tokens[:, None]).squeeze(-1)


class BatchingServer:
    """Collects the requests of many coroutines and generates for them together, one batch at a time.

    A coroutine gets its turn as soon as that has ended, so that its code runs while the rest of the batch goes on and its
    next turn is in the next batch. A batch begins once it is full or nobody came for ``linger_s``.
    """

    def __init__(self, engine: TransformersEngine, linger_s: float = 0.02) -> None:
        self.engine = engine
        self.tokenizer = engine.tokenizer
        self.eos_ids = engine.eos_ids
        self._linger_s = linger_s
        self._waiting: list[tuple[SamplingRequest, asyncio.Future[Generation]]] = []
        self._running: asyncio.Task[None] | None = None

    async def generate(self, request: SamplingRequest) -> Generation:
        """Generate one turn."""
        future: asyncio.Future[Generation] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._running is None:
            self._running = asyncio.create_task(self._serve())
        return await future

    async def close(self) -> None:
        """Stop serving; requests still waiting are cancelled."""
        if self._running is not None:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running
        for _, future in self._waiting:
            future.cancel()

    async def _serve(self) -> None:
        while self._waiting:
            await self._company()
            batch, self._waiting = self._waiting[: self.engine.rows], self._waiting[self.engine.rows :]
            await self._answer(batch)
        self._running = None

    async def _company(self) -> None:
        """Wait for further requests while they keep coming and there is room."""
        before = 0
        while before < len(self._waiting) < self.engine.rows:
            before = len(self._waiting)
            await asyncio.sleep(self._linger_s)

    async def _answer(self, batch: list[tuple[SamplingRequest, asyncio.Future[Generation]]]) -> None:
        loop = asyncio.get_running_loop()

        def run() -> None:
            for index, generation in self.engine.stream([request for request, _ in batch]):
                loop.call_soon_threadsafe(_settle, batch[index][1], generation)

        # As a value: whatever it is, the coroutines that wait for this batch must learn of it, or they wait for ever.
        (error,) = await asyncio.gather(asyncio.to_thread(run), return_exceptions=True)
        if error is not None:
            failure = ModelServerError(
                f"generation failed ({type(error).__name__}: {error}); check model and prompt ids."
            )
            for _, future in batch:
                if not future.done():
                    future.set_exception(failure)


def _settle(future: asyncio.Future[Generation], generation: Generation) -> None:
    if not future.done():
        future.set_result(generation)
