"""Plain texts are read as rows: what ran, what raised, and what came after the answer."""

import json
from pathlib import Path

import pytest

from tests.analysis.factory import text_line
from torl.analysis.__main__ import main
from torl.analysis.behaviour import behaviour
from torl.analysis.texts import read_responses, row_of_text
from torl.errors import DataError

RUN = "```python\nprint(2)\n```\n```output\n2\n```\n"
RAISED = (
    "```python\n1 / 0\n```\n```output\nTraceback (most recent call last):\nZeroDivisionError: division by zero\n```\n"
)


def test_a_block_with_output_is_a_call_and_one_without_is_only_code() -> None:
    row = row_of_text(RUN + "so it is two.\n```python\nprint(3)\n```\n\\boxed{2}")
    assert row["code_blocks"] == 2
    assert [call["outcome"] for call in row["calls"]] == ["passed"]


def test_output_that_ends_in_an_exception_is_a_failed_call() -> None:
    assert [call["outcome"] for call in row_of_text(RAISED)["calls"]] == ["raised"]


def test_a_last_line_with_an_error_name_alone_is_a_failed_call() -> None:
    row = row_of_text("```python\nx\n```\n```output\nNameError: name 'x' is not defined\n```")
    assert row["calls"][0]["outcome"] == "raised"


def test_the_word_error_inside_the_output_is_no_failure() -> None:
    row = row_of_text("```python\nx\n```\n```output\nThe standard error is 0.2\n```")
    assert row["calls"][0]["outcome"] == "passed"


def test_output_fence_far_from_code_is_no_call() -> None:
    assert row_of_text("```python\nx\n```\nI imagine\n```output\n1\n```")["calls"] == []


def test_code_after_the_answer_is_told_from_code_before() -> None:
    row = row_of_text(RUN + "\\boxed{2}\n" + RUN)
    assert [call["before_answer"] for call in row["calls"]] == [True, False]


def test_answer_is_the_last_box_with_its_braces_balanced() -> None:
    assert row_of_text("\\boxed{1} or \\boxed{\\frac{1}{2}}!")["answer"] == "\\frac{1}{2}"
    assert row_of_text("no idea")["answer"] is None


def test_box_inside_tool_output_is_no_answer() -> None:
    assert row_of_text("```python\nx\n```\n```output\n\\boxed{5}\n```\n")["answer"] is None


def test_what_a_text_cannot_tell_is_none() -> None:
    metrics = behaviour([row_of_text(RUN, correct=True)])
    assert (metrics["truncation_rate"], metrics["mean_response_tokens"], metrics["accuracy"]) == (None, None, 1.0)


def test_command_prints_the_metrics_of_a_text_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "responses.jsonl"
    path.write_text(text_line(RUN, True) + text_line("\\boxed{4}", False))
    assert main(["behaviour", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "code_ratio                  0.5000" in printed
    assert "truncation_rate                  -" in printed


def test_command_names_the_row_that_is_neither_text_nor_trajectory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "responses.jsonl"
    path.write_text(text_line(RUN) + '{"output": "x"}\n')
    assert main(["behaviour", str(path)]) == 2
    assert "row 2 has the keys output" in capsys.readouterr().err


def test_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read_responses(tmp_path / "none.jsonl")


def test_published_tool_integrated_outputs_are_read(shared_data: Path) -> None:
    lines = (shared_data / "trajectories" / "tora_examples.jsonl").read_text(encoding="utf-8").splitlines()
    metrics = behaviour([row_of_text(json.loads(line)["messages"][-1]["content"], True) for line in lines])
    assert metrics["code_ratio"] == 25 / 30
    assert metrics["executed_code_ratio"] == 1.0
    assert metrics["no_answer_rate"] == 0.0


@pytest.mark.parametrize("correct", [7, "yes", "false", 0.5])
def test_correct_is_true_false_or_null_and_nothing_else(tmp_path: Path, correct: object) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps({"text": "x", "correct": correct}))
    with pytest.raises(DataError, match=r"row 1 has .* for correct; write true, false or null"):
        read_responses(tmp_path / "r.jsonl")


@pytest.mark.parametrize("record", [{"text": 3}, {"calls": 3, "code_blocks": 1}, {"other": 1}])
def test_a_row_that_is_neither_text_nor_trajectory_says_what_is_needed(
    tmp_path: Path, record: dict[str, object]
) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(record))
    with pytest.raises(DataError, match="stop_reason"):
        read_responses(tmp_path / "r.jsonl")


def test_a_file_without_responses_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").touch()
    with pytest.raises(DataError, match="holds no responses"):
        read_responses(tmp_path / "r.jsonl")
