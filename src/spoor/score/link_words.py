"""What a link says before it is followed: the words of its URL, of its anchor, and around it, each of its own kind."""

from __future__ import annotations

from collections.abc import Iterator

from spoor.records import Hints, Link
from spoor.score.url_words import url_words
from spoor.text.features import place
from spoor.text.words import Words

ANY_LINK = 0.0
"""Said by every link, so that none says nothing."""
_WORDS = Words()


def said_by(link: Link) -> Hints:
    """Each word as a number below `PLACES` of `spoor.text.features`, once."""
    return (ANY_LINK, *sorted({float(place(word)) for word in _words(link)}))


def said_by_url(url: str) -> Hints:
    return said_by(Link(url))


def _words(link: Link) -> Iterator[str]:
    for kind, text in (("url", url_words(link.url)), ("anchor", link.anchor), ("around", f"{link.left} {link.right}")):
        for word in _WORDS.of(text):
            yield f"{kind}: {word}"
