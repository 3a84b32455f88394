"""A recorded web served over HTTP: as a proxy it answers for every host name that was recorded, and for no other."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from typing import TextIO

import numpy as np
from aiohttp import web as http

from spoor.parse.charset import decode
from spoor.parse.charset_labels import canonical, codec
from spoor.records import Failure, Outcome, Page, Redirect, RobotsRules, Visit
from spoor.roles import World
from spoor.urls import host_of, normalise, robots_url
from spoor.webs.markup import markup
from spoor.webs.network import Conditions, Network
from spoor.webs.recorded import RecordedWorld
from spoor.webs.web import Web

TIMED_OUT = 504
"""The status that stands for a transient failure: a crawler may ask again, and need not leave the whole host alone."""


class WebServer:
    """Pages are made anew from what was kept of them: attributes, texts, and links with their contexts. A crawler that
    reads them finds the same texts, and the same links in the same order, with the same words around them.

    Under `conditions` it takes the time, fails and gives the robots.txt that `Network` draws for the same host, URL and
    try. Tries are counted from 0 for each URL, as long as the server lives. None: it answers at once, never fails.

    `log` gets a line for every request: when it came (seconds since 1970), how long the answer took, status, URL."""

    def __init__(self, web: Web, conditions: Conditions | None = None, log: TextIO | None = None) -> None:
        world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
        self._world: World = world if conditions is None else Network(world, conditions)
        self._conditioned = conditions is not None
        self._requests: Counter[str] = Counter()
        self._log = log

    async def answer(self, request: http.BaseRequest) -> http.StreamResponse:
        """A page, a redirect or an error, as recorded; what was never recorded is not found."""
        if request.method == "CONNECT":
            return http.Response(status=501, text="ask for https pages by their whole URL, without CONNECT\n")
        whole = request.raw_path.startswith(("http://", "https://"))  # request.url would take https for http
        url = normalise(request.raw_path if whole else str(request.url))
        if url is None:
            return http.Response(status=400, text="spoor serves http and https URLs only\n")
        clock = asyncio.get_running_loop().time
        came, began = time.time(), clock()
        outcome, seconds = self._world.look(self._visit(url))
        response = _response(outcome)
        if self._conditioned:
            await asyncio.sleep(began + seconds - clock())
        if self._log is not None:
            self._log.write(f"{came:.6f}\t{clock() - began:.6f}\t{response.status}\t{url}\n")
        return response

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
    """In the charset that the page declares. One that declares none is told by its bytes; where they would be taken for
    another charset than before, letters beyond ASCII are written as references."""
    document, declared = markup(page), page.header_charset or page.meta_charset
    charset = canonical(declared or page.detected_charset) or "utf-8"
    body = document.encode(codec(charset), "xmlcharrefreplace")
    if declared or decode(body, "").detected == page.detected_charset:
        return body
    return document.encode("ascii", "xmlcharrefreplace")
