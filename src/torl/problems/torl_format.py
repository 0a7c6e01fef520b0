"""Problems as the training file that ToRL and verl read.

Columns: ``data_source``, ``prompt`` (system and user turn), ``ability``, ``reward_model`` {``ground_truth``,
``style``}, ``extra_info`` {``id``, ``split``, ``index``, ``source``}.

Differs from ToRL: the release writes ``stype`` where verl reads ``style``, has ``other`` for the ability, and keeps a
random id instead of one that depends on the problem.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from torl.files import write_table
from torl.problems.schema import Problem

SYSTEM_PROMPT = "Please reason step by step, and put your final answer within \\boxed{}."
"""The system turn of the released file. ToRL's prompt templates leave it out; they fill in the user turn alone."""

TORL_SCHEMA = pa.schema(
    [
        ("data_source", pa.string()),
        ("prompt", pa.list_(pa.struct([("content", pa.string()), ("role", pa.string())]))),
        ("ability", pa.string()),
        ("reward_model", pa.struct([("ground_truth", pa.string()), ("style", pa.string())])),
        (
            "extra_info",
            pa.struct([("id", pa.string()), ("split", pa.string()), ("index", pa.int64()), ("source", pa.string())]),
        ),
    ]
)


def torl_row(problem: Problem, *, index: int, split: str) -> dict[str, Any]:
    """The row of ``TORL_SCHEMA`` for ``problem``, the ``index``-th of its file."""
    return {
        "data_source": problem.source,
        "prompt": [{"content": SYSTEM_PROMPT, "role": "system"}, {"content": problem.text, "role": "user"}],
        "ability": "math",
        "reward_model": {"ground_truth": problem.answer, "style": "rule"},
        "extra_info": {"id": problem.id, "split": split, "index": index, "source": problem.origin},
    }


def write_torl(path: Path | str, problems: Sequence[Problem], *, split: str = "train") -> None:
    """Write ``problems`` in order as a training file, atomically."""
    rows = [torl_row(problem, index=index, split=split) for index, problem in enumerate(problems)]
    write_table(path, rows, TORL_SCHEMA)
