"""One look for all figures: colours by experiment that colour-blind readers can tell apart, and quiet axes.

Figures have a light background of their own, so that they read the same on a light and on a dark page.
"""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

INK = "#1f2933"
MUTED = "#616e7c"
GRID = "#e4e7eb"
PANEL = "#fcfcfa"
GRID_EDGE = "#cbd2d9"
PAPER = "#9aa5b1"
"""Colour of whatever the paper reports."""

NAMED_COLOURS = {
    "torl": "#0072b2",
    "no_tool": "#d55e00",
    "C0": "#8a6d00",
    "C2": "#009e73",
    "penalty": "#cc79a7",
    "penalty_paper": "#7b3f8c",
    "no_mask": "#56b4e9",
    "release": "#3d4852",
    "random_subset": "#b8860b",
    "full_pool": "#5b7f1f",
}
SPARE_COLOURS = ("#e69f00", "#44aa99", "#882255", "#332288", "#999933", "#aa4499")

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # names come from files, and "$" in one is no formula
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": "#9aa5b1",
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9.5,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.facecolor": PANEL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "figure.facecolor": PANEL,
    "savefig.facecolor": PANEL,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 2,
}


def colours(experiments: Sequence[str]) -> dict[str, str]:
    """A colour for each experiment: a known one's is always the same, the others take spare ones in order."""
    spare = iter([*SPARE_COLOURS, *[f"#{grey:02x}{grey:02x}{grey:02x}" for grey in range(60, 200, 12)]])
    return {name: NAMED_COLOURS.get(name) or next(spare) for name in experiments}


def label(experiment: str) -> str:
    """The name of an experiment as readers see it."""
    return {"torl": "with tool (torl)", "no_tool": "without tool (no_tool)"}.get(experiment, experiment)


def percent_axis(axes: Axes, axis: str = "y") -> None:
    """Show shares of 1 as percentages along ``axis``."""
    target = axes.yaxis if axis == "y" else axes.xaxis
    target.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
