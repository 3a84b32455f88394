"""A recorded web served over HTTP: as a proxy it answers for every host name that was recorded, and for no other."""

from __future__ import annotations

import asyncio
import html
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from aiohttp import web as http

from spoor.parse.charset_labels import canonical, codec
from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, Visit
from spoor.roles import World
from spoor.urls import host_of, normalise, robots_url
from spoor.webs.network import Conditions, Network
from spoor.webs.recorded import RecordedWorld
from spoor.webs.web import Web

TIMED_OUT = 504
"""The status that stands for a transient failure: a crawler may ask again, and need not leave the whole host alone."""


class WebServer:
    """Pages are made anew from what was kept of them: attributes, texts, and links with their contexts, in order. A
    crawler that reads them finds the same links and, where it goes by the declared charset, the same language.

    Under `conditions` it takes the time, fails and gives the robots.txt that `Network` draws for the same host, URL and
    try. Tries are counted from 0 for each URL, as long as the server lives. None: it answers at once, never fails."""

    def __init__(self, web: Web, conditions: Conditions | None = None) -> None:
        world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
        self._world: World = world if conditions is None else Network(world, conditions)
        self._conditioned = conditions is not None
        self._requests: Counter[str] = Counter()

    async def answer(self, request: http.BaseRequest) -> http.StreamResponse:
        """A page, a redirect or an error, as recorded; what was never recorded is not found."""
        if request.method == "CONNECT":
            return http.Response(status=501, text="ask for https pages by their whole URL, without CONNECT\n")
        whole = request.raw_path.startswith(("http://", "https://"))  # request.url would take https for http
        url = normalise(request.raw_path if whole else str(request.url))
        if url is None:
            return http.Response(status=400, text="spoor serves http and https URLs only\n")
        outcome, seconds = self._world.look(self._visit(url))
        if self._conditioned:
            await asyncio.sleep(seconds)
        return _response(outcome)

    def _visit(self, url: str) -> Visit:
        tries = self._requests[url]
        self._requests[url] += 1
        asks_for_rules = self._conditioned and url == robots_url(url)
        return Visit(url, host_of(url), 0, 0.0, "robots" if asks_for_rules else "page", tries=tries)


def _response(outcome: Outcome) -> http.Response:
    match outcome:
        case Page() as page:
            return _page(page)
        case Redirect(to, status):
            return http.Response(status=status, headers={"Location": to})
        case RobotsRules(text):
            return http.Response(text=text)
        case Failure(reason, float(again_after)):
            headers = {"Retry-After": str(math.ceil(again_after))}
            return http.Response(status=TIMED_OUT, headers=headers, text=f"{reason}\n")
        case Failure(reason):
            return http.Response(status=_status(reason), text=f"{reason}\n")
    raise AssertionError(f"a recorded web gave {outcome}")


def _status(reason: str) -> int:
    code = reason.removeprefix("HTTP ")
    return int(code) if code.isdecimal() else 404


def _page(page: Page) -> http.Response:
    charset = page.meta_charset or page.header_charset or page.detected_charset or "utf-8"
    kind = f"{page.content_type}; charset={page.header_charset}" if page.header_charset else page.content_type
    body = "".join(_markup(page)).encode(codec(canonical(charset) or "utf-8"), "xmlcharrefreplace")
    return http.Response(body=body, headers={"Content-Type": kind})


def _markup(page: Page) -> Iterator[str]:
    declared = f'<meta charset="{html.escape(page.meta_charset)}">' if page.meta_charset else ""
    language = f' lang="{html.escape(page.language)}"' if page.language else ""
    yield f"<!DOCTYPE html>\n<html{language}><head>{declared}<title>{html.escape(page.title)}</title></head>\n<body>\n"
    yield from (f"<p>{html.escape(line)}</p>\n" for line in page.text.splitlines())
    yield from map(_link, page.links)
    yield "</body></html>\n"


def _link(link: Link) -> str:
    """The anchor is among the words of the page already, so it stands in the title, where a reader looks who finds no
    words in a link."""
    rel = ' rel="nofollow"' if link.nofollow else ""
    language = f' hreflang="{html.escape(link.hreflang)}"' if link.hreflang else ""
    return f'<p><a href="{html.escape(link.url)}"{rel}{language} title="{html.escape(link.anchor)}"></a></p>\n'
