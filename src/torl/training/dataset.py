"""The training set as verl reads it: ToRL's parquet rows with the prompt of this run already rendered.

Differs from ToRL: a prompt over the limit is an error that names its problem, because the filter has already removed those.
"""

from typing import Any

from omegaconf import DictConfig, ListConfig
from torch.utils.data import Dataset
from transformers import PreTrainedTokenizerBase

from torl.errors import DataError
from torl.files import read_table
from torl.rollout.prompts import render

COLUMNS = ["data_source", "prompt", "reward_model", "extra_info"]


class ToolProblems(Dataset):
    """Rows for the agent loop: ``raw_prompt`` (one user message with the whole prompt), problem id, question, gold answer.

    verl constructs it; ``config`` is its ``data`` section with ``torl_prompt`` added.
    """

    def __init__(
        self,
        data_files: str | ListConfig,
        tokenizer: PreTrainedTokenizerBase,
        config: DictConfig,
        processor: object = None,
        max_samples: int = -1,
    ) -> None:
        paths = [data_files] if isinstance(data_files, str) else list(data_files)
        rows = [row for path in paths for row in read_table(path, columns=COLUMNS)]
        self.rows = [self._item(row, index, config) for index, row in enumerate(rows)]
        if max_samples > 0:
            self.rows = self.rows[:max_samples]
        for row in self.rows:
            length = len(tokenizer.encode(row["raw_prompt"][0]["content"], add_special_tokens=False))
            if length > config.max_prompt_length:
                raise DataError(
                    f"problem {row['problem_id']} makes a prompt of {length} tokens, over rollout.max_prompt_tokens "
                    f"{config.max_prompt_length}; filter the problems again with this base model's tokenizer."
                )

    @staticmethod
    def _item(row: dict[str, Any], index: int, config: DictConfig) -> dict[str, Any]:
        question = next(turn["content"] for turn in row["prompt"] if turn["role"] == "user")
        return {
            "raw_prompt": [{"role": "user", "content": render(config.torl_prompt, question)}],
            "problem_id": row["extra_info"]["id"],
            "question": question,
            "reward_model": row["reward_model"],
            "data_source": row["data_source"],
            "index": index,
        }

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return dict(self.rows[index])
