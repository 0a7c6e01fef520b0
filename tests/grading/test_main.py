"""``python -m torl.grading check`` reports agreement with labelled pairs."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
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
        "label 1, grader False by value: gold '3', pred '4'",
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": 3}, "write both as texts"),
        ({"pred": None}, "write both as texts"),
        ({"label": "0"}, "the label '0'; write 1 for equal"),
        ({"tolerance": "big"}, "the tolerance 'big'"),
        ({"tolerance": -1}, "the tolerance -1"),
    ],
)
def test_a_value_of_another_type_is_an_error_and_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], message: str
) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"gold": "1", "pred": "1", "label": 1} | change))
    assert main(["check", str(file)]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.skipif(not CASES.exists(), reason=f"no {CASES}: the shared cases are not part of the project")
def test_agreement_on_the_shared_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(read_pairs(str(CASES))) == 549
    assert main(["check", str(CASES), "--workers", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].partition("(")[2].rstrip("%)")) >= 95.0
    # Two over-accepted pairs, both with disputed labels: the order of a list, and a set that is the same.
    assert "accepted 2," in lines[2]
    assert "undecided 0" in lines[1]


def test_the_rules_that_are_named_are_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "pairs.jsonl", ("1, 2", "2, 1", 1), ("0.5", r"50\%", 1))
    assert main(["check", file, "--without", "any_order", "percent"]) == 0
    assert "0 of 2" in capsys.readouterr().out
    assert main(["check", file, "--without", "anything"]) == 1
    assert "'anything' is not known" in capsys.readouterr().err


def test_a_pair_may_state_a_tolerance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"gold": "4.2", "pred": "4.25", "label": 1, "tolerance": 0.1}) + "\n")
    assert main(["check", str(file)]) == 0
    assert "1 of 1" in capsys.readouterr().out


def test_the_release_can_be_checked_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "pairs.jsonl", (r"8\pi", "8", 0), ("5", "5.0", 1))
    assert main(["check", file, "--method", "release"]) == 0
    assert "label 0, grader True by release" in capsys.readouterr().out


def test_one_pair_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "1, 2", "2, 1"]) == 0
    assert "equal by any_order" in capsys.readouterr().out
    assert main(["explain", "1, 2", "2, 1", "--without", "any_order"]) == 0
    assert "not equal" in capsys.readouterr().out


def responses(*rows: tuple[str, str, bool | None]) -> list[dict[str, object]]:
    return [
        {"gold": gold, "segments": [{"kind": "model", "text": text}], "correct": correct}
        for gold, text, correct in rows
    ]


def test_stored_responses_are_rated_as_the_release_would(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = responses(
        ("5", r"\boxed{5}", True), (r"8\pi", r"\boxed{8}", False), ("1000", r"\boxed{10^{3}}", True), ("1", "none", False),
        ("2", r"\boxed{2}", None),
    )  # fmt: skip
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)))
    table = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows), table)
    for path in (lines, table):
        assert main(["rates", str(path)]) == 0
        out = capsys.readouterr().out
        assert "stored         2 of 4 right (50.0%)" in out
        assert "release        3 of 5 right (60.0%)" in out
        assert "only stored    1" in out
        assert "only release   1" in out
        assert "undecided      stored 1, release 0" in out


def test_rows_without_what_is_graded_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist([{"gold": "1"}]), file)
    assert main(["rates", str(file)]) == 1
    assert "run the rule" in capsys.readouterr().err
