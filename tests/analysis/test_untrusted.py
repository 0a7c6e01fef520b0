"""Foreign text becomes printable without losing what it says."""

import json
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torl.analysis.untrusted import clean, clean_tree, clip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a\u2400b"),
        ("\x1b[31mred", "\u241b[31mred"),
        ("a\u202eb", "a[U+202E]b"),
        ("\ud800!", "\ufffd!"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
        ("\x7f\x85", "\u2421\ufffd"),
        ("<b>中文 π</b>", "<b>中文 π</b>"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_can_be_written_and_stays_the_same_when_cleaned_again(text: str) -> None:
    once = clean(text)
    once.encode("utf-8")
    assert clean(once) == once


def test_clipping_counts_what_it_leaves_out() -> None:
    assert clip("abcdef", 4) == ("abcd", 2)
    assert clip("abc", 4) == ("abc", 0)


def test_tree_has_no_number_that_json_lacks() -> None:
    tree = clean_tree({"a": [nan, inf, 1.5, {"b\x00": ("x\ud800", True, None)}]})
    assert json.loads(json.dumps(tree, allow_nan=False)) == {
        "a": [None, None, 1.5, {"b\u2400": ["x\ufffd", True, None]}]
    }
