"""The figures of the report, drawn from tidy metrics, evaluation estimates and the counts of the filter.

Each function returns a ``Drawing``; what is shown is the same for the same input, byte for byte.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from torl.analysis.curves import TRAIN, Point, curve
from torl.analysis.drawing import WIDTH, Drawing, draw_smoothed, experiment_legend, finish
from torl.analysis.style import INK, MUTED, STYLE, colours, label, percent_axis
from torl.evaluation.statistics import Estimate

COLUMNS = 3


def accuracy_figure(
    final: Mapping[str, Mapping[str, Estimate]], start: Mapping[str, Mapping[str, Estimate]]
) -> Drawing:
    """Bars with intervals: accuracy by benchmark and experiment at the last evaluated step, and at the start.

    ``final`` and ``start`` hold estimates by experiment and benchmark.
    """
    with mpl.rc_context(STYLE):
        figure = _accuracy(final, start)
        benchmarks = _benchmarks(final)
        alt = "; ".join(
            f"{benchmark}: " + ", ".join(f"{name} {_percent(final[name].get(benchmark))}" for name in final)
            for benchmark in benchmarks
        )
        return finish(
            figure,
            name="accuracy",
            title="Accuracy on held-out questions",
            caption="Accuracy at the last evaluated step. Whiskers are 95 % intervals over questions; the hollow mark "
            "is the same model before reinforcement learning.",
            alt=alt or "No evaluation.",
        )


def learning_figure(table: list[dict[str, Any]], experiments: Sequence[str]) -> Drawing:
    """Accuracy by training step: sampled rollouts (smoothed over faint points), then each benchmark with intervals."""
    benchmarks = sorted({line["benchmark"] for line in table} - {TRAIN})
    panels = [TRAIN, *benchmarks]
    with mpl.rc_context(STYLE):
        columns = min(COLUMNS, len(panels))
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(WIDTH, 3.1 * rows + 0.5), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        shades = colours(experiments)
        windows = set()
        for axes, benchmark in zip(grid, panels, strict=False):
            windows |= _accuracy_curves(axes, table, benchmark, shades)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        experiment_legend(figure, shades)
        window = f"a centred mean over {max(windows)} steps" if windows else "not drawn"
        return finish(
            figure,
            name="learning",
            title="Learning curves",
            caption=f"Left: share of right answers among the sampled training rollouts; the line is {window}, the "
            "points are single steps. Then: the held-out questions, the same ones at every step, with 95 % intervals. "
            "Training samples at its own temperature and evaluation at that of the table, so the two differ in height.",
            alt=_learning_alt(table, experiments, panels),
        )


def funnel_figure(funnel: dict[str, Any]) -> Drawing:
    """How many problems each rule of the filter removed, and how many are left."""
    steps = [step for step in funnel["steps"] if step["dropped"]]
    names = ["read", *[step["reason"].replace("_", " ") for step in steps], "kept"]
    left = [funnel["rows"], *[step["left"] for step in steps], funnel["kept"]]
    dropped = [0, *[step["dropped"] for step in steps], 0]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 0.34 * len(names) + 0.7), layout="constrained")
        axes = figure.subplots()
        places = range(len(names), 0, -1)
        ends = {0, len(names) - 1}
        axes.barh(places, left, height=0.68, color=["#0072b2" if i in ends else "#a9cbe3" for i in range(len(names))])
        axes.barh(places, dropped, left=left, height=0.68, color="#d55e00", alpha=0.8)
        for place, rest, lost in zip(places, left, dropped, strict=True):
            text = f"−{lost:,}  ({rest:,} left)" if lost else f"{rest:,}"
            axes.annotate(text, (rest + lost, place), (6, 0), textcoords="offset points", va="center", fontsize=9)
        axes.set_yticks(list(places), names, color=INK)
        axes.set_xlim(0, max(funnel["rows"], 1) * 1.24)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("problems")
        return finish(
            figure,
            name="funnel",
            title="From sources to training problems",
            caption="Problems left after each rule that removed any (pale), and what it removed (orange).",
            alt="; ".join(f"{name}: {rest:,} left" for name, rest in zip(names, left, strict=True)),
        )


def _accuracy(final: Mapping[str, Mapping[str, Estimate]], start: Mapping[str, Mapping[str, Estimate]]) -> Figure:
    benchmarks, shades = _benchmarks(final), colours(list(final))
    lines = sum(1 + sum(benchmark in final[name] for name in final) for benchmark in benchmarks)
    figure = Figure(figsize=(WIDTH, 0.36 * lines + 0.9), layout="constrained")
    axes = figure.subplots()
    place, ticks, names = 0.0, [], []
    for benchmark in benchmarks:
        axes.text(0.004, place, benchmark, fontweight="bold", va="center", color=INK)
        for name in final:
            if benchmark in final[name]:
                place -= 1
                _bar(axes, place, final[name][benchmark], start.get(name, {}).get(benchmark), shades[name])
                ticks.append(place)
                names.append(label(name))
        place -= 1.25
    axes.set_yticks(ticks, names, color=INK)
    axes.set_xlim(0, 1.09)
    axes.set_ylim(place + 0.6, 0.6)
    axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    percent_axis(axes, "x")
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    mark = Line2D([], [], marker="D", ls="", mfc="white", mec=INK, ms=5, label="before training (step 0)")
    figure.legend(handles=[mark], loc="outside upper right")
    return figure


def _bar(axes: Axes, place: float, found: Estimate, before: Estimate | None, colour: str) -> None:
    if found.value is None:
        axes.text(0.004, place, "no graded response", va="center", fontsize=9, color=MUTED)
        return
    axes.barh(place, found.value, height=0.7, color=colour, alpha=0.85, lw=0)
    if found.low is not None and found.high is not None:
        axes.plot([found.low, found.high], [place, place], color=INK, lw=1.4, solid_capstyle="butt")
        for bound in (found.low, found.high):
            axes.plot([bound, bound], [place - 0.14, place + 0.14], color=INK, lw=1.4)
    if before is not None and before.value is not None:
        axes.plot(before.value, place, marker="D", mfc="white", mec=INK, ms=5, mew=1)
    edge = max(value for value in (found.value, found.high) if value is not None)
    axes.text(edge + 0.012, place, f"{100 * found.value:.1f}%", va="center", fontsize=9.5, fontweight="bold", color=INK)


def _accuracy_curves(axes: Axes, table: list[dict[str, Any]], benchmark: str, shades: Mapping[str, str]) -> set[int]:
    """Draw one panel; the smoothing windows that it used."""
    windows = set()
    for name, colour in shades.items():
        points = curve(table, name, benchmark, "accuracy")
        if points and benchmark == TRAIN:
            windows.add(draw_smoothed(axes, points, colour))
        elif points:
            _draw_measured(axes, points, colour)
    axes.set_title("training rollouts" if benchmark == TRAIN else benchmark)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("training step")
    axes.set_ylabel("accuracy")
    percent_axis(axes)
    if not axes.lines:
        axes.text(0.5, 0.5, "nothing measured", transform=axes.transAxes, ha="center", color=MUTED)
    return windows


def _draw_measured(axes: Axes, points: Sequence[Point], colour: str) -> None:
    steps = [point.step for point in points]
    axes.plot(steps, [point.value for point in points], color=colour, marker="o", ms=5)
    bounded = [point for point in points if point.low is not None and point.high is not None]
    if bounded:
        axes.fill_between(
            [point.step for point in bounded],
            [point.low for point in bounded],
            [point.high for point in bounded],
            color=colour,
            alpha=0.16,
            lw=0,
        )


def _learning_alt(table: list[dict[str, Any]], experiments: Sequence[str], panels: Sequence[str]) -> str:
    parts = []
    for benchmark in panels:
        for name in experiments:
            points = curve(table, name, benchmark, "accuracy")
            if points:
                parts.append(f"{name} on {benchmark}: {points[0].value:.2f} to {points[-1].value:.2f}")
    return "; ".join(parts) or "Nothing measured."


def _benchmarks(final: Mapping[str, Mapping[str, Estimate]]) -> list[str]:
    return sorted({benchmark for estimates in final.values() for benchmark in estimates})


def _percent(found: Estimate | None) -> str:
    return "not evaluated" if found is None or found.value is None else f"{100 * found.value:.1f} %"
