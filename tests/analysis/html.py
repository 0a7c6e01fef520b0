"""What the tests need to know of a page: its elements in order, its text, its ids, and what it refers to."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "input", "hr"}
REFERRING = {"src", "href", "srcset", "poster", "data", "action", "xlink:href", "background"}


@dataclass
class Page(HTMLParser):
    """A parsed page."""

    html: str
    tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    handlers: list[str] = field(default_factory=list)
    unclosed: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID:
            self.unclosed.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed, f"</{tag}> closes nothing"
        assert self.unclosed.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        (self.styles if self.unclosed[-1:] == ["style"] else self.pieces).append(data)

    @property
    def text(self) -> str:
        """All text but style sheets, spaces folded."""
        return " ".join(" ".join(self.pieces).split())

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in REFERRING:
                self.references.append(value or "")
            elif name.startswith("on"):
                self.handlers.append(name)
            elif name == "style":
                self.styles.append(value or "")
