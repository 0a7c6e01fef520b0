"""Where code is found in a turn, and that a protocol is a file."""

from pathlib import Path

import pytest
import yaml

from tests.rollout.script import ANSWER, CONFIG_DIR, configured, masked_text, roll_out, rollout, shipped
from torl.config.load import protocol_names
from torl.errors import ConfigError

TORL, RETOOL = shipped("torl"), shipped("retool")
STRICT = TORL.model_copy(update={"code": TORL.code.model_copy(update={"strict": True})})
NEW = {
    "stop": "[run]",
    "code": {"style": "tag", "open": "[code]", "close": "[/code]"},
    "runs": "all",
    "observation": "[result: {observation}]",
    "no_code": None,
    "when_spent": "end",
}


def codes(protocol, text: str) -> list[str]:
    return [block.code for block in protocol.blocks(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```python\na\nb\n```\n", ["a\nb\n"]),
        ("```python\na\n```\n```python\nb\n```\n", ["a\n", "b\n"]),
        ("text ```python\na\n```", ["a\n"]),
        ("```python3\na\n```", ["a\n"]),
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
def test_complete_fenced_blocks_are_found_and_others_are_not(text: str, blocks: list[str]) -> None:
    assert codes(TORL, text) == blocks


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\na\n```\n```python\nb\n```\n", "b\n"),
        ("```python\na\n```\n```python\nb\n", None),
        ("```python\na\n", None),
        ("text ```python\na\n```", "a\n"),
        ("```py\na\n```", None),
        ('```python\ns = """\n```\n"""\n```', 's = """\n'),
        ("  ```python\n  a\n  ```\n", None),
    ],
)
def test_the_release_s_reading_of_fences(text: str, program: str | None) -> None:
    assert STRICT.program(text) == program


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("<code>a</code>", ["a\n"]),
        ("x <code>\na\nb\n</code> y", ["a\nb\n"]),
        ("<code>\n```python\na\n```\n</code>", ["a\n"]),
        ("<code>\n```py\na\nb\n```</code>", ["a\nb\n"]),
        ("<code>a</code><code>b</code>", ["a\n", "b\n"]),
        ("<code>a<code>b</code>", ["b\n"]),
        ("<code>a", []),
        ("a</code>", []),
        ("</code><code>", []),
    ],
)
def test_complete_tagged_blocks_are_found_and_others_are_not(text: str, blocks: list[str]) -> None:
    assert codes(RETOOL, text) == blocks


def test_prose_is_the_text_without_its_blocks() -> None:
    assert TORL.prose("a\nb ```python\ncode\n```\nc") == "a\nb \nc"
    assert RETOOL.prose("a <code>code</code> b") == "a  b"


@pytest.mark.parametrize("place", ["in the folder", "elsewhere"])
def test_a_new_protocol_is_one_new_file(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "config"
    (folder / "scales").mkdir(parents=True)
    (folder / "protocols").mkdir()
    for name in ("experiments.yaml", "scales/demo.yaml"):
        (folder / name).write_text((CONFIG_DIR / name).read_text())
    path = folder / "protocols" / "mine.yaml" if place == "in the folder" else tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(NEW))
    name = "mine" if place == "in the folder" else str(path)
    protocol = configured(rollout={"protocol": name}, config_dir=folder).rollout.protocol
    assert protocol.name == "mine"
    turn = "[code]a[/code] and [code]b[/code] [run]"
    trajectory, _, ran = roll_out([turn, ANSWER], rollout(protocol=protocol))
    assert ran == ["a\nb\n"]
    assert masked_text(trajectory) == "[result: 7]"


def test_the_shipped_protocols_are_accepted() -> None:
    assert protocol_names(CONFIG_DIR) == ["retool", "torl"]
    assert (TORL.stop, RETOOL.stop) == ("```output", "</code>")


def test_the_whole_protocol_lies_in_the_resolved_configuration() -> None:
    assert configured().model_dump(mode="json")["rollout"]["protocol"]["stop"] == "```output"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"observation": "[result]"}, "no {observation}"),
        ({"when_spent": "refuse"}, "set both"),
        ({"spent": "none left"}, "set both"),
        ({"code": {"style": "tag", "open": "#", "close": "#"}}, "tags must differ"),
        ({"runs": "second"}, "'last', 'first' or 'all'"),
        ({"stopp": "x"}, "did you mean 'stop'"),
        ({"stop": ""}, "at least 1 character"),
    ],
)
def test_a_mistake_in_a_protocol_is_named(changes: dict, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(NEW | changes))
    with pytest.raises(ConfigError, match=r"rollout\.protocol") as caught:
        configured(rollout={"protocol": str(path)})
    assert message in str(caught.value)


def test_an_unknown_protocol_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'tor'.*retool, torl.*Did you mean 'torl'"):
        configured(rollout={"protocol": "tor"})


def test_a_missing_protocol_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml does not exist"):
        configured(rollout={"protocol": "nowhere.yaml"})
