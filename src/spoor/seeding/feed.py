"""Links of the entries of a feed: RSS 0.9x, 1.0, 2.0 or Atom. A feed that could blow up is not read at all."""

from __future__ import annotations

from collections.abc import Mapping
from xml.parsers import expat

from spoor.records import Failure

BEGINNING = 2_000
"""Bytes within which HTML is known as such."""
_ENTRIES = frozenset({"item", "entry"})


def links_in(body: bytes) -> list[str] | Failure:
    """In the order of the feed. Never fails."""
    reading = _Reading()
    try:
        reading.parser.Parse(body, True)
    except (_HasDoctype, expat.ExpatError, LookupError, ValueError) as error:
        return Failure("gives HTML instead of a feed" if _is_html(body) else f"gives no feed that can be read: {error}")
    return reading.links if reading.is_feed else Failure("gives XML that is no feed of RSS or Atom")


def _is_html(body: bytes) -> bool:
    return b"<html" in body[:BEGINNING].lower()


class _HasDoctype(Exception):
    """Raised from inside of the parser, to leave it."""


class _Reading:
    """Inside an entry while `_depth` is above 0, which counts the elements open from there on; inside the text of a
    link while `_said` is a list. Of each entry the first link is taken."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.is_feed = False
        self._depth = 0
        self._taken = False
        self._said: list[str] | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close
        self.parser.CharacterDataHandler = self._read

    def _refuse(self, *doctype: object) -> None:
        raise _HasDoctype("it has a DOCTYPE, which could define entities without end")

    def _open(self, name: str, attributes: Mapping[str, str]) -> None:
        name = name.rpartition(" ")[2]
        self.is_feed = self.is_feed or name in ("rss", "RDF", "feed")
        if self._depth:
            self._depth += 1
            if name == "link" and self._depth == 2 and not self._taken:
                self._open_link(attributes)
        elif name in _ENTRIES:
            self._depth, self._taken = 1, False

    def _open_link(self, attributes: Mapping[str, str]) -> None:
        """Atom has the URL in an attribute, RSS in the text."""
        if "href" not in attributes:
            self._said = []
        elif attributes.get("rel", "alternate") == "alternate":
            self._take(attributes["href"])

    def _read(self, text: str) -> None:
        if self._said is not None:
            self._said.append(text)

    def _close(self, name: str) -> None:
        if self._said is not None and name.rpartition(" ")[2] == "link":
            self._take("".join(self._said))
            self._said = None
        self._depth = max(0, self._depth - 1)

    def _take(self, link: str) -> None:
        self.links.append(link)
        self._taken = True
