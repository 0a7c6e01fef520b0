import json
from pathlib import Path
from typing import Any

import pytest

from torl.errors import DataError
from torl.problems.readers import READERS, ReadCounts, read_file
from torl.problems.schema import Problem


def read(tmp_path: Path, rows: list[Any], reader: str) -> tuple[list[Problem], ReadCounts]:
    """Problems and counts of ``rows`` written as jsonl."""
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    counts = ReadCounts()
    return list(read_file(tmp_path / "rows.jsonl", reader=reader, source="s", counts=counts)), counts


CHAT = [{"role": "system", "content": "Box it."}, {"role": "user", "content": "What is 1 + 1?"}]


@pytest.mark.parametrize(
    ("reader", "row", "answer"),
    [
        ("numina_cot", {"problem": "What is 1 + 1?", "solution": "It is \\boxed{2}.", "source": "amc"}, "2"),
        ("numina_cot", {"problem": "What is 1 + 1?", "solution": "It is two."}, ""),
        (
            "numina_1_5",
            {"problem": "What is 1 + 1?", "answer": "proof", "question_type": "proof", "solution": None},
            "proof",
        ),
        ("math", {"problem": "What is 1 + 1?", "solution": "$\\boxed{2}$", "level": "Level 1", "type": "Algebra"}, "2"),
        ("deepscaler", {"problem": "What is 1 + 1?", "answer": "2", "solution": ""}, "2"),
        ("verl", {"prompt": CHAT, "reward_model": {"ground_truth": "2", "style": "rule"}}, "2"),
        ("verl", {"prompt": CHAT, "reward_model": {"ground_truth": ["2"], "stype": "rule"}}, "2"),
        ("verl", {"prompt": CHAT, "reward_model": {"ground_truth": {"solution": "\\boxed{2}", "target": "x"}}}, "2"),
        ("plain", {"question": "What is 1 + 1?", "final_answer": ["$1$", "2"]}, "1, 2"),
        ("plain", {"problem": "What is 1 + 1?", "answer": 27.0}, "27"),
        ("plain", {"prompt": "What is 1 + 1?", "answer": None}, ""),
        ("csv", {"Problem": "What is 1 + 1?", "Short Answer": "2", "Category": "Algebra"}, "2"),
    ],
)
def test_a_reader_gives_text_and_answer(tmp_path: Path, reader: str, row: dict[str, Any], answer: str) -> None:
    problems, _ = read(tmp_path, [row], reader)
    assert [(problem.text, problem.answer, problem.origin) for problem in problems] == [
        ("What is 1 + 1?", answer, "rows.jsonl:0")
    ]


@pytest.mark.parametrize(("error", "tolerance"), [("1e-1", 0.1), (None, None), ("0.1,0.01", None), ("0", None)])
def test_olympiadbench_s_error_is_the_tolerance(tmp_path: Path, error: str | None, tolerance: float | None) -> None:
    problems, _ = read(tmp_path, [{"question": "What is 1 + 1?", "final_answer": ["2"], "error": error}], "plain")
    assert [problem.tolerance for problem in problems] == [tolerance]


def test_an_error_column_of_another_benchmark_is_no_tolerance(tmp_path: Path) -> None:
    problems, _ = read(tmp_path, [{"question": "What is 1 + 1?", "answer": "2", "error": 1}], "plain")
    assert [problem.tolerance for problem in problems] == [None]


def test_level_subset_and_solution_are_kept(tmp_path: Path) -> None:
    row = {"problem": "What is 1 + 1?", "solution": "$\\boxed{2}$", "level": "Level 1", "type": "Algebra"}
    [problem], _ = read(tmp_path, [row], "math")
    assert (problem.level, problem.subset, problem.solution) == ("Level 1", "Algebra", "$\\boxed{2}$")


@pytest.mark.parametrize(
    ("row", "rejection"),
    [
        ({"answer": "2"}, "missing_field"),
        ({"problem": None, "answer": "2"}, "missing_field"),
        ({"problem": 7, "answer": "2"}, "wrong_type"),
        ({"problem": "q", "answer": {"value": 2}}, "wrong_type"),
        ({"problem": "q", "answer": True}, "wrong_type"),
        ({"problem": " \n", "answer": "2"}, "empty_text"),
        ({"problem": "\ud800", "answer": "2"}, "not_utf8"),
        ([1], "not_json"),
    ],
)
def test_a_malformed_row_is_counted_with_its_reason(tmp_path: Path, row: Any, rejection: str) -> None:
    problems, counts = read(tmp_path, [{"problem": "fine?", "answer": "1"}, row], "plain")
    assert len(problems) == 1
    assert counts.rows == 2
    assert dict(counts.rejected) == {rejection: 1}


@pytest.mark.parametrize("prompt", [[], [{"role": "system", "content": "x"}], [None], ["text"], [{"role": "user"}]])
def test_a_prompt_without_a_user_turn_is_counted(tmp_path: Path, prompt: Any) -> None:
    rows = [{"prompt": value, "reward_model": {"ground_truth": "2"}} for value in (CHAT, prompt)]
    problems, counts = read(tmp_path, rows, "verl")
    assert (len(problems), counts.rejected.total()) == (1, 1)


def test_a_problem_that_its_source_flags_as_invalid_is_counted(tmp_path: Path) -> None:
    rows = [{"problem": f"Find {n}.", "answer": "1", "problem_is_valid": flag} for n, flag in enumerate(["Yes", "No"])]
    problems, counts = read(tmp_path, rows, "numina_1_5")
    assert len(problems) == 1
    assert dict(counts.rejected) == {"flagged_invalid": 1}


def test_a_file_that_no_row_of_which_fits_names_fields_and_readers(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing_field 1.*fields gold, query.*choose another of numina_cot"):
        read(tmp_path, [{"query": "q", "gold": "g"}], "plain")


def test_a_file_without_rows_and_an_unknown_reader_are_data_errors(tmp_path: Path) -> None:
    (tmp_path / "none.csv").write_text("problem,answer\n")
    with pytest.raises(DataError, match="has no rows"):
        list(read_file(tmp_path / "none.csv", reader="csv", source="s", counts=ReadCounts()))
    with pytest.raises(DataError, match="'numina' is not known; accepted are"):
        list(read_file(tmp_path / "none.csv", reader="numina", source="s", counts=ReadCounts()))


def test_csv_bytes_that_are_not_utf8_are_counted(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b"problem,answer\nfine?,1\nb\xffd?,2\n")
    counts = ReadCounts()
    assert len(list(read_file(tmp_path / "r.csv", reader="csv", source="s", counts=counts))) == 1
    assert dict(counts.rejected) == {"not_utf8": 1}


REAL = [
    ("sources/fastcurl_train_L1.parquet", "verl", 24_976),
    ("sources/fastcurl_train_L3.parquet", "verl", 15_339),
    ("sources/empo_NM_20K_1010.parquet", "verl", 20_000),
    ("sources/rlvrdecomposed_math_train.parquet", "verl", 7_500),
    ("sources/rlvrdecomposed_math_test.parquet", "verl", 5_000),
    ("sources/tinyv_bigmath_rl_prime_train.parquet", "verl", 5_000),
    ("sources/imobench_proofbench_v2.csv", "csv", 60),
    ("sources/ineqmath_numina_sampled_example.json", "numina_cot", 10),
    ("sources/numina15_two_rows_transcribed.jsonl", "numina_1_5", 2),
    ("lim/limr_math.8k.json", "plain", 8_523),
    ("lim/limr_selected_train.arrow", "plain", 1_389),
    ("torl/torl_test.parquet", "verl", 374),
    ("torl/verltool_math_hard_train.parquet", "verl", 8_523),
    ("benchmarks/aime24_llmeval.jsonl", "plain", 30),
    ("benchmarks/aime24_qwen.jsonl", "plain", 30),
    ("benchmarks/aime25_llmeval.jsonl", "plain", 30),
    ("benchmarks/aime25_mathruler.jsonl", "plain", 30),
    ("benchmarks/amc23_qwen.jsonl", "plain", 40),
    ("benchmarks/math500_oneshot.jsonl", "plain", 500),
    ("benchmarks/olympiadbench_qwen.jsonl", "plain", 675),
    ("benchmarks/minerva_qwen.jsonl", "math", 272),
]


@pytest.mark.parametrize(("path", "reader", "rows"), REAL)
def test_every_row_of_the_real_files_is_read(shared_data: Path, path: str, reader: str, rows: int) -> None:
    counts = ReadCounts()
    problems = list(read_file(shared_data / path, reader=reader, source="real", counts=counts))
    assert len(problems) == rows
    assert not counts.rejected
    assert not any("output the final answer within" in problem.text for problem in problems)


def test_two_copies_of_a_benchmark_have_the_same_answers(shared_data: Path) -> None:
    for name, first, second in (("aime24", "llmeval", "qwen"), ("aime25", "llmeval", "mathruler")):
        answers = []
        for copy in (first, second):
            file = shared_data / f"benchmarks/{name}_{copy}.jsonl"
            rows = read_file(file, reader="plain", source="b", counts=ReadCounts())
            answers.append([int(row.answer) for row in rows])
        assert answers[0] == answers[1]


def test_readers_are_named_as_their_functions() -> None:
    assert list(READERS) == ["numina_cot", "numina_1_5", "math", "deepscaler", "verl", "plain", "csv"]
