"""The tokens that end a response, read in one place so that every model server and the tool loop agree on them.

They are those that transformers and vLLM stop at: what ``generation_config.json`` lists, or ``config.json`` where a model has no
such file, and the tokenizer's own. Instruction-tuned Qwen2.5 models list ``<|im_end|>`` and ``<|endoftext|>``; their tokenizers
name the first alone.
"""

import functools

from transformers import AutoConfig, GenerationConfig, PreTrainedTokenizerBase

from torl.errors import ModelServerError


def end_token_ids(model: str, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Every id that ends a response of ``model``, a folder or hub id.

    Raises:
        ModelServerError: the model has no readable configuration, or nothing names an end token.
    """
    ids = _declared(model) | ({tokenizer.eos_token_id} - {None})
    if not ids:
        raise ModelServerError(f"{model} names no end token; add eos_token_id to its generation_config.json.")
    return ids


@functools.cache
def _declared(model: str) -> frozenset[int]:
    """What the files of ``model`` list; read once, because every trajectory asks."""
    try:
        declared = _generation_config(model).eos_token_id
    except (OSError, ValueError) as error:
        raise ModelServerError(
            f"{model} has no configuration that transformers can read ({error}); make or export it again."
        ) from error
    return frozenset({declared} if isinstance(declared, int) else declared or ())


def _generation_config(model: str) -> GenerationConfig:
    try:
        return GenerationConfig.from_pretrained(model)
    except OSError:  # the model has no such file
        return GenerationConfig.from_model_config(AutoConfig.from_pretrained(model))
