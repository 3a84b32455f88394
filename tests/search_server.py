"""A web server on this machine that answers as search engines do, each kind under its own path, and one that hangs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>https://engine.test/</link><item><title>A</title><link> https://a.test/ </link>
<atom:link href="https://a.test/again"/></item><item><link>https://b.test/#part</link></item>
<item><title>no link</title></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://engine.test/"/><entry>
<link rel="self" href="https://engine.test/1"/><link href="https://c.test/"/></entry></feed>"""
BOMB = """<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<rss><channel><item><link>&b;</link></item></channel></rss>"""
CAPTURES = [
    {"url": "https://u.test/physics", "status": "200", "mime": "text/html"},
    {"url": "https://u.test/computer-science", "status": "200", "mime": "text/html"},
    {"url": "https://u.test/computer/courses/", "status": "404", "mime": "text/html"},
    {"url": "https://u.test/ComputerScienceCourses", "status": "200", "mime": "text/html"},
    {"url": "https://u.test/computer-science", "status": "200", "mime": "text/html"},
    {"url": "https://u.test/computer.pdf", "status": "200", "mime": "application/pdf"},
]
LINES = "\n".join(map(json.dumps, CAPTURES)) + "\n"
TABLE = [["original", "mimetype", "statuscode"], ["https://u.test/computer", "text/html", "200"]]
SEARX = [
    {"url": "https://a.test/", "engines": ["one", "two"]},
    {"url": "https://b.test/", "engine": "one"},
    {"url": "https://c.test/?utm_source=x"},
    {"url": "mailto:nobody@a.test", "engine": "one"},
    "no object",
]

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class SearchServer:
    """A running server. `asked` are the paths and queries of all requests, `agents` who sent them."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


def _says(text: str, content_type: str = "text/plain") -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type=content_type)

    return answer


async def _searx(request: web.Request) -> web.StreamResponse:
    """Three pages of results."""
    number = int(request.query["pageno"])
    results = SEARX if number == 1 else [{"url": f"https://page.test/{number}", "engine": "one"}]
    return web.json_response({"results": results if number < 4 else []})


async def _searx_that_tires(request: web.Request) -> web.StreamResponse:
    return await _searx(request) if request.query["pageno"] == "1" else web.Response(status=429)


async def _hang(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response()


async def _trickle(request: web.Request) -> web.StreamResponse:
    """Begins to answer and never ends."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    await answer.write(LINES.encode() + b'{"url": "https://u.test/comp')
    await asyncio.sleep(30)
    return answer


async def _forbid(request: web.Request) -> web.StreamResponse:
    return web.Response(status=403)


async def _move(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "/rss?" + request.query_string})


async def _move_in_a_circle(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "/circle"})


ANSWERS: Mapping[str, Handler] = {
    "/search": _searx,
    "/tired/search": _searx_that_tires,
    "/html/search": _says("<!doctype html><html><p>Are you a robot?</html>", "text/html"),
    "/garbage/search": _says("{]"),
    "/nested/search": _says("[" * 100_000),
    "/other/search": _says('{"answers": []}'),
    "/forbidden/search": _forbid,
    "/hanging/search": _hang,
    "/empty/search": _says('{"results": []}'),
    "/rss": _says(RSS),
    "/atom": _says(ATOM),
    "/bomb": _says(BOMB),
    "/html": _says("<!doctype html><html><p>Are you a robot?</html>", "text/html"),
    "/large-html": _says("<!DOCTYPE HTML><HTML><p>Are you a robot?<br></HTML>", "text/html"),
    "/svg": _says("<svg/>"),
    "/moved": _move,
    "/circle": _move_in_a_circle,
    "/cdx": _says(LINES),
    "/table": _says(json.dumps(TABLE)),
    "/numbers": _says("[1, 2]"),
    "/trickle": _trickle,
}


@asynccontextmanager
async def search_server() -> AsyncIterator[SearchServer]:
    running = SearchServer()

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        running.asked.append(request.path_qs)
        running.agents.add(request.headers["User-Agent"])
        return await handler(request)

    application = web.Application(middlewares=[note])
    for path, answer in ANSWERS.items():
        application.router.add_get(path, answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    running.port = runner.addresses[0][1]
    try:
        yield running
    finally:
        await runner.cleanup()
