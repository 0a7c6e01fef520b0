from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.problems.factory import problem
from torl.files import read_table
from torl.problems.torl_format import write_torl

PROBLEMS = [problem(), problem("What is 2 + 2?", "4", source="sums", origin="f:7")]


def test_a_row_has_torls_fields(tmp_path: Path) -> None:
    write_torl(tmp_path / "train.parquet", PROBLEMS)
    row = read_table(tmp_path / "train.parquet")[1]
    assert row == {
        "data_source": "sums",
        "prompt": [
            {"content": "Please reason step by step, and put your final answer within \\boxed{}.", "role": "system"},
            {"content": "What is 2 + 2?", "role": "user"},
        ],
        "ability": "math",
        "reward_model": {"ground_truth": "4", "style": "rule"},
        "extra_info": {"id": PROBLEMS[1].id, "split": "train", "index": 1, "source": "f:7"},
    }


def test_the_form_is_that_of_the_released_test_file(tmp_path: Path, shared_data: Path) -> None:
    write_torl(tmp_path / "train.parquet", PROBLEMS)
    ours, released = (
        {field.name: field.type for field in pq.read_schema(path)}
        for path in (tmp_path / "train.parquet", shared_data / "torl/torl_test.parquet")
    )
    assert list(ours) == list(released)
    for name in ("data_source", "prompt", "ability"):
        assert str(ours[name]).replace("element", "item") == str(released[name]).replace("element", "item")
    assert [field.name for field in released["reward_model"]] == ["ground_truth", "stype"]
    assert [field.name for field in ours["reward_model"]] == ["ground_truth", "style"]
    assert {field.name for field in released["extra_info"]} <= {field.name for field in ours["extra_info"]}
    assert pa.types.is_string(ours["extra_info"].field("id").type)


def test_the_system_turn_is_that_of_the_release(tmp_path: Path, shared_data: Path) -> None:
    write_torl(tmp_path / "train.parquet", PROBLEMS)
    files = (tmp_path / "train.parquet", shared_data / "torl/torl_test.parquet")
    ours, released = (read_table(file)[0]["prompt"][0] for file in files)
    assert ours == released
