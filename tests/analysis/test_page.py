"""The page is one file that refers to nothing, runs nothing, and survives what models write."""

import re
from pathlib import Path

import pytest

from tests.analysis.factory import ROOT, Run, make_call, make_material, make_row
from tests.analysis.html import Page
from torl.analysis.figures import funnel_figure
from torl.analysis.page import SIZE_LIMIT, duration, effect, p_value, render_page, signed
from torl.analysis.report import build_report
from torl.analysis.results import read_evaluations
from torl.errors import DataError
from torl.files import write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA

TEMPLATES = ROOT / "src" / "torl" / "analysis" / "templates"
HOSTILE = (
    "</pre></template></script><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\u202egnp.exe\u202c \x1b[31mred\x1b[0m \x00 中文 {{ 7 * 7 }} {% raw %} ]]> <!-- "
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [Run(folder, name) for name in ("torl", "no_tool")]


def page_of(folder: Path, *runs: Run, **changes: object) -> str:
    return render_page(build_report(make_material(folder, *runs, **changes)), {})


def drawn() -> tuple[list[dict], dict[str, str]]:
    drawing = funnel_figure({"rows": 10, "kept": 8, "steps": [{"reason": "proof", "dropped": 2, "left": 8}]})
    said = {"title": drawing.title, "caption": drawing.caption, "alt": drawing.alt}
    listed = [{"name": drawing.name, "file": "funnel.svg", "inputs": [{"path": "f.json", "sha256": "0" * 64}], **said}]
    return listed, {drawing.name: drawing.svg}


def page_with_figure(folder: Path, runs: list[Run]) -> str:
    listed, figures = drawn()
    return render_page(build_report(make_material(folder, *runs, figures=listed)), figures)


def page_of_row(folder: Path, text: str, name: str, **changes: object) -> str:
    """A page with one evaluated response: whatever the model and the tool write is ``text``."""
    call = make_call("raised", code=text) | {"observation": text}
    segments = [{"kind": "model", "text": text}, {"kind": "observation", "text": text}]
    written = {"question": text, "gold": text, "answer": text, "calls": [call], "segments": segments}
    path = folder / "row.parquet"
    write_table(path, [make_row(experiment=name, benchmark=name, problem_id=name, **written)], TRAJECTORY_SCHEMA)
    return page_of(folder, evaluations=read_evaluations([path]), **changes)


def hostile_page(folder: Path, text: str) -> str:
    return page_of_row(
        folder,
        text,
        name=text,
        title=text,
        configs=[{"experiment": text, "scale": text, text: text}],
        runs=[{"experiment": text}],
        selection={text: text},
        provenance={"git": {"revision": text, "dirty": True}, "packages": {text: text}},
    )


def test_page_refers_to_nothing_outside_itself(tmp_path: Path, runs: list[Run]) -> None:
    page = Page(page_with_figure(tmp_path, runs))
    assert all(reference.startswith("#") for reference in page.references)
    assert not any("url(" in style.replace("url(#", "") or "@import" in style for style in page.styles)
    assert "http" not in " ".join(page.references)


def test_every_internal_link_leads_somewhere_and_ids_are_unique(tmp_path: Path, runs: list[Run]) -> None:
    page = Page(page_with_figure(tmp_path, runs))
    assert len(page.ids) == len(set(page.ids))
    assert {reference[1:] for reference in page.references} <= set(page.ids)


def test_page_is_well_formed_and_has_no_script(tmp_path: Path, runs: list[Run]) -> None:
    page = Page(page_with_figure(tmp_path, runs))
    assert page.unclosed == []
    assert not {"script", "iframe", "object", "embed", "link", "img"} & set(page.tags)
    assert page.handlers == []


def test_policy_forbids_everything_but_inline_style(tmp_path: Path) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page_of(tmp_path))[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert "script-src" not in policy


def test_figures_are_inline_with_their_inputs(tmp_path: Path, runs: list[Run]) -> None:
    html = page_with_figure(tmp_path, runs)
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in html
    assert "<code>f.json</code>" in html
    assert "This figure was not drawn." in html  # the three others


def test_a_figure_that_could_run_something_stops_the_page(tmp_path: Path) -> None:
    listed, _ = drawn()
    report = build_report(make_material(tmp_path, figures=listed))
    with pytest.raises(DataError, match="could act or load"):
        render_page(report, {"funnel": '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>'})


def test_hostile_text_stays_text_everywhere(tmp_path: Path) -> None:
    page = Page(hostile_page(tmp_path, HOSTILE))
    assert page.unclosed == []
    assert not {"script", "img", "template"} & set(page.tags)
    assert page.handlers == []
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "[U+202E]gnp.exe" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page.html)


def test_a_line_of_200_kilobytes_does_not_blow_up_the_page(tmp_path: Path) -> None:
    assert len(page_of_row(tmp_path, "x" * 200_000, name="torl").encode()) < 200_000


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    page_of(tmp_path, title="broken \ud800", selection={"a": "\udfff"}).encode("utf-8")


def test_a_page_over_the_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="report fewer experiments"):
        page_of(tmp_path, rerun=["x" * SIZE_LIMIT])


def test_page_of_two_experiments_says_what_came_out(tmp_path: Path, runs: list[Run]) -> None:
    text = Page(page_of(tmp_path, *runs)).text
    assert "After 30 steps of reinforcement learning, the model trained with the tool answers" in text
    assert "The difference, torl minus no_tool, is" in text
    assert "This is a scale model" in text
    assert "make again" in text


def test_every_claim_has_a_row_with_its_verdict(tmp_path: Path, runs: list[Run]) -> None:
    report = build_report(make_material(tmp_path, *runs))
    html = render_page(report, {})
    for claim in report["claims"]:
        row = html.partition(f'id="claim-{claim["id"]}"')[2].partition("</tr>")[0]
        assert f">{claim['verdict']}</span>" in row


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"evaluations": []}, "No evaluation with a graded response was given"),
        ({"funnel": None}, "No counts of the filter were given."),
        ({"configs": [], "runs": [], "provenance": {}}, "The paper's claims"),
        ({"selection": {"kept": 5, "rule": "lim", "by_source": {"a": 1}}}, "rule lim"),
        ({"training_seeds": 3}, "It cannot show how much a tool helps a large model"),
        ({"configs": [{"experiment": "torl", "model": {"base": "scale-model"}}]}, "these problems are far beyond it"),
    ],
)
def test_page_holds_up_when_parts_are_missing(
    tmp_path: Path, runs: list[Run], changes: dict[str, object], sentence: str
) -> None:
    page = Page(page_of(tmp_path, *runs, **changes))
    assert page.unclosed == []
    assert sentence in page.text


def test_page_of_no_run_at_all(tmp_path: Path) -> None:
    assert "Nothing was evaluated." in Page(page_of(tmp_path)).text


def test_page_of_twelve_experiments_stays_within_its_size(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    runs = [Run(folder, f"arm_{i:02d}") for i in range(10)] + [Run(folder, "torl"), Run(folder, "no_tool")]
    page = Page(page_of(tmp_path, *runs))
    assert "The table below has 10 more experiments." in page.text
    assert page.tags.count("h1") == 1


def test_page_of_a_missing_step_says_so(tmp_path: Path, runs: list[Run]) -> None:
    kept = [one for one in make_material(tmp_path, *runs).evaluations if (one.experiment, one.step) != ("no_tool", 30)]
    assert "no_tool" in Page(page_of(tmp_path, *runs, evaluations=kept)).text


def test_the_same_material_gives_the_same_bytes(tmp_path: Path, runs: list[Run]) -> None:
    assert page_with_figure(tmp_path, runs) == page_with_figure(tmp_path, runs)


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.j2")), ids=lambda path: path.name)
def test_templates_hold_no_number_of_their_own(template: Path) -> None:
    text = re.sub(r"{{.*?}}|{%.*?%}|&#\d+;", "", template.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.search(r"\d", re.sub(r"<[^>]*>", "", text))


@pytest.mark.parametrize(("value", "text"), [(1.25, "+1.2"), (-3.0, "−3.0"), (0.04, "0.0"), (-0.04, "0.0")])
def test_signed_numbers(value: float, text: str) -> None:
    assert signed(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(9.6, "10 s"), (206.4, "3 min 26 s"), (7260, "2 h 01 min")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (9.4, "comparison", "+9.4 points"),
        (48.5, "level", "48.5%"),
        (0.25, "change", "+25.0 points"),
        (2.0, "cost", "2.00 ×"),
    ],
)
def test_effects_are_in_the_unit_of_their_claim(value: float, kind: str, text: str) -> None:
    assert effect(value, kind) == text


def test_a_p_value_is_never_zero() -> None:
    assert (p_value(0.0001), p_value(0.04)) == ("< 0.001", "0.040")
