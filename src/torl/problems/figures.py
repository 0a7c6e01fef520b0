"""Whether a text needs a figure or table that it does not hold.

Many problems point at a figure and say all that it shows: they are kept where labelled points and what is given of them
are in the text, and an image to which no word of the text points is an ornament. An ``[asy]`` drawing, a table and a
list are part of the text.
"""

import re

_NOUN = r"(?:figure|diagram|picture|drawing|image|graph|sketch|illustration|grid|chart|map|table)s?"
_SIDE = r"(?:below|above|here|at (?:the )?(?:right|left)|(?:on|to) the (?:right|left))"
_SHOWN = r"(?:shown|pictured|illustrated|depicted|drawn)"

_ANY_SIGN = re.compile(
    rf"!\[|<img|includegraphics|\.(?:png|jpe?g|gif|svg)|\b(?:{_NOUN}|{_SHOWN}|indicated|seen|shaded|fig)\b",
    re.IGNORECASE,
)
"""A cheap look that nine of ten texts do not pass."""

_IMAGE = re.compile(r"!\[[^\]]*\]\(|\\includegraphics|<img\b|\.(?:png|jpe?g|gif|svg)\b", re.IGNORECASE)
_IMAGE_MARKUP = re.compile(
    r"!\[[^\]]*\]\([^)]*\)?|\\includegraphics(?:\[[^\]]*\])?\{[^}]*\}|<img\b[^>]*>", re.IGNORECASE
)
_DRAWN_IN_TEXT = re.compile(
    r"\\begin\{(?:tabular|array|[pbv]?matrix|tikzpicture)\}|\[asy\]|```asy|\|\s*:?-{2,}|^\s*\|.*\|\s*$", re.MULTILINE
)
_LISTED_IN_TEXT = re.compile(r"\\begin\{(?:align|gather|cases)|\$\$|\\\[|\\bullet|^\s*(?:[-*]|Row \d)", re.MULTILINE)
_NOT_NEEDED = re.compile(
    r"(?:figure|diagram)s? (?:was|is|were|are) not (?:given|drawn|needed|necessary)", re.IGNORECASE
)

_POINTS_AT = re.compile(
    rf"\bas (?:is )?(?:{_SHOWN}|indicated)(?: (?:in|by|at|to|below|above|here|on the)\b|[.,;]|$)"
    rf"|\bas seen (?:in the|on the|below|above)\b"
    rf"|\b(?:{_SHOWN}|marked|labell?ed|given) in (?:the|this) (?:\w+ )?{_NOUN}"
    rf"|\b{_NOUN} {_SHOWN}\b|\bin fig(?:\.|ure) ?\d|\b(?:see|refer to|look at) (?:the )?(?:fig|diagram|picture|drawing)"
    rf"|\b(?:the|following) (?!graph\b){_NOUN} {_SIDE}|\b(?:graphs?|charts?) below\b"
    rf"|\bfollowing (?:(?:bar|line|pie|circle) )?(?:graph|chart|figure|diagram|picture)s?\b(?! of\b)"
    rf"|\bthe figure (?:is|was) (?:made|constructed|composed|formed|built)\b",
    re.IGNORECASE,
)
_SHOWN_BESIDE = re.compile(rf"\b{_SHOWN}(?: in \w+)? {_SIDE}", re.IGNORECASE)
_NAMES = re.compile(rf"\b(?:in the (?:\w+ )?{_NOUN}|the {_NOUN} shows?)\b", re.IGNORECASE)
_SHADED = re.compile(r"\bshaded\b", re.IGNORECASE)

_ONLY_IN_FIGURE = re.compile(
    r"\b(?:dashed|dotted|arrows?|asterisk|marked|numbered|labell?ed|boards?|spinner|dartboard|pattern|lattice|path|"
    r"tiles?|blocks?|cards?|cells?|graphs? of|curve|vacant|colou?red|dark|gr[ae]y|folded|cut along|charts?|stacked)\b|\?\"",
    re.IGNORECASE,
)
_SHADING = re.compile(r"\b(?:un)?shaded\b|\bshading\b", re.IGNORECASE)
_SHADING_IN_WORDS = re.compile(
    r"\b(?:inside|outside|within|between|not covered|overlap|common to|remaining|(?:formed|bounded|enclosed) by)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(r"(?<![A-Za-z\\])[A-Z]{1,6}(?![a-z])")
_SHAPES = re.compile(
    r"\b(?:(?:semi|quarter[- ]?)?circles?|squares?|rectangles?|triangles?|hexagons?|pentagons?|octagons?|cubes?|spheres?|"
    r"cones?|cylinders?|prisms?|pyramids?|polygons?|arcs?|diagonals?|radius|radii|diameters?|chords?|trapezoids?|"
    r"parallelograms?|rhombus|sectors?)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"\d+|=|\b(?:midpoints?|perpendicular(?:ly)?|parallel|tangent|touch(?:es|ing)?|intersects?|intersections? of|bisect\w*|"
    r"diameters?|cent(?:er|re)[ds]?|concentric|congruent|identical|equilateral|isosceles|quadrilateral|square|rectangle|cube|"
    r"regular|inscribed|circumscribed|truncated|right(?:-angled)?|trapezoid|parallelogram|collinear|"
    r"(?:two|three|four|five|six|seven|eight) (?:\w+ )?(?:semi)?circles)\b"
    r"|\\perp|\\parallel",
    re.IGNORECASE,
)
DESCRIBED_POINTS = 3
"""Labelled points from which a text can describe its figure."""
DESCRIBED_SHAPES = 3
"""Shapes and their parts from which it can do so without labels."""
DESCRIBED_GIVENS = 3
"""Numbers, equations and relations from which it does."""
ORNAMENT_GIVENS = 2
"""The same where no word of the text points at the image."""


def missing_figure(text: str) -> str | None:
    """The words with which ``text`` points at a figure that is not there and not described; ``None`` otherwise."""
    if not _ANY_SIGN.search(text) or _DRAWN_IN_TEXT.search(text) or _NOT_NEEDED.search(text):
        return _image_of(text)
    image = _IMAGE.search(text)
    words = _IMAGE_MARKUP.sub(" ", text)
    match = _POINTS_AT.search(words) or (_SHADED.search(words) and _NAMES.search(words))
    if not match and not _LISTED_IN_TEXT.search(words):
        match = _SHOWN_BESIDE.search(words)
    if not match and image and not _is_ornament(words):
        match = image
    if match and not _is_described(words):
        return f"image {image.group()!r}" if image else f"says {match.group()!r}"
    return None


def _image_of(text: str) -> str | None:
    """An image in a text that has a table or drawing besides it."""
    image = _IMAGE.search(text)
    return f"image {image.group()!r}" if image else None


def _is_ornament(text: str) -> bool:
    """Whether a text without its image says what is given, and names nothing that only a figure can show."""
    names = _ONLY_IN_FIGURE.search(text) or _ANY_SIGN.search(text)
    return not names and len(_GIVEN.findall(text)) >= ORNAMENT_GIVENS


def _is_described(text: str) -> bool:
    """Whether ``text`` names points or shapes and what is given of them, and nothing that only a figure can show."""
    if _ONLY_IN_FIGURE.search(text) or (_SHADING.search(text) and not _SHADING_IN_WORDS.search(text)):
        return False
    points = set("".join(_POINTS.findall(text)))
    named = len(points) >= DESCRIBED_POINTS or len(_SHAPES.findall(text)) >= DESCRIBED_SHAPES
    return named and len(_GIVEN.findall(text)) >= DESCRIBED_GIVENS
