"""SVG that may stand inside another page: own ids, no metadata, nothing that runs, a title and a description."""

import io
import re
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

from torl.errors import DataError

SVG = "http://www.w3.org/2000/svg"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
FONT = "'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
ALLOWED = frozenset({"svg", "g", "path", "text", "tspan", "use", "defs", "clipPath", "rect", "title", "desc"})
REFERENCE = re.compile(r"url\(#([^)]+)\)")
FONT_FAMILY = re.compile(r"(font(?:-family)?:[^;]*?)'DejaVu Sans'[^;]*")

ElementTree.register_namespace("", SVG)


def render(figure: Figure, name: str, title: str, alt: str) -> str:
    """The figure as SVG text: the same bytes for the same drawing, every id starting with ``name``."""
    # The salt keeps generated ids apart between figures that are shown on one page.
    with mpl.rc_context({"svg.hashsalt": name}):
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    _drop_extras(root)
    _own_ids(root, name)
    _own_fonts(root)
    _describe(root, name, title, alt)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def check_inline(svg: str, name: str) -> str:
    """``svg`` itself when it is safe to put into a page.

    Raises:
        DataError: it is not SVG, or holds an element, an event handler or a reference that could act or load something.
    """
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise DataError(f"figure {name} is not SVG ({error}); run draw_figures again.") from error
    for element in root.iter():
        tag = element.tag.removeprefix(f"{{{SVG}}}")
        if tag not in ALLOWED:
            raise DataError(f"figure {name} holds <{tag}>, which a page may not take in; run draw_figures again.")
        for key, value in element.attrib.items():
            _check_attribute(name, key, value)
    return svg


def _check_attribute(name: str, key: str, value: str) -> None:
    local = key.rpartition("}")[2].lower()
    outside = local == "href" and not value.startswith("#")
    loads = "url(" in REFERENCE.sub("", value)
    if local.startswith("on") or outside or loads:
        raise DataError(f'figure {name} has {local}="{value[:40]}", which could act or load; run draw_figures again.')


def _drop_extras(root: ElementTree.Element) -> None:
    """Remove metadata, and replace the stylesheet that would reach the whole page by attributes of this figure."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})


def _own_ids(root: ElementTree.Element, name: str) -> None:
    """Prefix the ids that are referred to, and drop the others."""
    for element in root.iter():
        if XLINK_HREF in element.attrib:
            element.set("href", element.attrib.pop(XLINK_HREF))
    used = _references(root)
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id" and value not in used:
                del element.attrib[key]
            elif key == "id":
                element.set(key, f"{name}-{value}")
            elif key == "href":
                element.set(key, f"#{name}-{value[1:]}")
            else:
                element.set(key, REFERENCE.sub(rf"url(#{name}-\1)", value))


def _references(root: ElementTree.Element) -> set[str]:
    used = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            used.update([value[1:]] if key == "href" else REFERENCE.findall(value))
    return used


def _own_fonts(root: ElementTree.Element) -> None:
    for element in root.iter(f"{{{SVG}}}text"):
        element.set("style", FONT_FAMILY.sub(lambda match: match[1] + FONT, element.get("style", "")))


def _describe(root: ElementTree.Element, name: str, title: str, alt: str) -> None:
    heading = ElementTree.Element(f"{{{SVG}}}title", {"id": f"{name}-title"})
    heading.text = title
    description = ElementTree.Element(f"{{{SVG}}}desc", {"id": f"{name}-desc"})
    description.text = alt
    root.insert(0, heading)
    root.insert(1, description)
    root.attrib.update({"role": "img", "aria-labelledby": f"{name}-title {name}-desc"})
