import sys
from pathlib import Path

import pytest

from torl.errors import GraderError
from torl.problems import answers
from torl.problems.answers import MathVerifyGrader, is_plain_number, math_verify_parses
from torl.problems.readers import ReadCounts, read_file


@pytest.mark.parametrize(
    "answer", ["5", "-2.5", "\\frac{1}{2}", "3\\sqrt{2}+1", "(1, 2)", "50^\\circ", "2^{100}", "907,200"]
)
def test_plain_numbers_need_no_parser(answer: str) -> None:
    assert is_plain_number(answer)
    assert math_verify_parses(answer)


@pytest.mark.parametrize(
    "answer", ["x+1", "10^{10^{10}}", "2^{99999}", "\\frac{1}{2", "\\text{Friday}", "", "=2", "..."]
)
def test_letters_towers_open_braces_and_answers_without_digits_go_to_the_parser(answer: str) -> None:
    assert not is_plain_number(answer)


def test_answers_are_parsed_and_compared_in_order_by_several_workers() -> None:
    with MathVerifyGrader(workers=2) as grader:
        assert grader.parse(["x+1", "\\{x|0<x<1\\}", "5\\%", "①③", "\\sqrt{40}"]) == [True, False, True, False, True]
        assert grader.same([("2\\sqrt{10}", "\\sqrt{40}"), ("3", "4")]) == [True, False]
        assert grader.parse([]) == []


def worker_program(path: Path, reply: str) -> str:
    """An executable that stands for Python: it is ready at once, and runs ``reply`` for each line it reads."""
    code = f"import os, sys, threading\nprint('true', flush=True)\nfor line in sys.stdin:\n    {reply}\n"
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("trouble", ["threading.Event().wait()", "os._exit(1)", "os.abort()"])
def test_an_answer_that_hangs_or_kills_the_parser_is_lost_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    reply = f"{trouble} if 'bad' in line else print('true', flush=True)"
    monkeypatch.setattr(answers.sys, "executable", worker_program(tmp_path / "worker", reply))
    with MathVerifyGrader(timeout_s=1.0) as grader:
        assert grader.parse(["x", "bad", "y"]) == [True, False, True]


def test_no_process_is_left_behind() -> None:
    with MathVerifyGrader() as grader:
        grader.parse(["x"])
        process = grader._workers[0]._process
    assert process.returncode is not None


def test_a_worker_that_does_not_start_is_a_grader_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers.sys, "executable", "/bin/true")
    with MathVerifyGrader() as grader, pytest.raises(GraderError, match="did not start"):
        grader.parse(["x"])


def test_real_plain_numbers_are_parsed(shared_data: Path) -> None:
    file = shared_data / "sources/fastcurl_train_L3.parquet"
    problems = read_file(file, reader="verl", source="s", counts=ReadCounts())
    plain = sorted({row.answer for row in problems if is_plain_number(row.answer) and not row.answer.isdigit()})[::20]
    assert len(plain) > 50
    assert [answer for answer in plain if not math_verify_parses(answer)] == []
