"""The document of a report as one page: no reference to anything outside it, no script, every text escaped."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from torl.analysis.style import colours, label
from torl.analysis.svg import check_inline
from torl.errors import DataError

SIZE_LIMIT = 3_000_000  # bytes; larger pages are slow to open and to send
DASH = "–"
MINUS = "−"


def render_page(report: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """The page as HTML. ``figures`` holds the SVG of each figure by name.

    Raises:
        DataError: a figure could act or load something, or the page is too large to be one file.
    """
    environment = Environment(
        loader=PackageLoader("torl.analysis", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    inline = {name: Markup(check_inline(svg, name)) for name, svg in figures.items()}
    names = [experiment["name"] for experiment in report["experiments"]]
    page = environment.get_template("report.html.j2").render(
        report=report, svg=inline, shades=colours(names), label=label
    )
    size = len(page.encode())
    if size > SIZE_LIMIT:
        raise DataError(f"the report has {size} bytes, more than {SIZE_LIMIT}; report fewer experiments at once.")
    return page


def measured(form: Callable[[Any], str]) -> Callable[[Any], str]:
    """``form`` with a dash for what was not measured."""
    return lambda value: DASH if value is None else form(value)


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, as readers write it."""
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else f"{'+' if value > 0 else MINUS}{text}"


def duration(seconds: float) -> str:
    """Seconds as the two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def p_value(value: float) -> str:
    """A p value, never as zero: the smallest that the draws can show is named."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def effect(value: float, kind: str) -> str:
    """The effect of a claim in its unit: points, percent, or a factor."""
    if kind == "cost":
        return f"{value:.2f} ×"
    if kind == "level":
        return f"{value:.1f}%"
    return f"{signed(value if kind == 'comparison' else 100 * value)} points"


def effect_interval(evidence: Mapping[str, Any], kind: str) -> str:
    """The bounds of an effect, without their unit."""
    low, high = evidence["low"], evidence["high"]
    if low is None or high is None:
        return ""
    factor = 1 if kind in ("comparison", "level") else 100
    shown = (lambda value: f"{value:.1f}") if kind == "level" else signed
    return f"{shown(factor * low)} to {shown(factor * high)}"


def samples(line: Mapping[str, Any]) -> str:
    """Questions times responses of a line of the headline."""
    low, high = line["samples_range"]
    return f"{line['accuracy']['n_problems']} × {low if low == high else f'{low}–{high}'}"


def pretty(value: Any) -> str:
    """A value of a foreign document in one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FILTERS: dict[str, Callable[..., Any]] = {
    "percent": measured(lambda value: f"{100 * value:.1f}%"),
    "bound": measured(lambda value: f"{100 * value:.1f}"),
    "points": measured(lambda value: signed(100 * value)),
    "number": measured(lambda value: f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"),
    "seconds": measured(lambda value: f"{value:.1f} s"),
    "duration": measured(duration),
    "p_value": measured(p_value),
    "effect": lambda value, kind: DASH if value is None else effect(value, kind),
    "effect_interval": effect_interval,
    "samples": samples,
    "pretty": pretty,
    "words": lambda text: str(text).replace("_", " "),
    "place": lambda value: f"{100 * min(1.0, max(0.0, value)):.2f}%",
}
