"""Serves a recorded web over HTTP as a proxy: pages as they were sent, byte for byte, or only their links where the web
has no HTML."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Literal, TextIO
from urllib.parse import urlsplit

import numpy as np
from aiohttp import web as http

from spoor.lab.bodies import CONTENT_TYPE, Body
from spoor.lab.sitemaps import written_sitemap
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions, Network, RecordedWorld
from spoor.parse.charset import canonical, codec
from spoor.parse.html import HTML_TYPES
from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, SitemapFile, Visit
from spoor.roles import World
from spoor.urls import host_of, near_misses, normalise, robots_url

# Serves a recorded web over HTTP: as a proxy it answers for every recorded host name, and for no other.


TIMED_OUT = 504
"""The status for a transient failure: a crawler may retry, and need not stop requests to the whole host."""
_MOVED = 301


class WebServer:
    """Sends the stored body of a page with its headers. A page of which only links are known is a page of links. A near
    miss of a recorded URL is answered with the page, unless the web was built without near misses; where relative links
    would lead elsewhere, with a redirect to it.

    Under `conditions`, latencies, failures and robots.txt are those that `Network` draws for the same host, URL and
    try. Tries are counted from 0 for each URL over the lifetime of the server. None: it answers at once and never
    fails.

    `log` receives a line for every request: arrival (seconds since 1970), duration, status, URL.
    """

    def __init__(self, web: Web, conditions: Conditions | None = None, log: TextIO | None = None) -> None:
        world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=not web.has_html, open_ended=True)
        self._web, self._recorded = web, world
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
        visit = self._visit(url)
        outcome, seconds = self._world.fetch(visit)
        response = self._response(url, outcome)
        if self._conditioned:
            await asyncio.sleep(began + seconds - clock())
        if self._log is not None:
            self._log.write(f"{came:.6f}\t{clock() - began:.6f}\t{response.status}\t{url}\n")
        return response

    def _visit(self, url: str) -> Visit:
        purpose = self._purpose(url)
        found = self._page_at(url) if purpose == "page" else url
        tries = self._requests[found]
        self._requests[found] += 1
        return Visit(found, host_of(found), 0, 0.0, purpose, tries=tries)

    def _purpose(self, url: str) -> Literal["page", "robots", "sitemap"]:
        if url == robots_url(url) and (self._conditioned or self._sitemaps.named or self._is_recorded(url)):
            return "robots"
        return "sitemap" if url in self._sitemaps else "page"

    def _page_at(self, url: str) -> str:
        """The URL under which the page of a URL was recorded; the URL itself if there is none."""
        if self._web.about.get("exact") or self._is_recorded(url):
            return url
        return next(filter(self._is_recorded, near_misses(url)), url)

    def _is_recorded(self, url: str) -> bool:
        number = self._web.urls.find(url)
        return number is not None and number < self._web.pages

    def _response(self, url: str, outcome: Outcome) -> http.Response:
        match outcome:
            case Page() as page if _folder(page.url) != _folder(url):
                return http.Response(status=_MOVED, headers={"Location": page.url})
            case Page() as page:
                return self._page(page)
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

    def _page(self, page: Page) -> http.Response:
        number = self._recorded.number(page.url)
        assert number is not None
        body = self._web.body(number) or page_of_links(page)
        # Without the header, aiohttp would send one of its own.
        headers = [(CONTENT_TYPE, ""), *body.headers] if not body.content_type else list(body.headers)
        return http.Response(body=body.content, headers=headers)


def _folder(url: str) -> str:
    """The part of the path to which relative links are added."""
    return urlsplit(url).path.rpartition("/")[0]


def _status(reason: str) -> int:
    code = reason.removeprefix("HTTP ")
    return int(code) if code.isdecimal() else 404


# A page of which only the links are known.


def page_of_links(page: Page) -> Body:
    """A list of its links with their anchors, in the charset that the page declares. Empty for other media."""
    charset = canonical(page.header_charset or page.meta_charset) or "utf-8"
    declared = f"; charset={page.header_charset}" if page.header_charset else ""
    html = "\n".join(_lines(page)) if page.content_type in HTML_TYPES else ""
    return Body(html.encode(codec(charset), "xmlcharrefreplace"), f"{page.content_type}{declared}")


def _lines(page: Page) -> Iterator[str]:
    meta = f'<meta charset="{escape(page.meta_charset)}">' if page.meta_charset else ""
    yield f"<!DOCTYPE html>\n<html><head>{meta}<title></title></head>\n<body>"
    for link in page.links:
        yield f"<p><a{_attributes(link)}>{escape(link.anchor)}</a></p>"
    yield "</body></html>\n"


def _attributes(link: Link) -> str:
    rel = link.rel if "nofollow" in link.rel or not link.nofollow else f"{link.rel} nofollow".strip()
    named = {"href": link.url, "rel": rel, "hreflang": link.hreflang}
    return "".join(f' {name}="{escape(value)}"' for name, value in named.items() if value)
