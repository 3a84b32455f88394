"""One page: its text with the words of the verdict marked, why it was fetched, and a sanitised archived page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from selectolax.lexbor import LexborHTMLParser

from spoor.api.explaining import lines
from spoor.dashboard.counts import redirects_counted
from spoor.dashboard.page_list import ListedPage, listed_pages
from spoor.dashboard.page_texts import page_at
from spoor.dashboard.reading import NotFound, Reading, settings_of
from spoor.errors import UsageError
from spoor.lab.build.warc_source import parse_http_response
from spoor.live.from_settings import AGENT
from spoor.parse.charset import decode
from spoor.parse.html import HTML_TYPES
from spoor.parse.words import folded
from spoor.report.contents import archived_page
from spoor.report.showing import plain
from spoor.report.why import url_history_in
from spoor.store.crawl_folder import message_of
from spoor.store.crawl_parts import Part
from spoor.store.journal import PageRow
from spoor.urls import normalise

LONGEST = 100_000
"""Characters of a text shown."""
LARGEST = 4_000_000
"""Maximum size in bytes of a page shown as archived."""
MOST_MARKED = 500
_HARMFUL = "script, link, meta, base, iframe, frame, frameset, object, embed, applet, portal, fencedframe, template"
"""Elements that could load or execute something. The policy sent with the page forbids it too, as a second defence."""
_WORD_OF_A_REASON = re.compile(r"[^\W\d_][\w'’-]*", re.UNICODE)
_OF_REASONS = """a about and are away be because by characters charset does from given header holds http in is it its
labelled language letters mean means meta most nearest no none not of on or page profile relevance relevant share text
than that the they this title to topic url was weight with word words"""
"""Words of the reasons themselves, not of pages."""


@dataclass(frozen=True, slots=True)
class PageNumber:
    """`page` is its id in the list of pages."""

    page: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text; `marked` if it is a word that the verdict names."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page and its text, "" if it is not in the archive; `shortened` if the text is longer. `why` explains the
    URL."""

    page: ListedPage
    text: tuple[Piece, ...]
    shortened: bool
    why: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an explanation."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class WhyQuery:
    """A URL in any spelling."""

    url: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a URL, as in `spoor why`."""

    url: str
    lines: tuple[Line, ...]


def shown_page(reading: Reading, asked: PageNumber) -> ShownPage:
    row = _row(reading, asked.page)
    (listed,) = listed_pages(reading, [asked.page])
    page = archived_page(reading.folder, reading.db, row)
    text = page.text if page else ""
    pieces = marked(text[:LONGEST], _words(reading, row.because))
    return ShownPage(listed, pieces, len(text) > LONGEST, _explained(reading, row.url))


def why(reading: Reading, asked: WhyQuery) -> Explanation:
    url = normalise(asked.url.strip())
    if url is None:
        raise UsageError(f"{plain(asked.url)!r} is not an http or https URL, such as https://example.org/about")
    return Explanation(url, _explained(reading, url))


def _explained(reading: Reading, url: str) -> tuple[Line, ...]:
    known = url_history_in([Part(reading.folder, reading.db)], url, AGENT, redirects_counted)
    return tuple(Line(name, what) for name, what in lines(known, reading.now))


def _row(reading: Reading, number: int) -> PageRow:
    row = page_at(reading.db, number)
    if row is None:
        raise NotFound(f"this crawl has no page {number}")
    return row


def _words(reading: Reading, because: str) -> list[str]:
    """The words to mark in a text: keywords of the target, and words of the reason."""
    settings = settings_of(reading)
    keywords = settings.target.keywords if settings else ()
    of_reason = (word for word in _WORD_OF_A_REASON.findall(because) if word.lower() not in _OF_REASONS.split())
    return [*keywords, *of_reason]


def marked(text: str, words: Iterable[str]) -> tuple[Piece, ...]:
    """The text in pieces, which joined give the whole text. Single Latin letters are too common to mark."""
    known = sorted({folded(word) for word in words if len(word) > 1 or not word.isascii()}, key=len, reverse=True)
    if not known or not text:
        return (Piece(text, False),) if text else ()
    # Whole words only where the script has spaces; the word boundary of Python does not fit other scripts.
    spaced = "|".join(rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in known)
    pieces, end = list[Piece](), 0
    for found in re.finditer(spaced, text, re.IGNORECASE):
        if len(pieces) >= 2 * MOST_MARKED:
            break
        pieces += [Piece(text[end : found.start()], False), Piece(found[0], True)]
        end = found.end()
    return tuple(piece for piece in [*pieces, Piece(text[end:], False)] if piece.text)


def harmless(reading: Reading, number: int) -> str:
    """The archived page as HTML, without scripts, frames and anything that loads content."""
    row = _row(reading, number)
    message = message_of(reading.folder, reading.db, row)
    http = parse_http_response(message) if message is not None else None
    if http is None:
        return _note("This page is not in the archive.")
    content_type = http.headers.get("content-type", "")
    mime = content_type.partition(";")[0].strip().lower() or "text/html"
    if len(http.body) > LARGEST:
        return _note(f"The page is too large to be shown: {len(http.body):,} bytes.")
    if mime not in HTML_TYPES:
        page = archived_page(reading.folder, reading.db, row)
        return _note(f"{mime}, shown as text", page.text[:LONGEST] if page else "")
    return without_harm(decode(http.body, content_type).text)


def without_harm(html: str) -> str:
    tree = LexborHTMLParser(html)
    for node in tree.css(_HARMFUL):
        node.decompose()
    for node in tree.css("*"):
        for name in [name for name, value in node.attributes.items() if _leads(name.lower(), value or "")]:
            del node.attrs[name]
    return f"<!doctype html>\n{tree.html or ''}"


_LEADING = frozenset(
    ("srcdoc", "srcset", "poster", "ping", "action", "formaction", "background", "manifest", "href", "xlink:href")
)
"""Attributes with URLs; all are removed from a preview."""


def _leads(attribute: str, value: str) -> bool:
    own = value.lstrip().lower().startswith("data:image/")
    return attribute.startswith("on") or attribute in _LEADING or (attribute == "src" and not own)


def _note(note: str, text: str = "") -> str:
    return f"<!doctype html>\n<p><i>{escape(plain(note))}</i></p>\n<pre>{escape(text)}</pre>"
