"""A real browser shows the report offline, at every width, in both schemes, and on paper."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from tests.analysis.factory import Run, make_call, make_row, report
from tests.browser.chromium import PROGRAM, Browser, browser
from torl.files import read_json, write_table
from torl.rollout.trajectory import TRAJECTORY_SCHEMA

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium on PATH: the page is not checked in a browser")
HOSTILE = (
    "</pre><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">\u202eabc" + "x" * 200_000
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    runs = [Run(folder, "torl", ("easy", "hard")), Run(folder, "no_tool", ("easy", "hard")), Run(folder, "penalty")]
    call = make_call("raised", code=HOSTILE)
    segments = [{"kind": "model", "text": HOSTILE}, {"kind": "observation", "text": HOSTILE}]
    hostile = make_row(benchmark="easy", question=HOSTILE, answer=HOSTILE, calls=[call], segments=segments)
    write_table(folder / "torl" / "evaluation" / "step_30" / "easy.parquet", [hostile], TRAJECTORY_SCHEMA)
    return report(folder, runs)[0]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_asks_for_nothing_and_has_nothing_to_complain_about(tab: Browser, page: Path, scheme: str) -> None:
    tab.show(page, scheme=scheme)
    assert tab.requests() == [page.as_uri()]
    assert tab.complaints() == []


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_page_never_scrolls_sideways(tab: Browser, page: Path, width: int) -> None:
    tab.show(page, width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_text_runs_nothing(tab: Browser, page: Path) -> None:
    tab.show(page)
    assert tab.evaluate("document.title") == "A synthetic report"
    assert tab.evaluate("document.querySelectorAll('script, main img').length") == 0
    shown = "[...document.querySelectorAll('.piece.output pre')].some(e => e.textContent.includes('<script>'))"
    assert tab.evaluate(shown)


def test_both_schemes_keep_text_readable(tab: Browser, page: Path) -> None:
    contrast = """(() => {
      const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
        .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
        return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
      const style = getComputedStyle(document.body);
      const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
      return (a + .05) / (b + .05); })()"""
    for scheme in ("light", "dark"):
        tab.show(page, scheme=scheme)
        assert tab.evaluate(contrast) > 7


def test_every_verdict_is_visible_without_scripts(tab: Browser, page: Path) -> None:
    tab.show(page)
    claims = read_json(page.with_suffix(".json"))["claims"]
    visible = "[...document.querySelectorAll('#claims tbody .badge')].filter(b => b.checkVisibility()).length"
    assert tab.evaluate(visible) == len(claims)


def test_page_prints_with_its_results_and_configuration(tab: Browser, page: Path, tmp_path: Path) -> None:
    tab.show(page)
    file = tmp_path / "report.pdf"
    file.write_bytes(tab.pdf())
    assert file.read_bytes().startswith(b"%PDF")
    if which("pdftotext") is None:
        pytest.skip("no pdftotext on PATH; the text of the print is not checked")
    text = subprocess.run(["pdftotext", file, "-"], capture_output=True, text=True, check=True).stdout
    sheets = text.split("\f")[:-1]
    assert 5 <= len(sheets) <= 40
    assert all(sheet.strip() for sheet in sheets)
    assert "consistent with" in text
    assert '"scale": "demo"' in text
