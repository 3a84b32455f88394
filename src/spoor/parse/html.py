"""What does a response say? A page with its texts, its links and the words around them."""

from __future__ import annotations

import re
from collections import defaultdict

from spoor.parse.charset import Decoded, decode
from spoor.parse.reading import Found, Reading, Span, read
from spoor.records import Link, Page
from spoor.urls import join

WINDOW = 100
"""Characters of text kept on each side of an anchor."""
LONGEST = 500
"""Characters of an anchor or heading that are kept; one that is never closed holds the rest of the page."""

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_LOOKS_LIKE_HTML = re.compile(rb"\s*<(!doctype\s+html|html|head|body|title|meta|!--)", re.IGNORECASE)
_BLANKS = re.compile(r" {2,}")


def read_page(url: str, body: bytes, content_type: str = "", status: int = 200) -> Page:
    """Never fails. Only HTML that came with a status of 2xx has texts and links.

    `url` is normalised, `content_type` the whole header, and `body` free of transfer and content encoding.
    """
    mime = content_type.partition(";")[0].strip().lower()
    if not mime and _LOOKS_LIKE_HTML.match(body):
        mime = "text/html"
    if 200 <= status < 300 and mime in HTML_TYPES:
        return _html_page(Page(url, status, mime, size=len(body)), decode(body, content_type))
    return Page(url, status, mime, size=len(body))


def _html_page(page: Page, decoded: Decoded) -> Page:
    reading = read(decoded.text)
    text = "".join(reading.pieces)
    base = join(page.url, reading.base) or page.url
    return Page(
        url=page.url,
        status=page.status,
        content_type=page.content_type,
        header_charset=decoded.header,
        meta_charset=decoded.meta,
        detected_charset=decoded.detected,
        size=page.size,
        title=reading.title,
        text=_tidy(text),
        tag_texts=_tag_texts(reading, text),
        links=_links(page.url, base, reading, text),
        canonical=(join(base, reading.canonical) if reading.canonical else None) or "",
        noindex=reading.noindex,
    )


def _tidy(text: str) -> str:
    """Lines without blanks around them, none of them empty, no blank twice. Mostly without a regular expression: on a
    long page that would cost as much as parsing it."""
    lines = "\n".join([line for raw in text.split("\n") if (line := raw.strip())])
    return _BLANKS.sub(" ", lines) if "  " in lines else lines


def _tag_texts(reading: Reading, text: str) -> dict[str, str]:
    """For each tag the words of all its elements, one element a line; in a tag within itself only once."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    ends: defaultdict[str, int] = defaultdict(int)
    for span in reading.spans:
        if span.end > ends[span.tag] and (words := " ".join(text[span.start : span.end].split())):
            lines[span.tag].append(words)
            ends[span.tag] = span.end
    texts = {tag: "\n".join(found) for tag, found in lines.items()}
    titles = {"title": reading.title} if reading.title else {}
    return titles | texts | {name: content for name, content in reading.metas.items() if content}


def _links(url: str, base: str, reading: Reading, text: str) -> tuple[Link, ...]:
    """Each target once, at its first place, with the first context there that has an anchor."""
    links: dict[str, Link] = {}
    targets: dict[str, str | None] = {}
    for found in reading.links:
        if found.href not in targets:
            targets[found.href] = join(base, found.href)
        target = targets[found.href]
        if target is None or target == url:
            continue
        if target not in links or not links[target].anchor:
            links[target] = _link(target, found, text, reading.nofollow)
    return tuple(links.values())


def _link(target: str, found: Found, text: str, nofollow: bool) -> Link:
    start, end = found.span.start, found.span.end
    return Link(
        url=target,
        anchor=_words(text, found.span) or " ".join(found.instead[:LONGEST].split()),
        left=" ".join(text[max(0, start - WINDOW) : start].split()),
        right=" ".join(text[end : end + WINDOW].split()),
        heading=_words(text, found.heading) if found.heading else "",
        nofollow=found.nofollow or nofollow,
    )


def _words(text: str, span: Span) -> str:
    return " ".join(text[span.start : min(span.end, span.start + LONGEST)].split())
