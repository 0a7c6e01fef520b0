"""Figures show what there is, survive what is missing, and are the same for the same input."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.analysis.factory import ROOT, Run, make_material, write_funnel
from torl.analysis.figures import accuracy_figure, funnel_figure, learning_figure
from torl.analysis.panels import PANELS, behaviour_figure
from torl.analysis.paper import read_curves
from torl.analysis.style import NAMED_COLOURS, colours
from torl.evaluation.statistics import Scores, estimate
from torl.files import read_json

PAPER = read_curves(ROOT / "config" / "paper")


def texts(svg: str) -> list[str]:
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def found(right: int, questions: int = 40) -> object:
    return estimate(Scores(by_question={f"q{i}": (float(i < right),) for i in range(questions)}))


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folder = tmp_path_factory.mktemp("runs")
    return make_material(folder, Run(folder, "torl"), Run(folder, "no_tool")).metrics


def test_accuracy_figure_names_benchmarks_experiments_and_values() -> None:
    final = {"torl": {"easy": found(30), "hard": found(10)}, "no_tool": {"easy": found(20), "hard": found(4)}}
    drawing = accuracy_figure(final, {"torl": {"easy": found(8)}})
    shown = texts(drawing.svg)
    assert {"easy", "hard", "with tool (torl)", "without tool (no_tool)", "75.0%", "10.0%"} <= set(shown)
    assert drawing.alt == "easy: torl 75.0 %, no_tool 50.0 %; hard: torl 25.0 %, no_tool 10.0 %"


def test_accuracy_figure_says_so_where_nothing_was_graded() -> None:
    drawing = accuracy_figure({"torl": {"easy": estimate(Scores(by_question={}))}}, {})
    assert "no graded response" in texts(drawing.svg)


def test_accuracy_figure_of_twelve_experiments_has_twelve_bars_for_a_benchmark() -> None:
    final = {f"arm {i}": {"easy": found(i)} for i in range(12)}
    assert sum(text.startswith("arm ") for text in texts(accuracy_figure(final, {}).svg)) == 12


def test_learning_figure_has_a_panel_for_training_and_each_benchmark(metrics: list[dict]) -> None:
    drawing = learning_figure(metrics, ["torl", "no_tool"])
    assert {"training rollouts", "heldout"} <= set(texts(drawing.svg))
    assert "centred mean over 5 steps" in drawing.caption


def test_learning_figure_without_measurements_says_so() -> None:
    assert "nothing measured" in texts(learning_figure([], ["torl"]).svg)


def test_behaviour_figure_has_four_panels_with_the_papers_curves(metrics: list[dict]) -> None:
    drawing = behaviour_figure(metrics, ["torl", "no_tool"], PAPER)
    shown = texts(drawing.svg)
    assert {panel.title for panel in PANELS} <= set(shown)
    assert "paper, ToRL-1.5B (top axis)" in shown
    assert "compare shapes, not steps" in drawing.caption


def test_panels_of_a_run_without_any_call_say_so(metrics: list[dict]) -> None:
    alone = [line for line in metrics if line["experiment"] == "no_tool"]
    assert texts(behaviour_figure(alone, ["no_tool"], PAPER).svg).count("no code was executed") == 3


def test_behaviour_figure_without_the_papers_curves_does_not_name_them(metrics: list[dict]) -> None:
    shown = texts(behaviour_figure(metrics, ["torl"], []).svg)
    assert {panel.title for panel in PANELS} <= set(shown)
    assert not any("paper" in text for text in shown)


def test_funnel_figure_shows_what_each_rule_removed(tmp_path: Path) -> None:
    shown = texts(funnel_figure(read_json(write_funnel(tmp_path / "funnel.json"))).svg)
    assert "−180  (3,820 left)" in shown
    assert "3,538" in shown


def test_funnel_that_removed_nothing_has_two_bars() -> None:
    shown = texts(funnel_figure({"rows": 10, "kept": 10, "steps": [{"reason": "proof", "dropped": 0, "left": 10}]}).svg)
    assert "proof" not in shown
    assert shown.count("10") >= 2


def test_every_figure_is_the_same_on_a_second_run(metrics: list[dict]) -> None:
    final = {"torl": {"easy": found(30)}}
    for draw in (
        lambda: accuracy_figure(final, final),
        lambda: learning_figure(metrics, ["torl", "no_tool"]),
        lambda: behaviour_figure(metrics, ["torl", "no_tool"], PAPER),
    ):
        assert draw().svg == draw().svg


def test_known_experiments_keep_their_colour_and_all_colours_differ() -> None:
    names = [*NAMED_COLOURS, *[f"arm {i}" for i in range(12)]]
    shades = colours(names)
    assert shades["torl"] == colours(["x", "torl"])["torl"]
    assert len(set(shades.values())) == len(names)
