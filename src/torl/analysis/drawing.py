"""What every figure is made with: the finished drawing, the smoothed curve, the legend of experiments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from torl.analysis.curves import Point, smooth, smoothing_window
from torl.analysis.style import label
from torl.analysis.svg import render

WIDTH = 9.2  # inches; the page shows a figure about 900 pixels wide


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A finished figure and what is said about it."""

    name: str
    title: str
    caption: str
    alt: str
    svg: str


def finish(figure: Figure, *, name: str, title: str, caption: str, alt: str) -> Drawing:
    """The drawing of a figure; its ids start with ``fig-<name>``."""
    svg = render(figure, f"fig-{name}", title, alt)
    return Drawing(name=name, title=title, caption=caption, alt=alt, svg=svg)


def draw_smoothed(axes: Axes, points: Sequence[Point], colour: str, **line: Any) -> int:
    """Faint points and a smoothed line through them; the window that was used."""
    steps, values = [point.step for point in points], [point.value for point in points]
    window = smoothing_window(len(points))
    axes.plot(steps, values, ls="", marker="o", ms=3, mew=0, color=colour, alpha=0.28)
    axes.plot(steps, smooth(values, window), color=colour, **line)
    return window


def experiment_legend(figure: Figure, shades: Mapping[str, str], extra: Sequence[Line2D] = ()) -> None:
    """One legend above all panels: the colour of each experiment, then ``extra``."""
    handles = [Line2D([], [], color=colour, lw=2.5, label=label(name)) for name, colour in shades.items()]
    figure.legend(handles=[*handles, *extra], loc="outside upper left", ncols=4)
