"""Serves the demo web on this machine: the responses of each host, its traps, and a loopback address for every host."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import html
import json
import re
import socket
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType

from aiohttp import web as http

from spoor.demo.plain_pdf import pages_of, pdf
from spoor.demo.plan import LATENCY, Anchor, Host, Moved, Place, Plan, Spelling, Text
from spoor.errors import BadInput
from spoor.lab.generate.pages import CODECS
from spoor.lab.sitemaps import written_sitemap
from spoor.records import Listed, SitemapFile

# Endless pages: a calendar without end, a corridor of ever longer paths, links with session ids.


FIRST_MONTH = 2026 * 12
_MONTH = re.compile(r"/calendar/(\d{4})/(\d{2})/")
_CORRIDOR = re.compile(r"/corridor/(older/)*")


def endless(host: Host, path: str) -> Text | None:
    """The page of a trap at this path; None if it is not part of one."""
    if host.habits.trap == "calendar":
        return _calendar(host, path)
    return _corridor(host, path) if host.habits.trap == "corridor" else None


def _calendar(host: Host, path: str) -> Text | None:
    """No month has any events; each links to the neighbouring months and to the same month of other years."""
    found = _MONTH.fullmatch(path)
    if not found and path != "/calendar/":
        return None
    month = int(found[1]) * 12 + int(found[2]) - 1 if found else FIRST_MONTH
    paths = [f"/calendar/{there // 12:04}/{there % 12 + 1:02}/" for there in _around(month)]
    return _like_home(host, paths)


def _around(month: int) -> list[int]:
    return [month + step for step in (-12, -1, 1, 12) if 0 <= month + step < 10_000 * 12]


def _corridor(host: Host, path: str) -> Text | None:
    return _like_home(host, [f"{path}older/"]) if _CORRIDOR.fullmatch(path) else None


def _like_home(host: Host, paths: list[str]) -> Text:
    """The text of the home page, with links to the paths, which differ only in their numbers."""
    home = host.pages["/"]
    assert not isinstance(home, Moved)
    links = tuple(Anchor(path.strip("/").partition("/")[2] or "1", Place(host.address, path)) for path in paths)
    return Text(home.title, home.paragraphs[:1], links)


def with_session(host: Host, text: Text, asked: str) -> Text:
    """Every response starts a new session, whose id all links within the host carry."""
    session = hashlib.md5(asked.encode(), usedforsecurity=False).hexdigest()
    return replace(text, links=tuple(_carrying(link, session, host.address) for link in text.links))


def _carrying(link: Anchor, session: str, address: str) -> Anchor:
    if link.to.address != address:
        return link
    mark = "&" if "?" in link.to.path else "?"
    return replace(link, to=Place(address, f"{link.to.path}{mark}PHPSESSID={session}"))


# The responses of a host as bytes, determined by the plan and by the number of earlier requests for the path.


RETRY_AFTER = "1"
SITEMAP, DAY = "/sitemap.xml", "2026-11-15"
DATA, SCRIPT_PATH = "/data", "/app.js"
SHELL = b'<!DOCTYPE html>\n<html><body><main></main><script src="/app.js"></script></body></html>\n'
SCRIPT = b"""fetch("/data" + location.pathname).then((answer) => answer.json()).then((page) => {
  const main = document.querySelector("main");
  const add = (tag, text) => Object.assign(main.appendChild(document.createElement(tag)), { textContent: text });
  document.title = page.title;
  add("h1", page.title);
  for (const paragraph of page.paragraphs) add("p", paragraph);
  for (const link of page.links) add("a", link.words).href = link.href;
});
"""
"""The content of a page built by scripts."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for `path`, including the query, which was requested `times` times before."""

    path: str
    times: int
    port: int
    takes_gzip: bool = False


def answer(host: Host, asked: Asked) -> Answer:
    habits = host.habits
    if habits.front_of:
        return _moved(Place(habits.front_of, asked.path), asked.port)
    if asked.path == "/robots.txt":
        return _robots(host, asked.port)
    if asked.path == SITEMAP and host.listed:
        return _sitemap(host, asked.port)
    if habits.at_first != 200 and not asked.times:
        return Answer(habits.at_first, {"Retry-After": RETRY_AFTER})
    if (found := _for_scripts(host, asked)) is not None:
        return found
    match _page(host, asked):
        case Text(kind="pdf") as text:
            return _printed(text, asked.port)
        case Text(kind="scripted"):
            return Answer(200, {"Content-Type": "text/html; charset=utf-8"}, SHELL)
        case Text() as text:
            return _written(host, text, asked)
        case Moved(to):
            return _moved(to, asked.port)
        case None:
            return Answer(404, {"Content-Type": "text/plain"}, b"there is no such page\n")


def url(place: Place, port: int) -> str:
    return f"http://{place.address}:{port}{place.path}"


def _page(host: Host, asked: Asked) -> Text | Moved | None:
    path = asked.path.partition("?")[0]
    page = host.pages.get(path) or endless(host, path)
    if isinstance(page, Text) and host.habits.trap == "sessions":
        return with_session(host, page, f"{asked.path} {asked.times}")
    return page


def _robots(host: Host, port: int) -> Answer:
    if host.rules is None:
        return Answer(404)
    announced = f"Sitemap: {url(Place(host.address, SITEMAP), port)}\n" if host.listed else ""
    return Answer(200, {"Content-Type": "text/plain"}, (host.rules.text() + announced).encode())


def _sitemap(host: Host, port: int) -> Answer:
    listed = tuple(Listed(url(Place(host.address, path), port), "th", DAY) for path in host.listed)
    written = written_sitemap(SitemapFile("urlset", listed, len(listed)))
    return Answer(200, {"Content-Type": "application/xml"}, written.encode())


def _for_scripts(host: Host, asked: Asked) -> Answer | None:
    """The script of scripted pages, and the data it fetches: the page as JSON."""
    text = host.pages.get(asked.path.removeprefix(DATA))
    if not isinstance(home := host.pages.get("/"), Text) or home.kind != "scripted":
        return None
    if asked.path == SCRIPT_PATH:
        return Answer(200, {"Content-Type": "text/javascript"}, SCRIPT)
    if not asked.path.startswith(DATA + "/") or not isinstance(text, Text):
        return None
    links = [{"href": url(link.to, asked.port), "words": link.words} for link in text.links]
    content = {"title": text.title, "paragraphs": text.paragraphs, "links": links}
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(content, ensure_ascii=False).encode())


def _printed(text: Text, port: int) -> Answer:
    lines = pages_of([*(link.words for link in text.links), *text.paragraphs])
    links = [url(link.to, port) for link in text.links]
    return Answer(200, {"Content-Type": "application/pdf"}, pdf(lines, text.title, links, language="th"))


def _moved(to: Place, port: int) -> Answer:
    return Answer(301, {"Location": url(to, port)})


def _written(host: Host, text: Text, asked: Asked) -> Answer:
    spelling = host.spelling
    codec = CODECS.get(spelling.charset, spelling.charset)
    body = _markup(text, spelling, asked.port).encode(codec, "xmlcharrefreplace")
    named = f"; charset={spelling.charset}" if spelling.declared == "header" else ""
    headers = {"Content-Type": f"text/html{named}"}
    if not (host.zips and asked.takes_gzip):
        return Answer(200, headers, body)
    return Answer(200, headers | {"Content-Encoding": "gzip"}, gzip.compress(body, mtime=0))


def _markup(text: Text, spelling: Spelling, port: int) -> str:
    declared = f'<meta charset="{spelling.charset}">' if spelling.declared == "meta" else ""
    paragraphs = "".join(f"<p>{html.escape(paragraph)}</p>\n" for paragraph in text.paragraphs)
    links = "".join(_link(link, port) for link in text.links)
    title = html.escape(text.title)
    head = f"<!DOCTYPE html>\n<html><head>{declared}<title>{title}</title></head>\n"
    return f"{head}<body><h1>{title}</h1>\n{paragraphs}<ul>\n{links}</ul></body></html>\n"


def _link(link: Anchor, port: int) -> str:
    rel = ' rel="nofollow"' if link.nofollow else ""
    return f'<li><a href="{html.escape(url(link.to, port))}"{rel}>{html.escape(link.words)}</a></li>\n'


# Every host at a loopback address of its own, all on one port.


ATTEMPTS = 10
"""Number of ports tried until one is free at all addresses."""


class DemoServer:
    """Serves within `async with`, and counts `requests` by address, without dead hosts, and `disallowed` requests,
    those against the robots.txt of their host, by URL."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.port = 0
        self.requests: Counter[str] = Counter()
        self.asked: Counter[Place] = Counter()
        self.disallowed: Counter[Place] = Counter()
        self._runner = http.ServerRunner(http.Server(self._answer), shutdown_timeout=0.1)

    @property
    def seeds(self) -> tuple[str, ...]:
        """Available while it is served."""
        return tuple(url(place, self.port) for place in self.plan.seeds)

    async def __aenter__(self) -> DemoServer:
        await self._runner.setup()
        sockets = _sockets([*self.plan.hosts, *(address for address, status in self.plan.dead.items() if status)])
        self.port = sockets[0].getsockname()[1]
        for one in sockets:
            await http.SockSite(self._runner, one).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: http.BaseRequest) -> http.StreamResponse:
        assert request.transport is not None
        place = Place(request.transport.get_extra_info("sockname")[0], request.raw_path)
        if place.address in self.plan.dead:
            await asyncio.sleep(LATENCY)
            return http.Response(status=self.plan.dead[place.address])
        host = self.plan.hosts[place.address]
        times = self._count(place, host.forbids(place.path))
        await asyncio.sleep(host.habits.seconds)
        if host.habits.resets:
            request.transport.abort()
            return http.Response()
        takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
        response = answer(host, Asked(place.path, times, self.port, takes_gzip))
        return http.Response(status=response.status, headers=response.headers, body=response.body)

    def _count(self, place: Place, forbidden: bool) -> int:
        """Counts a request and returns the number of earlier ones."""
        self.requests[place.address] += 1
        self.disallowed[place] += forbidden
        self.asked[place] += 1
        return self.asked[place] - 1


def _sockets(addresses: list[str]) -> list[socket.socket]:
    for _ in range(ATTEMPTS):
        with suppress(OSError):
            return _all_at_one_port(addresses)
    raise BadInput(f"the addresses {addresses[0]} to {addresses[-1]} of this machine cannot be bound")


def _all_at_one_port(addresses: list[str]) -> list[socket.socket]:
    opened: list[socket.socket] = []
    try:
        for address in addresses:
            opened.append(socket.create_server((address, opened[0].getsockname()[1] if opened else 0)))
    except OSError:
        for one in opened:
            one.close()
        raise
    return opened
