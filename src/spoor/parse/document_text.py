"""The text of a document in lines, with the positions of its links."""

from __future__ import annotations

from dataclasses import dataclass, field

from spoor.parse.tidy_text import words_after, words_before
from spoor.records import Link

LONGEST_TEXT = 5_000_000
"""Maximum number of characters read from a document; a book has a million."""
LONGEST_TITLE = 300
"""Maximum length of a title in characters."""

LONGEST_ANCHOR = 500
"""Maximum length of an anchor in characters."""


class Unreadable(Exception):
    """The message is a short reason why a document has no text."""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The URLs of `links` are as written; `language` as declared by the document, "" if it is not."""

    text: str
    title: str = ""
    language: str = ""
    links: tuple[Link, ...] = ()

    @property
    def heading(self) -> str:
        """The title, or else the first line."""
        return (" ".join(self.title.split()) or self.text.partition("\n")[0])[:LONGEST_TITLE]


@dataclass
class Lines:
    """Builds a text: every run of white space becomes one space, no line is empty, and none begins or ends with a
    space. Text beyond the maximum length is dropped."""

    length: int = 0
    _parts: list[str] = field(default_factory=list)
    _anchors: list[tuple[str, int, int]] = field(default_factory=list)
    _gap: str = ""

    def write(self, said: str) -> None:
        if not said or self.full:
            return
        words = " ".join(said.split())
        if said[0].isspace():
            self._open_gap(" ")
        if words:
            self._append(self._gap + words)
            self._gap = ""
        if said[-1].isspace():
            self._open_gap(" ")

    def end_line(self) -> None:
        self._open_gap("\n")

    @property
    def full(self) -> bool:
        return self.length >= LONGEST_TEXT

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def end_link(self, href: str, start: int) -> None:
        """`start` is the length of the text where the anchor begins."""
        if href:
            self._anchors.append((href, start, self.length))

    def links(self, window: int) -> tuple[Link, ...]:
        """With their context on each side, up to `window` characters."""
        words = self.text.replace("\n", " ")
        return tuple(
            Link(
                href,
                words[start:end].strip()[:LONGEST_ANCHOR],
                words_before(words, start, window),
                words_after(words, end, window),
            )
            for href, start, end in self._anchors
        )

    def _open_gap(self, gap: str) -> None:
        if self.length and self._gap != "\n":
            self._gap = gap

    def _append(self, said: str) -> None:
        said = said[: LONGEST_TEXT - self.length]
        self._parts.append(said)
        self.length += len(said)
