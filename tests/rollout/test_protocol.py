"""Where code is found in a turn."""

import pytest

from torl.errors import ConfigError
from torl.rollout.protocol import TORL, get_protocol


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```python\na\nb\n```\n", ["a\nb\n"]),
        ("```python\na\n```\n```python\nb\n```\n", ["a\n", "b\n"]),
        ("text ```python\na\n```", ["a\n"]),
        ("```python\n```\n", ["\n"]),
        ("```python\na\n", []),
        ("```python\na\n```output", []),
        ("```py\na\n```", []),
        ("```Python\na\n```", []),
        ("```\na\n```", []),
        ("```python\na\n```python\nb\n```", ["b\n"]),
        ('```python\ns = """\n```\n"""\n```', ['s = """\n']),
        ("  ```python\n  a\n  ```\n", ["  a\n"]),
        ("no code", []),
    ],
)
def test_complete_blocks_are_found_and_others_are_not(text: str, blocks: list[str]) -> None:
    assert TORL.code_blocks(text) == blocks


def test_an_unknown_protocol_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'tor'.*torl"):
        get_protocol("tor")
