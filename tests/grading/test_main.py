"""``python -m torl.grading check`` reports agreement with labelled pairs."""

import json
from pathlib import Path

import pytest

from torl.grading.__main__ import main, read_pairs, report
from torl.grading.pool import Grade

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "answer_equivalence.jsonl"


def write(path: Path, *pairs: tuple[str, str, int]) -> str:
    path.write_text("\n".join(json.dumps({"gold": g, "pred": p, "label": label}) for g, p, label in pairs))
    return str(path)


def test_the_report_counts_and_lists_disagreements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "pairs.jsonl", ("1", "1.0", 1), ("1", "2", 0), ("1", "1", 0), ("3", "4", 1))
    assert main(["check", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("2 of 4 (50.0%)")
    assert lines[3].endswith("50.0% of the unequal pairs")
    assert lines[5:] == [
        "label 0, grader True by same_text: gold '1', pred '1'",
        "label 1, grader False by numbers: gold '3', pred '4'",
    ]


def test_undecided_is_neither_right_nor_wrong() -> None:
    grades = [Grade(correct=None, rule="grader_timeout", seconds=1.0)]
    text = report([{"gold": "1", "pred": "1", "label": 1}], grades, 1.0)
    assert "accepted 0, rejected 0, undecided 1" in text


def test_a_file_without_the_fields_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"gold": "1"}\n')
    assert main(["check", str(file)]) == 1
    assert "row 1 has no pred, label" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "missing.jsonl")]) == 1


@pytest.mark.skipif(not CASES.exists(), reason=f"no {CASES}: the shared cases are not part of the project")
def test_agreement_on_the_shared_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(read_pairs(str(CASES))) == 549
    assert main(["check", str(CASES), "--workers", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].partition("(")[2].rstrip("%)")) >= 91.0
    # Four over-accepted pairs, all with disputed labels: twice the same prose, one order of a list, one equal set.
    assert "accepted 4," in lines[2]
    assert "undecided 0" in lines[1]
