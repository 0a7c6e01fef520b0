"""One evaluation job: model server, sandbox and grader around ``Evaluator``."""

import asyncio
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm
from transformers import PreTrainedTokenizerBase

from torl.config.models import RunConfig
from torl.errors import DataError
from torl.evaluation.evaluate import Evaluator, KeptRows, Row
from torl.files import read_json, sha256_of
from torl.problems.schema import Problem, read_problems
from torl.problems.sieve import RESERVED_TOKENS
from torl.rollout.prompts import render
from torl.rollout.setup import make_grader
from torl.sandbox.alarm import FailureAlarm
from torl.sandbox.client import SandboxClient
from torl.sandbox.launcher import sandboxes
from torl.serving.request import ModelServer

ROWS_PER_BATCH = 128  # of the transformers server; a decoding step costs little more for more rows


def evaluate(config: RunConfig, export: Path, benchmark: str, problems_file: Path, kept_file: Path) -> list[Row]:
    """Rows of one policy on one benchmark; finished rows of an interrupted evaluation are taken from ``kept_file``.

    Raises:
        DataError: the benchmark has no questions.
        SandboxError, ModelServerError: the job cannot go on.
    """
    problems = read_problems(problems_file)[: config.evaluation.limit]
    if not problems:
        raise DataError(f"{problems_file} holds no questions; fetch the benchmark {benchmark!r} again.")
    manifest = read_json(export)
    kept = KeptRows(kept_file, _fingerprint(config, manifest, problems_file))
    with sandboxes(
        config.sandbox.url, workers=config.sandbox.workers, allow_unsafe=config.sandbox.allow_unsafe
    ) as used:
        return asyncio.run(_run(config, export.parent, manifest["step"], benchmark, problems, kept, used.urls))


async def _run(
    config: RunConfig,
    model_dir: Path,
    step: int,
    benchmark: str,
    problems: list[Problem],
    kept: KeptRows,
    urls: list[str],
) -> list[Row]:
    server = make_server(config, model_dir)
    problems = that_fit(problems, server.tokenizer, config)
    total = len(problems) * config.evaluation.samples
    with (
        make_grader(config) as grader,
        tqdm(total=total, desc=f"{benchmark} step {step}", file=sys.stderr, mininterval=2) as bar,
    ):
        async with SandboxClient(urls, timeout_s=config.sandbox.timeout_seconds, alarm=FailureAlarm()) as sandbox:
            evaluator = Evaluator(config=config, step=step, server=server, sandbox=sandbox, grader=grader)
            try:
                return await evaluator.run(benchmark, problems, kept, bar.update)
            finally:
                await server.close()


def that_fit(problems: list[Problem], tokenizer: PreTrainedTokenizerBase, config: RunConfig) -> list[Problem]:
    """The problems whose whole prompt is within the budget; a line on stderr says how many are not."""
    budget = config.evaluation.max_prompt_tokens - RESERVED_TOKENS
    prompts = [render(config.rollout.prompt, problem.text) for problem in problems]
    lengths = [len(tokenizer.encode(prompt, add_special_tokens=False)) for prompt in prompts]
    kept = [problem for problem, length in zip(problems, lengths, strict=True) if length <= budget]
    if len(kept) < len(problems):
        sys.stderr.write(f"{len(problems) - len(kept)} of {len(problems)} prompts are over {budget} tokens: left out\n")
    return kept


def make_server(config: RunConfig, model_dir: Path) -> ModelServer:
    """The model server that the configuration names."""
    if config.compute.engine == "vllm":
        from torl.serving.vllm_engine import VllmServer

        return VllmServer(
            model_dir, config.compute, config.evaluation.max_prompt_tokens + config.rollout.max_response_tokens
        )
    from torl.serving.transformers_engine import BatchingServer, TransformersEngine

    return BatchingServer(TransformersEngine.load(model_dir, ROWS_PER_BATCH))


def _fingerprint(config: RunConfig, manifest: dict[str, Any], problems_file: Path) -> str:
    """What the rows depend on: the weights, the questions, and how they are asked."""
    deciding = [
        config.seed,
        config.rollout.model_dump(mode="json"),
        config.grading.model_dump(mode="json"),
        config.evaluation.model_dump(mode="json", exclude={"benchmarks", "every", "concurrency", "limit"}),
        manifest["sha256"],
        sha256_of(problems_file),
    ]
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()
