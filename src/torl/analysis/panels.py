"""The four panels of code behaviour, with the paper's curves drawn faintly beside.

Differs from ToRL: the paper's run has 1,000 steps and ours may have 30, so its curves have an axis of their own at the
top; what is compared is the shape over the relative length of a run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from torl.analysis.curves import TRAIN, Point, curve
from torl.analysis.drawing import WIDTH, Drawing, draw_smoothed, experiment_legend, finish
from torl.analysis.paper import Curve, find_curve
from torl.analysis.style import GRID_EDGE, INK, MUTED, PAPER, STYLE, colours, percent_axis


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One of the four."""

    title: str
    figure: str
    """Figure of the paper that shows the same."""
    unit: str
    """What the shares are of."""
    lines: tuple[tuple[str, str, str], ...]
    """Metric, line style and name of each line."""


PANELS = (
    Panel(
        title="(a) Code ratio",
        figure="5a",
        unit="share of responses",
        lines=(("code_ratio", "-", "responses with code"),),
    ),
    Panel(
        title="(b) Pass ratio",
        figure="5b",
        unit="share of executed code",
        lines=(("pass_ratio", "-", "without error"),),
    ),
    Panel(
        title="(c) Pass ratio by correctness",
        figure="5c",
        unit="share of executed code",
        lines=(("pass_ratio_correct", "-", "right answers"), ("pass_ratio_incorrect", "--", "wrong answers")),
    ),
    Panel(
        title="(d) Effective code ratio",
        figure="5d",
        unit="share of code",
        lines=(("executed_code_ratio", "-", "executed / written"), ("before_answer_ratio", "--", "before the answer")),
    ),
)


def behaviour_figure(table: list[dict[str, Any]], experiments: Sequence[str], paper: list[Curve]) -> Drawing:
    """Code ratio, pass ratio, pass ratio by correctness and effective code ratio of the training rollouts."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 7.6), layout="constrained")
        figure.get_layout_engine().set(hspace=0.08, wspace=0.04)
        shades = colours(experiments)
        for axes, panel in zip(figure.subplots(2, 2).ravel(), PANELS, strict=True):
            _draw_panel(axes, panel, table, shades, paper)
        extra = [Line2D([], [], color=PAPER, lw=1.6, label="paper, ToRL-1.5B (top axis)")] if paper else []
        experiment_legend(figure, shades, extra)
        return finish(
            figure,
            name="behaviour",
            title="How code is used in training",
            caption="Sampled training rollouts: single steps as faint points, smoothed as in the learning curves. "
            "Grey: the curves of the paper's figure 5 for ToRL-1.5B, on the top axis, stretched to the length of this "
            "run; compare shapes, not steps.",
            alt=_alt(table, experiments),
        )


def _draw_panel(
    axes: Axes, panel: Panel, table: list[dict[str, Any]], shades: Mapping[str, str], paper: list[Curve]
) -> None:
    lowest = _draw_paper(axes, panel, paper)
    for metric, style, _ in panel.lines:
        for name, colour in shades.items():
            points = curve(table, name, TRAIN, metric)
            if points:
                draw_smoothed(axes, points, colour, ls=style)
                lowest = min(lowest, *(point.value for point in points))
    axes.set_title(panel.title)
    axes.set_xlabel("training step")
    axes.set_ylabel(panel.unit)
    axes.set_ylim(max(-0.02, int(10 * lowest - 0.5) / 10 - 0.02), 1.02)
    percent_axis(axes)
    if not axes.lines:
        axes.text(0.5, 0.5, "no code was executed", transform=axes.transAxes, ha="center", color=MUTED)
    if len(panel.lines) > 1:
        handles = [Line2D([], [], color=INK, lw=1.6, ls=style, label=text) for _, style, text in panel.lines]
        axes.legend(handles=handles, loc="lower right", handlelength=2.4)


def _draw_paper(axes: Axes, panel: Panel, paper: list[Curve]) -> float:
    """The paper's curves on an axis of their own; their lowest value, 1.0 without any."""
    above = axes.twiny()
    axes.set_zorder(above.get_zorder() + 1)
    axes.patch.set_visible(False)
    above.grid(visible=False)
    above.spines["top"].set(visible=True, color=GRID_EDGE)
    above.tick_params(axis="x", colors=PAPER, labelsize=8, length=2, color=GRID_EDGE)
    lowest = 1.0
    for metric, style, _ in panel.lines:
        published = find_curve(paper, panel.figure, metric)
        if published is not None:
            above.plot(published.steps, published.values, color=PAPER, lw=1.4, ls=style, alpha=0.8)
            lowest = min(lowest, *published.values)
    return lowest


def _alt(table: list[dict[str, Any]], experiments: Sequence[str]) -> str:
    parts = []
    for name in experiments:
        for panel in PANELS:
            for metric, _, text in panel.lines:
                points = curve(table, name, TRAIN, metric)
                parts += [f"{name}, {text}: {_ends(points)}"] if points else []
    return "; ".join(parts) or "No code was executed."


def _ends(points: Sequence[Point]) -> str:
    return f"{points[0].value:.2f} at step {points[0].step}, {points[-1].value:.2f} at step {points[-1].step}"
