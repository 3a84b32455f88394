"""Serves a recorded web over HTTP as a proxy, with HTML generated from the recorded texts and links.

The text is written row by row. Links are placed by the words around them, inside the elements of their paths; links
that cannot be placed follow at the end. Of the tags that weight words, only headings are restored.
"""

from __future__ import annotations

import asyncio
import html
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TextIO

import numpy as np
from aiohttp import web as http

from spoor.lab.page_layout import BODY, HEADING_TAGS, UNSEEN_IN_HEAD, Layout, Occurrence, Path, Row, blocks
from spoor.lab.sitemaps import written_sitemap
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions, Network, RecordedWorld
from spoor.parse.charset import canonical, codec, decode
from spoor.parse.tags import BLOCKS
from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, SitemapFile, Visit
from spoor.roles import World
from spoor.urls import host_of, normalise, robots_url

# Generates HTML for a page of which only texts and links were recorded. A parser extracts the same texts and links from
# it.


def markup(page: Page) -> str:
    """The whole document, before encoding."""
    layout = Layout.of(page)
    language = f' lang="{html.escape(page.language)}"' if page.language else ""
    head = f"{_doctype(page.links)}<html{language}><head>{''.join(_head(page, layout.in_head))}</head>\n"
    if page.links and all(link.path.startswith("html/frameset") for link in page.links):
        return f"{head}<frameset>{''.join(map(_frame, page.links))}</frameset></html>"
    body = _Body(layout, follow=not _nobody_follows(page))
    body.write()
    return f"{head}<body>{''.join(body.written)}</body></html>"


def _doctype(links: Iterable[Link]) -> str:
    """With a doctype, no parser keeps a table inside a paragraph."""
    return "" if any("/p/table" in link.path for link in links) else "<!DOCTYPE html>\n"


def _nobody_follows(page: Page) -> bool:
    """Whether the whole page is nofollow."""
    return bool(page.links) and all(link.nofollow for link in page.links)


def _head(page: Page, links: Iterable[Occurrence]) -> Iterator[str]:
    if page.meta_charset:
        yield f'<meta charset="{html.escape(page.meta_charset)}">'
    yield f"<title>{html.escape(page.title)}</title>"
    for name in ("description", "keywords"):
        if said := page.tag_texts.get(name):
            yield f'<meta name="{name}" content="{html.escape(said)}">'
    if _nobody_follows(page):
        yield '<meta name="robots" content="nofollow">'
    if page.needs_scripts:
        yield '<script src="unrecorded.js"></script>'
    for one in links:
        link = one.link._replace(rel="alternate", hreflang="x", anchor="") if one.bare else one.link
        refresh = f'<meta http-equiv="refresh" content="0; url={html.escape(link.url)}">'
        element = f"<link{_attributes(link)}>" if link.hreflang else refresh
        yield f"<noscript>{element}</noscript>" if link.path == UNSEEN_IN_HEAD else element


def _frame(link: Link) -> str:
    inner = link.path.count("frameset") - 1
    frame = f'<frame src="{html.escape(link.url)}" title="{html.escape(link.anchor)}">'
    return "<frameset>" * inner + frame + "</frameset>" * inner


def _attributes(link: Link) -> str:
    said = {"href": link.url, "rel": link.rel, "hreflang": link.hreflang, "title": link.anchor}
    return "".join(f' {name}="{html.escape(value)}"' for name, value in said.items() if value)


@dataclass
class _Body:
    """The output so far, and the open elements. `follow`: nofollow is set link by link rather than for the whole page.
    `under_heading`: the last heading had words."""

    layout: Layout
    follow: bool
    written: list[str] = field(default_factory=list)
    under_heading: bool = False
    _open: list[str] = field(default_factory=lambda: list(BODY))

    def write(self) -> None:
        for row in self.layout.rows:
            self._write_alone(row.before)
            if row.start < row.end:
                self._begin(row.path, row.inside, row.goes_on)
                self._write_row(row)
                self.under_heading = self.under_heading or not HEADING_TAGS.isdisjoint(row.path)
        self._close_to(len(BODY))

    def _write_alone(self, links: Iterable[Occurrence]) -> None:
        """Each on a line of its own. A space in the link fills the line where the link must count as navigation."""
        for one in links:
            if not one.bare:
                path = blocks(one.path)
                self._begin(path, [one])
                self.under_heading = self.under_heading and HEADING_TAGS.isdisjoint(path)
            self._write_link(one, " " if one.is_crowded else "")

    def _write_row(self, row: Row) -> None:
        """A parser takes links for navigation if they make up more than half of a line. To get the same result, other
        words are put into links to the page itself, which do not count, or spaces are added."""
        linked = 2 * sum(one.end - one.start for one in row.inside)
        reads_crowded, is_crowded = linked > row.end - row.start, any(one.is_crowded for one in row.inside)
        place = row.start
        for one in row.inside:
            self._write_words(place, one.start, into_link=is_crowded and not reads_crowded)
            self._write_link(one)
            place = one.end
        self._write_words(place, row.end, into_link=is_crowded and not reads_crowded)
        if reads_crowded and not is_crowded:
            self.written.append(" " * linked)

    def _write_link(self, one: Occurrence, blank: str = "") -> None:
        depth, path = len(self._open), one.path
        if not one.bare and list(path[:depth]) == self._open and BLOCKS.isdisjoint(path[depth:]):
            self._enter(path[depth:])
        self.written.append(f"<a{_attributes(self._said(one))}>")
        self._write_words(one.start, one.end)
        self.written.append(f"{blank}</a>")
        self._close_to(depth)

    def _said(self, one: Occurrence) -> Link:
        """The attributes of a link; its anchor text only if it is not in the text."""
        link = Link(one.link.url) if one.bare else one.link
        rel = link.rel
        if self.follow and one.link.nofollow and "nofollow" not in rel:
            rel = f"{rel} nofollow".strip()
        return link._replace(rel=rel, anchor="" if one.has_words else link.anchor)

    def _write_words(self, start: int, end: int, into_link: bool = False) -> None:
        if start < end:
            said = "".join(self._with_headings(start, end))
            self.written.append(f'<a href="#">{said}</a>' if into_link else said)

    def _with_headings(self, start: int, end: int) -> Iterator[str]:
        for heading in self.layout.headings if HEADING_TAGS.isdisjoint(self._open) else ():
            if start <= heading.start and heading.end <= end:
                yield from self._lines(start, heading.start)
                yield f"<{heading.tag}>{''.join(self._lines(heading.start, heading.end))}</{heading.tag}>"
                self.under_heading, start = True, heading.end
        yield from self._lines(start, end)

    def _lines(self, start: int, end: int) -> Iterator[str]:
        for place in [*(place for place in range(start, end) if place in self.layout.breaks), end]:
            yield html.escape(self.layout.text[start:place], quote=False)
            yield "<br>" if place < end else ""
            start = place + 1

    def _begin(self, path: Path, links: Sequence[Occurrence], heading_goes_on: bool = False) -> None:
        """Starts a new line inside these elements. The innermost element starts with it, and so does a heading."""
        if self.under_heading and HEADING_TAGS.isdisjoint(path):
            self._leave_heading(links)
        common = 0
        for mine, other in zip(self._open, path if heading_goes_on else path[:-1], strict=False):
            if mine != other or (mine in HEADING_TAGS and not heading_goes_on):
                break
            common += 1
        if len(self._open) > (depth := max(common, len(BODY))):
            self._close_to(depth)
            self.written.append("\n")
        self.written.append("" if len(path) > depth else "<br>")
        self._enter(path[depth:])

    def _leave_heading(self, links: Iterable[Occurrence]) -> None:
        """Writes an empty heading, so that links without a heading can follow."""
        if any(not (one.bare or one.link.heading) for one in links):
            self._close_to(len(BODY))
            self.written.append("<h6></h6>")
            self.under_heading = False

    def _enter(self, tags: Iterable[str]) -> None:
        for tag in tags:
            self._open.append(tag)
            self.written.append(f"<{tag}>")

    def _close_to(self, depth: int) -> None:
        while len(self._open) > depth:
            self.written.append(f"</{self._open.pop()}>")


# Serves a recorded web over HTTP: as a proxy it answers for every recorded host name, and for no other.


TIMED_OUT = 504
"""The status for a transient failure: a crawler may retry, and need not stop requests to the whole host."""


class WebServer:
    """Generates pages from their recorded attributes, texts, and links with contexts. A crawler that parses them finds
    the same texts, and the same links in the same order with the same words around them.

    Under `conditions`, latencies, failures and robots.txt are those that `Network` draws for the same host, URL and
    try. Tries are counted from 0 for each URL over the lifetime of the server. None: it answers at once and never
    fails.

    `log` receives a line for every request: arrival (seconds since 1970), duration, status, URL.
    """

    def __init__(self, web: Web, conditions: Conditions | None = None, log: TextIO | None = None) -> None:
        world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
        self._world: World = world if conditions is None else Network(world, conditions)
        self._conditioned = conditions is not None
        self._sitemaps = web.sitemaps
        self._requests: Counter[str] = Counter()
        self._log = log

    async def answer(self, request: http.BaseRequest) -> http.StreamResponse:
        """A page, a redirect or an error, as recorded. A URL that was never recorded is not found."""
        if request.method == "CONNECT":
            return http.Response(status=501, text="request https pages by their whole URL, without CONNECT\n")
        whole = request.raw_path.startswith(("http://", "https://"))  # request.url would turn https into http
        url = normalise(request.raw_path if whole else str(request.url))
        if url is None:
            return http.Response(status=400, text="spoor serves http and https URLs only\n")
        clock = asyncio.get_running_loop().time
        came, began = time.time(), clock()
        outcome, seconds = self._world.fetch(self._visit(url))
        response = _response(outcome)
        if self._conditioned:
            await asyncio.sleep(began + seconds - clock())
        if self._log is not None:
            self._log.write(f"{came:.6f}\t{clock() - began:.6f}\t{response.status}\t{url}\n")
        return response

    def _visit(self, url: str) -> Visit:
        tries = self._requests[url]
        self._requests[url] += 1
        return Visit(url, host_of(url), 0, 0.0, self._purpose(url), tries=tries)

    def _purpose(self, url: str) -> Literal["page", "robots", "sitemap"]:
        if url == robots_url(url) and (self._conditioned or self._sitemaps.named):
            return "robots"
        return "sitemap" if url in self._sitemaps else "page"


def _response(outcome: Outcome) -> http.Response:
    match outcome:
        case Page() as page:
            return _page(page)
        case Redirect(to, status):
            return http.Response(status=status, headers={"Location": to})
        case RobotsRules(text):
            return http.Response(text=text)
        case SitemapFile() as file:
            return http.Response(text=written_sitemap(file), content_type="application/xml")
        case Failure(reason, again_after) if again_after is not None:
            headers = {"Retry-After": str(math.ceil(again_after))}
            return http.Response(status=TIMED_OUT, headers=headers, text=f"{reason}\n")
        case Failure(reason):
            return http.Response(status=_status(reason), text=f"{reason}\n")
    raise AssertionError(f"a recorded web gave {outcome}")


def _status(reason: str) -> int:
    code = reason.removeprefix("HTTP ")
    return int(code) if code.isdecimal() else 404


def _page(page: Page) -> http.Response:
    kind = f"{page.content_type}; charset={page.header_charset}" if page.header_charset else page.content_type
    return http.Response(body=_encoded(page), headers={"Content-Type": kind})


def _encoded(page: Page) -> bytes:
    """Encodes in the declared charset. Without one, the crawler detects the charset from the bytes; if it would detect
    another one than recorded, non-ASCII characters are written as character references."""
    document, declared = markup(page), page.header_charset or page.meta_charset
    charset = canonical(declared or page.detected_charset) or "utf-8"
    body = document.encode(codec(charset), "xmlcharrefreplace")
    if declared or decode(body, "").detected == page.detected_charset:
        return body
    return document.encode("ascii", "xmlcharrefreplace")
