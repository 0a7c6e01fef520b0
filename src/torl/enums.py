"""Enumerations whose members say what they mean."""

from enum import StrEnum
from typing import Self


class ExplainedEnum(StrEnum):
    """Members are written as value and sentence: ``PROOF = "proof", "The problem asks for a proof."``"""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Self:
        """Make a member that knows its sentence."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member
