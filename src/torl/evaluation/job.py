"""One evaluation job: model server, sandbox and grader around ``Evaluator``."""

import asyncio
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from torl.config.models import RunConfig
from torl.errors import DataError
from torl.evaluation.evaluate import Evaluator, KeptRows, Row
from torl.files import read_json, sha256_of
from torl.problems.schema import Problem, read_problems
from torl.rollout.setup import make_grader
from torl.rollout.trajectory import TRAJECTORY_SCHEMA, StopReason
from torl.sandbox.alarm import FailureAlarm
from torl.sandbox.client import SandboxClient
from torl.sandbox.launcher import sandboxes
from torl.serving.request import ModelServer

ROWS_PER_BATCH = 128  # of the transformers server; a decoding step costs little more for more rows


def evaluate(config: RunConfig, export: Path, benchmark: str, problems_file: Path, kept_file: Path) -> list[Row]:
    """Rows of one policy on one benchmark, in order of question and sample; those of an interrupted evaluation are taken
    from ``kept_file``.

    Raises:
        DataError: the benchmark has no questions.
        SandboxError, ModelServerError: the job cannot go on.
    """
    rows = respond(config, export, benchmark, problems_file, kept_file, TRAJECTORY_SCHEMA.names)
    by_sample = {(row["problem_id"], row["sample_index"]): row for row in rows}
    samples = ((problem.id, i) for problem in read_problems(problems_file) for i in range(config.evaluation.samples))
    in_order = [by_sample[sample] for sample in samples if sample in by_sample]
    sys.stderr.write(not_asked(in_order, benchmark))
    return in_order


def respond(
    config: RunConfig, export: Path, benchmark: str, problems_file: Path, kept_file: Path, columns: Sequence[str]
) -> Iterator[Row]:
    """Have one policy answer every question, then yield ``columns`` of each row from ``kept_file``, in no certain order.

    Rows are in that file alone, so there may be more of them than fit into memory; ``columns`` must have ``problem_id``,
    ``sample_index`` and ``correct``.

    Raises:
        DataError: there are no questions.
        SandboxError, ModelServerError: the job cannot go on.
    """
    problems = read_problems(problems_file)[: config.evaluation.limit]
    if not problems:
        raise DataError(f"{problems_file} holds no questions; fetch the benchmark {benchmark!r} again.")
    manifest = read_json(export)
    kept = KeptRows(kept_file, _fingerprint(config, manifest, problems_file), columns)
    with sandboxes(
        config.sandbox.url, workers=config.sandbox.workers, allow_unsafe=config.sandbox.allow_unsafe
    ) as used:
        asyncio.run(_run(config, export.parent, manifest["step"], benchmark, problems, kept, used.urls))
    return kept.rows()


async def _run(
    config: RunConfig,
    model_dir: Path,
    step: int,
    benchmark: str,
    problems: list[Problem],
    kept: KeptRows,
    urls: list[str],
) -> None:
    server = make_server(config, model_dir)
    total = len(problems) * config.evaluation.samples
    with (
        make_grader(config) as grader,
        tqdm(total=total, desc=f"{benchmark} step {step}", file=sys.stderr, mininterval=2) as bar,
    ):
        async with SandboxClient(urls, timeout_s=config.sandbox.timeout_seconds, alarm=FailureAlarm()) as sandbox:
            evaluator = Evaluator(config=config, step=step, server=server, sandbox=sandbox, grader=grader)
            try:
                await evaluator.run(benchmark, problems, kept, bar.update)
            finally:
                await server.close()


def not_asked(rows: list[Row], benchmark: str) -> str:
    """A line on the questions whose prompt was over the budget; empty where there is none."""
    questions = {row["problem_id"] for row in rows}
    long = {row["problem_id"] for row in rows if row["stop_reason"] == StopReason.PROMPT_TOO_LONG}
    if not long:
        return ""
    return (
        f"{benchmark}: the prompts of {len(long)} of {len(questions)} questions are over the budget; they were not asked and "
        "count as wrong. Raise evaluation.max_prompt_tokens to ask them.\n"
    )


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
