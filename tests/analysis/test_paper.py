"""The paper's numbers are complete and agree with what its text says."""

import json

import pytest

from tests.analysis.factory import ROOT
from torl.analysis.paper import find_curve, read_curves
from torl.errors import DataError

FOLDER = ROOT / "config" / "paper"
TABLES = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))


def test_every_figure_with_curves_is_there() -> None:
    figures = {curve.figure for curve in read_curves(FOLDER)}
    assert figures == {"1", "4", "5a", "5b", "5c", "5d", "6a", "6b", "6c", "6d"}


@pytest.mark.parametrize(
    ("figure", "metric", "first", "last"),
    [
        ("5a", "code_ratio", 0.366, 0.925),
        ("5d", "executed_code_ratio", 0.657, 0.833),
        ("6a", "accuracy", 36.467, 40.88),
    ],
)
def test_ends_of_published_curves(figure: str, metric: str, first: float, last: float) -> None:
    curve = find_curve(read_curves(FOLDER), figure, metric)
    assert (curve.values[0], curve.values[-1]) == (first, last)
    assert curve.steps == sorted(curve.steps)


def test_ratios_and_percentages_are_in_their_ranges() -> None:
    limits = {"percent": (1, 100), "ratio": (0, 1), "reward": (-1.5, 1)}
    for curve in read_curves(FOLDER):
        low, high = limits[curve.unit]
        assert all(low <= value <= high for value in curve.values), (curve.figure, curve.metric)


def test_printed_averages_that_disagree_with_their_columns_are_known() -> None:
    rows = [row for row in TABLES["table_3"]["rows"] if row["average_printed"] is not None]
    wrong = {row["model"] for row in rows if abs(row["average_printed"] - row["average_of_columns"]) > 0.15}
    assert wrong == {"Qwen2.5-Math-1.5B-Instruct-TIR", "Eurus-2-7B-PRIME", "ToRL-7B"}


def test_malformed_reference_is_refused(tmp_path) -> None:
    (tmp_path / "reference.json").write_text('{"curves": [{"figure": "1"}]}')
    with pytest.raises(DataError, match="mend the entry"):
        read_curves(tmp_path)
