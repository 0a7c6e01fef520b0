"""Text from models, tools and data made safe to show: nothing invisible, nothing that reorders, nothing endless.

Escaping for HTML is the template's part; this module makes text printable, so that what a reader sees is what is there.
"""

import re
from math import isfinite
from typing import Any

CONTROL_PICTURES = 0x2400
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
UNPRINTABLE = re.compile("[\x80-\x9f\ud800-\udfff\ufffe\uffff]")
SHOWN_CHARACTERS = 4_000
"""Longest text of one segment on the page; its file has the rest."""


def clean(text: str) -> str:
    """``text`` with control characters as pictures, direction marks by name, and broken code points replaced."""
    text = text.replace("\r\n", "\n")
    text = CONTROL.sub(lambda match: _picture(match[0]), text)
    text = BIDI.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)
    return UNPRINTABLE.sub("\ufffd", text)


def clip(text: str, limit: int = SHOWN_CHARACTERS) -> tuple[str, int]:
    """The first characters of ``text``, and how many are left out."""
    return text[:limit], max(0, len(text) - limit)


def clean_tree(value: Any) -> Any:
    """``value`` with every string cleaned and every number that JSON cannot hold as None."""
    if isinstance(value, dict):
        return {clean(str(key)): clean_tree(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_tree(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return clean(value) if isinstance(value, str) else value


def _picture(character: str) -> str:
    return "\u2421" if character == "\x7f" else chr(CONTROL_PICTURES + ord(character))
