"""How a model calls the tool, as data: the marker that asks for execution, where the code is, how the result is shown.

Differs from ToRL: the closing fence may be indented like its opening fence, and a request without a complete code block is
answered in words (the release silently drops the marker).
"""

from dataclasses import dataclass

from torl.errors import ConfigError

NO_CODE = "[no complete code block to run]"


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One way of calling the tool."""

    name: str
    stop: str
    """Generation stops once the model has written this; it stays in the response and is trained on."""
    code_open: str
    """A line that ends with this opens a code block."""
    code_close: str
    """A line that begins with this closes the block."""
    observation_format: str
    """What is inserted after the marker; ``{observation}`` is the text of the result."""

    def code_blocks(self, text: str) -> list[str]:
        """The complete code blocks of ``text`` in order; a block that is not closed before the marker is none."""
        blocks: list[str] = []
        lines: list[str] | None = None
        for line in text.split("\n"):
            bare = line.strip()
            if bare.endswith(self.code_open):
                lines = []  # a new opening discards an unclosed block
            elif bare.startswith(self.stop):
                lines = None
            elif lines is not None and bare.startswith(self.code_close):
                blocks.append("\n".join(lines) + "\n")
                lines = None
            elif lines is not None:
                lines.append(line)
        return blocks

    def wrap(self, observation: str) -> str:
        """The text inserted into the response for ``observation``."""
        return self.observation_format.replace("{observation}", observation)


TORL = Protocol(
    name="torl",
    stop="```output",
    code_open="```python",
    code_close="```",
    observation_format="\n{observation}\n```\n",
)

PROTOCOLS = {protocol.name: protocol for protocol in (TORL,)}


def get_protocol(name: str) -> Protocol:
    """The protocol called ``name``.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in PROTOCOLS:
        raise ConfigError(f"rollout.protocol is {name!r}; choose one of {', '.join(sorted(PROTOCOLS))}.")
    return PROTOCOLS[name]
