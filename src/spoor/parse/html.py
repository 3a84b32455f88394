"""What does a response say? A page with its texts, its links and the words around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spoor.parse.charset import Decoded, decode
from spoor.parse.main_text import Extractor, MainText
from spoor.parse.reading import BORDER, Found, Reading, Span, read
from spoor.parse.surroundings import surroundings
from spoor.records import Link, Page
from spoor.urls import join

LONGEST = 500
"""Characters of an anchor or heading that are kept; one that is never closed holds the rest of the page."""
LONGEST_URL = 8_000
"""Characters of a URL that is followed, or that others are relative to; servers need not take more (RFC 9110)."""

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_LOOKS_LIKE_HTML = re.compile(rb"\s*<(!doctype\s+html|html|head|body|title|meta|!--)", re.IGNORECASE)
_BORDER = re.compile(BORDER)
LONGEST_TAG = 40
"""Characters of a language tag."""


@dataclass(frozen=True, slots=True)
class Interest:
    """What somebody has a use for, besides the words and the links of a page: the main text, if there is an extractor
    to find it; what links say, their anchors and all around them; and at most so many links, None: all."""

    main_text: Extractor | None = None
    contexts: bool = True
    most_links: int | None = None


USUAL = Interest()


def read_page(url: str, body: bytes, content_type: str = "", status: int = 200, interest: Interest = USUAL) -> Page:
    """Never fails. Only HTML that came with a status of 2xx has texts and links.

    `url` is normalised, `content_type` the whole header, and `body` free of transfer and content encoding.
    """
    mime = _mime(body, content_type)
    if 200 <= status < 300 and mime in HTML_TYPES:
        decoded = decode(body, content_type)
        page = _html_page(Page(url, status, mime, size=len(body)), decoded, interest)
        extractor = interest.main_text
        return page if extractor is None else _with_main_text(page, extractor.extract(decoded.text, url))
    return Page(url, status, mime, size=len(body))


def is_html(body: bytes, content_type: str) -> bool:
    """By the whole header, or by how the page begins if there is none."""
    return _mime(body, content_type) in HTML_TYPES


def _mime(body: bytes, content_type: str) -> str:
    mime = content_type.partition(";")[0].strip().lower()
    return "text/html" if not mime and _LOOKS_LIKE_HTML.match(body) else mime


def _html_page(page: Page, decoded: Decoded, interest: Interest) -> Page:
    reading = read(decoded.text)
    text = reading.text()
    base = _join(page.url, reading.base) or page.url
    links, left_out = _links(page.url, base, reading, interest.most_links)
    return Page(
        url=page.url,
        status=page.status,
        content_type=page.content_type,
        header_charset=decoded.header,
        meta_charset=decoded.meta,
        detected_charset=decoded.detected,
        size=page.size,
        title=reading.title,
        text="\n".join([line for block in text.split(BORDER) if (line := " ".join(block.split()))]),
        tag_texts=_tag_texts(reading, text),
        links=tuple(_with_contexts(links, reading, text) if interest.contexts else _bare(links, reading)),
        unrecorded=left_out,
        canonical=(_join(base, reading.canonical) if reading.canonical else None) or "",
        noindex=reading.noindex,
        language=reading.language[:LONGEST_TAG],
    )


def _with_main_text(page: Page, found: MainText) -> Page:
    return replace(page, main_text=found.text, published=found.published)


def _tag_texts(reading: Reading, text: str) -> dict[str, str]:
    """For each tag the words of all its elements, one element a line; in a tag within itself only once."""
    titles = {"title": reading.title} if reading.title else {}
    texts = {tag: "\n".join(_lines(spans, text)) for tag, spans in reading.spans.items()}
    return titles | {name: said for name, said in (texts | reading.metas).items() if said}


def _lines(spans: Iterable[Span], text: str) -> Iterator[str]:
    read_to = 0
    for start, end in spans:
        if end > read_to and (words := _words(text[start:end])):
            yield words
            read_to = end


Places = dict[str, list[Found]]
"""Each URL that a page links to, in the order of their first places, with all of its places."""


def _links(url: str, base: str, reading: Reading, most: int | None) -> tuple[Places, int]:
    """Those that are kept, and how many are not: of a page with too many, the last ones, but those around the content
    before those in it."""
    places: Places = {}
    targets: dict[str, str | None] = {}
    for found in reading.links:
        href = found.href
        if href not in targets:
            targets[href] = _join(base, href)
        target = targets[href]
        if target is not None and target != url:
            places.setdefault(target, []).append(found)
    too_many = 0 if most is None else len(places) - most
    return (_fewer(places, most), too_many) if most is not None and too_many > 0 else (places, 0)


def _fewer(places: Places, most: int) -> Places:
    around = [all(found.navigation for found in each) for each in places.values()]
    by_worth = sorted(range(len(places)), key=lambda number: (around[number], number))
    kept = set(by_worth[:most])
    return {target: each for number, (target, each) in enumerate(places.items()) if number in kept}


def _join(base: str, href: str) -> str | None:
    """None also for what is too long to be a URL, so that a page cannot make much of little."""
    if len(href) > LONGEST_URL:
        return None
    url = join(base, href)
    return url if url is not None and len(url) <= LONGEST_URL else None


def _bare(places: Places, reading: Reading) -> list[Link]:
    return [Link(target, nofollow=reading.nofollow or _nofollow(found)) for target, found in places.items()]


def _nofollow(places: Iterable[Found]) -> bool:
    """A page that links to another twice may ask to pass over one of the links, not over the other page."""
    return all(bool(found.rel) and "nofollow" in found.rel.lower() for found in places)


def _with_contexts(places: Places, reading: Reading, text: str) -> Iterator[Link]:
    """As the first place says that has an anchor."""
    headings: dict[int, str] = {}
    crowded = _crowded(reading.links, text)
    told = [_telling(found, text) for found in places.values()]
    around = surroundings(text, [end for place, _ in told for end in place.span])
    for (target, found), (place, anchor) in zip(places.items(), told, strict=True):
        start, end = place.span
        yield Link(
            url=target,
            anchor=anchor,
            left=around.before(start),
            right=around.after(end),
            heading=_heading(place.heading, text, headings),
            nofollow=reading.nofollow or _nofollow(found),
            hreflang=place.hreflang[:LONGEST_TAG],
            rel=place.rel.lower()[:LONGEST_TAG],
            path=place.path,
            navigation=place.navigation or start in crowded,
        )


def _heading(span: Span | None, text: str, known: dict[int, str]) -> str:
    """Read once for all links below it; `known` holds those read before, by where they begin."""
    if span is None:
        return ""
    start, end = span
    if start not in known:
        known[start] = _words(text[start : min(end, start + LONGEST)])
    return known[start]


def _telling(places: Sequence[Found], text: str) -> tuple[Found, str]:
    """The first of them that has an anchor, and what that is."""
    for place in places:
        if anchor := _anchor(place, text):
            return place, anchor
    return places[0], ""


def _anchor(found: Found, text: str) -> str:
    start, end = found.span
    return _words(text[start : min(end, start + LONGEST)]) or _words(found.instead[:LONGEST])


def _crowded(links: Iterable[Found], text: str) -> set[int]:
    """The places of links that stand in blocks made of links more than of other words."""
    borders = [-1, *(border.start() for border in _BORDER.finditer(text)), len(text)]
    blocks: defaultdict[tuple[int, int], list[Span]] = defaultdict(list)
    for found in links:
        start, end = found.span
        before, after = borders[bisect_left(borders, start) - 1], borders[bisect_left(borders, end)]
        blocks[before + 1, after].append(found.span)
    return {
        span[0]
        for (begin, end), spans in blocks.items()
        if 2 * sum([span[1] - span[0] for span in spans]) > end - begin
        for span in spans
    }


def _words(text: str) -> str:
    """With every run of white space, and every border of a block, as one blank."""
    return " ".join(text.split())
