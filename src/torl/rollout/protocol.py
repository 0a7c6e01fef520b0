"""How a model calls the tool, as data: the marker that asks for execution, where the code is, how the result is shown.

One YAML file a protocol in ``config/protocols`` (see ``torl.config.load``). Nothing is kept between two calls: each runs in a
process of its own.

Differs from ToRL: the closing fence may be indented like its opening fence, a request without a complete code block is
answered in words (the release silently drops the marker), and so is one for which no call is left (the release lets the
model go on past the marker and write an output of its own).
"""

import re
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Text = Annotated[str, Field(min_length=1)]
INNER_FENCE = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)


class Block(NamedTuple):
    """A complete code block: where it begins and ends in its text, its delimiters included, and the code."""

    start: int
    end: int
    code: str


class Part(BaseModel):
    """Base of the parts of a protocol: frozen, no unknown keys, field docstrings as descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, strict=True)


class CodeFormat(Part):
    """Where the code is in what the model writes."""

    style: Literal["fence", "tag"]
    """fence: ``open`` begins or ends a line and ``close`` begins one; tag: both may stand anywhere."""
    open: Text
    """Opens a block; a second opening discards an unclosed block."""
    close: Text
    """Closes the block."""
    strict: bool = False
    """Read fences as the release does: a closing fence must not be indented, and with an unclosed last block nothing runs."""


class Protocol(Part):
    """One way of calling the tool."""

    name: Text
    """Name of its file without the ending."""
    stop: Text
    """Generation stops once the model has written this; it stays in the response and is trained on."""
    code: CodeFormat
    """Where the code is."""
    runs: Literal["last", "first", "all"]
    """Which block of a turn runs where there are several; all: as one program, in their order."""
    observation: Text
    """What is inserted after the marker; ``{observation}`` is the text of the result."""
    no_code: Text | None
    """The result of a request without a complete code block; null: nothing is inserted and the model goes on."""
    when_spent: Literal["refuse", "continue", "end"]
    """What the marker does once all calls are used up: refuse: the result is ``spent``; continue: nothing; end: it ends the
    response. With no call from the start there is no tool, and the marker does nothing."""
    spent: Text | None = None
    """The result of a request for which no call is left."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if "{observation}" not in self.observation:
            raise ValueError(f"observation {self.observation!r} has no {{observation}}; put it where the result stands")
        if (self.when_spent == "refuse") != (self.spent is not None):
            raise ValueError(
                f"when_spent is {self.when_spent!r} and spent {self.spent!r}; set both, or leave spent out"
            )
        if self.code.style == "tag" and self.code.open == self.code.close:
            raise ValueError(f"code.open and code.close are both {self.code.open!r}; tags must differ")
        return self

    def blocks(self, text: str) -> list[Block]:
        """The complete code blocks of ``text`` in order; a block that is not closed before the marker is none."""
        return self._fenced(text) if self.code.style == "fence" else self._tagged(text)

    def program(self, turn: str) -> str | None:
        """The code that a request at the end of ``turn`` runs; None where the turn has no complete block."""
        blocks = self.blocks(turn)
        if not blocks or (self.code.strict and self._opens(turn[blocks[-1].end :])):
            return None
        codes = [block.code for block in blocks]
        return {"last": codes[-1], "first": codes[0], "all": "".join(codes)}[self.runs]

    def prose(self, text: str) -> str:
        """``text`` without its complete code blocks."""
        kept, position = [], 0
        for block in self.blocks(text):
            kept.append(text[position : block.start])
            position = block.end
        return "".join(kept) + text[position:]

    def wrap(self, observation: str) -> str:
        """The text inserted into the response for ``observation``."""
        return self.observation.replace("{observation}", observation)

    def _fenced(self, text: str) -> list[Block]:
        blocks: list[Block] = []
        start: int | None = None
        lines: list[str] = []
        position = 0
        for line in re.split(r"(?<=\n)", text):
            bare = line.strip()
            if self._opens(bare):
                start, lines = position + line.index(self.code.open), []
            elif bare.startswith(self.stop):
                start = None
            elif start is not None and (line if self.code.strict else bare).startswith(self.code.close):
                blocks.append(Block(start, position + len(line.rstrip()), "".join(lines) or "\n"))
                start = None
            elif start is not None:
                lines.append(line)
            position += len(line)
        return blocks

    def _opens(self, text: str) -> bool:
        return any(line.startswith(self.code.open) or line.endswith(self.code.open) for line in text.split("\n"))

    def _tagged(self, text: str) -> list[Block]:
        """From each closing tag back to the nearest opening one."""
        blocks: list[Block] = []
        position = 0
        while (end := text.find(self.code.close, position)) >= 0:
            start = text.rfind(self.code.open, position, end)
            position = end + len(self.code.close)
            if start >= 0:
                inner = text[start + len(self.code.open) : end]
                fenced = INNER_FENCE.match(inner)
                blocks.append(Block(start, position, (fenced[1] if fenced else inner.strip("\n")) + "\n"))
        return blocks
