"""The report's document says what the rows say, in every state that a run can leave behind."""

import json
from math import nan
from pathlib import Path

import pytest

from tests.analysis.factory import Run, make_call, make_material, make_row
from tests.analysis.html import Page
from torl.analysis.page import render_page
from torl.analysis.report import build_report
from torl.analysis.results import read_evaluations
from torl.files import write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [Run(folder, name, ("easy", "hard")) for name in ("torl", "no_tool")]


def evaluated(folder: Path, *files: list[dict]) -> list:
    paths = []
    for number, rows in enumerate(files):
        paths.append(folder / f"{number}.parquet")
        write_table(paths[-1], rows, TRAJECTORY_SCHEMA)
    return read_evaluations(paths)


def headline(report: dict, benchmark: str, experiment: str) -> dict:
    (group,) = [group for group in report["headline"] if group["benchmark"] == benchmark]
    (line,) = [line for line in group["lines"] if line["experiment"] == experiment]
    return line


def test_headline_holds_value_interval_questions_and_start(tmp_path: Path, runs: list[Run]) -> None:
    line = headline(build_report(make_material(tmp_path, *runs)), "easy", "torl")
    assert (line["step"], line["samples"], line["accuracy"]["n_problems"]) == (30, 1, 96)
    assert line["accuracy"]["low"] < line["accuracy"]["value"] < line["accuracy"]["high"]
    assert line["start"]["value"] < line["accuracy"]["value"]
    assert line["truncation_rate"] is not None


def test_several_benchmarks_have_their_mean_first(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, *runs))
    values = [headline(report, name, "torl")["accuracy"]["value"] for name in ("easy", "hard")]
    assert report["headline"][0]["macro"]
    assert report["headline"][0]["lines"][0]["accuracy"]["value"] == pytest.approx(sum(values) / 2)
    assert report["summary"]["benchmark"] == "mean over benchmarks"


def test_a_run_that_was_evaluated_before_training_alone_has_a_start_and_no_result(tmp_path: Path) -> None:
    runs = [Run(tmp_path, name) for name in ("torl", "probe")]
    runs[1].evaluations = runs[1].evaluations[:1]
    report = build_report(make_material(tmp_path, *runs))
    line = headline(report, "heldout", "probe")
    assert (line["step"], line["evaluated"], line["accuracy"]["value"]) == (30, False, None)
    assert line["start"]["value"] > 0
    assert [one["experiment"] for one in report["summary"]["lines"]] == ["torl"]
    assert [one["kind"] for one in report["warnings"] if one["experiment"] == "probe"] == ["not_evaluated"]
    assert not report["comparisons"]
    text = Page(render_page(report, {})).text
    assert f"not evaluated at this step; {100 * line['start']['value']:.1f}% before training" in text
    assert "probe minus" not in text
    assert "minus probe" not in text


def test_comparison_subtracts_paired_by_question(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, *runs))
    easy = next(one for one in report["comparisons"] if one["benchmark"] == "easy")
    difference = headline(report, "easy", "torl")["accuracy"]["value"]
    difference -= headline(report, "easy", "no_tool")["accuracy"]["value"]
    assert (easy["first"], easy["second"]) == ("torl", "no_tool")
    assert easy["value"] == pytest.approx(difference)
    assert easy["p"] < 0.01


def test_one_experiment_alone_has_no_comparison_and_claims_say_why(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, runs[0]))
    claims = {claim["id"]: claim for claim in report["claims"]}
    assert report["comparisons"] == []
    assert claims["tool_beats_no_tool"]["reason"] == "not evaluated: no_tool"
    assert claims["code_ratio_rises"]["verdict"] == "consistent with"


def test_a_benchmark_without_its_last_step_is_marked_and_not_filled_in(tmp_path: Path, runs: list[Run]) -> None:
    material = make_material(tmp_path, *runs)
    kept = [one for one in material.evaluations if (one.experiment, one.step, one.benchmark) != ("torl", 30, "hard")]
    report = build_report(make_material(tmp_path, *runs, evaluations=kept))
    assert not headline(report, "hard", "torl")["evaluated"]
    assert headline(report, "hard", "torl")["accuracy"]["value"] is None
    assert report["headline"][0]["lines"][0]["accuracy"]["value"] is None
    assert {"kind": "not_evaluated", "experiment": "torl", "benchmark": "hard", "step": 30} in report["warnings"]
    assert [one["benchmark"] for one in report["comparisons"]] == ["easy"]


def test_missing_questions_are_counted(tmp_path: Path) -> None:
    whole = [make_row(step=0, problem_id=f"p{i}") for i in range(10)]
    part = [make_row(problem_id=f"p{i}", correct=None if i < 4 else True) for i in range(10)]
    report = build_report(make_material(tmp_path, evaluations=evaluated(tmp_path, whole, part)))
    (warning,) = [one for one in report["warnings"] if one["kind"] == "incomplete"]
    assert (warning["value"], warning["of"]) == (6, 10)
    assert headline(report, "heldout", "torl")["left_out"] == 4


def test_questions_that_were_not_asked_are_named_beside_the_table_and_stay_in_the_denominator(tmp_path: Path) -> None:
    rows = [make_row(problem_id=f"p{i}") for i in range(9)]
    silent = make_row(problem_id="p9", correct=False, answer=None, stop_reason="prompt_too_long", segments=[])
    said = "1 of 10 questions have a prompt over the budget: they were not asked and count as wrong"
    for files, value in [([*rows, silent], 0.9), (rows, 1.0)]:
        report = build_report(make_material(tmp_path, evaluations=evaluated(tmp_path, files)))
        accuracy = headline(report, "heldout", "torl")["accuracy"]
        assert (accuracy["value"], accuracy["n_problems"]) == (pytest.approx(value), len(files))
        assert (f"torl, heldout, step 30: {said}." in Page(render_page(report, {})).text) == (silent in files)


def test_nothing_evaluated_gives_an_empty_headline(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, *runs, evaluations=[]))
    assert report["headline"] == []
    assert report["summary"]["lines"] == []


def test_nothing_at_all_is_still_a_report(tmp_path: Path) -> None:
    report = build_report(make_material(tmp_path, funnel=None, provenance={}))
    assert report["experiments"] == []
    assert report["verdicts"]["not run"] == len(report["claims"])


def test_values_that_are_no_numbers_become_none(tmp_path: Path, runs: list[Run]) -> None:
    material = make_material(tmp_path, *runs)
    broken = [line | {"value": nan, "low": nan} for line in material.metrics]
    report = build_report(make_material(tmp_path, *runs, metrics=broken))
    assert headline(report, "easy", "torl")["truncation_rate"] is None
    json.dumps(report, allow_nan=False)


def test_run_without_calls_has_no_call_outcomes(tmp_path: Path, runs: list[Run]) -> None:
    assert build_report(make_material(tmp_path, runs[1]))["call_outcomes"] == []


def test_call_outcomes_show_first_and_last_step(tmp_path: Path, runs: list[Run]) -> None:
    (outcomes,) = build_report(make_material(tmp_path, *runs))["call_outcomes"]
    assert outcomes["experiment"] == "torl"
    assert [sum(ends[i] for ends in outcomes["shares"].values()) for i in (0, 1)] == pytest.approx([1, 1])


def test_settings_are_those_of_the_experiment_with_the_tool(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, *reversed(runs)))
    settings = {setting["key"]: setting["here"] for setting in report["settings"]}
    assert settings["rollout.max_tool_calls"] == "1"
    assert settings["train.steps"] == "not set"
    assert report["config_differences"] == [{"key": "rollout.max_tool_calls", "values": ["1", "0"]}]


def test_an_experiment_with_quirks_is_said_to_go_the_release_s_way(tmp_path: Path, runs: list[Run]) -> None:
    material = make_material(tmp_path, *runs)
    assert build_report(material)["quirks"] == []
    material.configs[0]["rollout"]["quirks"] = ["lost_round"]
    material.configs[0]["grading"] = {"quirks": ["undelimited"]}
    report = build_report(material)
    assert report["quirks"] == [{"experiment": "torl", "names": ["lost_round", "undelimited"]}]
    assert "torl goes the release's way where these are named" in Page(render_page(report, {})).text


def test_scale_and_its_kind_come_from_the_configurations(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, *runs))
    assert (report["scale"], report["scale_model"]) == ("demo", True)


def test_run_times_are_per_step_and_tolerate_missing_fields(tmp_path: Path, runs: list[Run]) -> None:
    done = [{"experiment": "torl", "steps": 4, "seconds": 10.0, "extra": 1}, {"experiment": "no_tool"}]
    report = build_report(make_material(tmp_path, *runs, runs=done))
    assert [run["step_seconds"] for run in report["runs"]] == [2.5, None]


def test_hostile_names_and_texts_can_be_written_as_json(tmp_path: Path) -> None:
    row = make_row(benchmark="b\x00<script>", question="\u202eq", calls=[make_call(code="\x1b[2J")])
    report = build_report(make_material(tmp_path, evaluations=evaluated(tmp_path, [row])))
    assert "\x00" not in json.dumps(report, ensure_ascii=False)


def test_the_same_material_gives_the_same_document(tmp_path: Path, runs: list[Run]) -> None:
    first, second = (build_report(make_material(tmp_path, *runs)) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
