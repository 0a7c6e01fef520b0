"""A member is its value, and knows its sentence."""

import json

from torl.enums import ExplainedEnum


class Colour(ExplainedEnum):
    """A colour."""

    RED = "red", "Like blood."


def test_a_member_is_its_value_and_knows_its_sentence() -> None:
    assert Colour("red") is Colour.RED
    assert json.dumps({"colour": Colour.RED}) == '{"colour": "red"}'
    assert Colour.RED.sentence == "Like blood."
