"""vLLM as the model server of evaluation, on one or more GPUs."""

import uuid
from pathlib import Path

from transformers import AutoTokenizer
from vllm import SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.inputs import TokensPrompt
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine.async_llm import AsyncLLM

from torl.config.models import ComputeConfig
from torl.errors import ModelServerError
from torl.rollout.loop import Generation
from torl.serving.end_tokens import end_token_ids
from torl.serving.request import SamplingRequest


class VllmServer:
    """An asynchronous vLLM engine; requests are scheduled as they come."""

    def __init__(self, model_dir: Path | str, compute: ComputeConfig, max_model_len: int) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(model_dir)
        self.eos_ids = end_token_ids(str(model_dir), self.tokenizer)
        self._engine = AsyncLLM.from_engine_args(
            AsyncEngineArgs(
                model=str(model_dir),
                max_model_len=max_model_len,
                tensor_parallel_size=compute.tensor_parallel,
                gpu_memory_utilization=compute.rollout_memory,
                enable_prefix_caching=True,
            )
        )

    async def generate(self, request: SamplingRequest) -> Generation:
        """Generate one turn.

        Raises:
            ModelServerError: vLLM returned nothing.
        """
        parameters = SamplingParams(
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            top_p=request.top_p,
            stop=list(request.stop),
            stop_token_ids=sorted(self.eos_ids),
            include_stop_str_in_output=True,
            seed=request.seed,
            logprobs=0,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        prompt = TokensPrompt(prompt_token_ids=list(request.prompt_ids))
        final = None
        async for output in self._engine.generate(prompt, parameters, request_id=uuid.uuid4().hex):
            final = output.outputs[0]
        if final is None:
            raise ModelServerError("vLLM ended a request without output; look for its error further up in this log.")
        ids = list(final.token_ids)
        log_probs = [step[token].logprob for step, token in zip(final.logprobs or [], ids, strict=True)]
        return Generation(token_ids=ids, log_probs=log_probs)

    async def close(self) -> None:
        """Stop the engine's processes."""
        self._engine.shutdown()
