"""A figure in a page keeps to itself."""

import re

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from torl.analysis.style import STYLE
from torl.analysis.svg import check_inline, render
from torl.errors import DataError


def drawn(name: str, label: str = "label") -> str:
    with mpl.rc_context(STYLE):
        figure = Figure()
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], marker="o")
        axes.set_title(label)
        return render(figure, name, "A <title>", "An & alt")


def test_two_renderings_have_the_same_bytes() -> None:
    assert drawn("fig-a") == drawn("fig-a")


def test_every_id_and_every_reference_starts_with_the_name() -> None:
    svg = drawn("fig-a")
    ids = re.findall(r'\bid="([^"]*)"', svg)
    referred = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg)
    assert ids
    assert all(one.startswith("fig-a-") for one in ids)
    assert {first or second for first, second in referred} <= set(ids)
    assert len(ids) == len(set(ids))


def test_figure_has_a_role_a_title_and_a_description() -> None:
    svg = drawn("fig-a")
    assert 'role="img" aria-labelledby="fig-a-title fig-a-desc"' in svg
    assert "A &lt;title&gt;</title>" in svg
    assert "An &amp; alt</desc>" in svg


def test_figure_carries_no_date_no_metadata_and_no_style_sheet() -> None:
    svg = drawn("fig-a")
    for word in ("metadata", "<style", "purl.org", "dc:date", "<script"):
        assert word not in svg


def test_names_with_markup_and_dollars_stay_text() -> None:
    svg = drawn("fig-a", "cost $x_1$ <script>")
    assert "cost $x_1$ &lt;script&gt;" in svg


def test_own_figures_pass_the_check() -> None:
    assert check_inline(drawn("fig-a"), "a") == drawn("fig-a")


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        "<foreignObject/>",
        '<rect onclick="x()"/>',
        '<use href="https://example.org/a.svg#b"/>',
        '<rect style="fill: url(https://example.org/x)"/>',
        '<rect style="fill: url(#a); filter: url(https://example.org/x)"/>',
        '<a href="#x"/>',
        "<style>@import 'x';</style>",
    ],
)
def test_anything_that_could_act_or_load_is_refused(body: str) -> None:
    with pytest.raises(DataError, match="draw_figures again"):
        check_inline(f'<svg xmlns="http://www.w3.org/2000/svg">{body}</svg>', "evil")


def test_broken_svg_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="figure evil is not SVG"):
        check_inline("<svg", "evil")
