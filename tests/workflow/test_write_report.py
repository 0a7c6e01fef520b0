"""The program turns the files of the workflow into one page and its numbers."""

from pathlib import Path

import pytest

from tests.analysis.factory import Run, report, run_script
from tests.analysis.html import Page
from torl.files import read_json


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Run], Path, Path]:
    folder = tmp_path_factory.mktemp("a path with spaces")
    runs = [Run(folder, "torl"), Run(folder, "no_tool")]
    return folder, runs, *report(folder, runs)


def test_page_has_all_figures_and_is_small(made: tuple[Path, list[Run], Path, Path]) -> None:
    html = made[2].read_text(encoding="utf-8")
    assert html.count("<svg ") == 4
    assert "This figure was not drawn." not in html
    assert len(html) < 1_000_000


def test_ids_of_all_figures_on_one_page_are_unique(made: tuple[Path, list[Run], Path, Path]) -> None:
    page = Page(made[2].read_text(encoding="utf-8"))
    assert len(page.ids) == len(set(page.ids))
    assert {reference[1:] for reference in page.references} <= set(page.ids)


def test_numbers_on_the_page_are_those_of_the_document(made: tuple[Path, list[Run], Path, Path]) -> None:
    document = read_json(made[3])
    text = Page(made[2].read_text(encoding="utf-8")).text
    for line in document["summary"]["lines"]:
        assert f"{100 * line['accuracy']['value']:.1f}%" in text
    assert {source["path"] for source in document["inputs"]} >= {str(path) for path in made[1][0].evaluations}


def test_a_second_run_writes_the_same_bytes(made: tuple[Path, list[Run], Path, Path]) -> None:
    folder, runs, first_html, first_json = made
    html, document = report(folder, runs, name="second")
    assert html.read_bytes() == first_html.read_bytes()
    assert document.read_bytes() == first_json.read_bytes()


def test_a_missing_file_is_named_with_its_cure(tmp_path: Path) -> None:
    arguments = [
        "--metrics",
        tmp_path / "none.parquet",
        "--figures",
        tmp_path / "none.json",
        "--claims",
        "c",
        "--title",
        "t",
    ]
    done = run_script("write_report", *arguments, "--out-html", tmp_path / "a", "--out-json", tmp_path / "b")
    assert done.returncode != 0
    assert "none.json does not exist; run the rule that makes it." in done.stderr
    assert not (tmp_path / "a").exists()
