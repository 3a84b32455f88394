"""The HTTP server: answers queries about crawls, streams changes, submits actions, and serves the page."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from spoor.actions import action_of
from spoor.dashboard import openapi
from spoor.dashboard.curves import ChartQuery, drawn
from spoor.dashboard.exports import dumped, exported
from spoor.dashboard.guard import COOKIE, PREVIEW_POLICY, Guard, middleware, secure
from spoor.dashboard.overview import Overview, OverviewQuery, curve_of, overview
from spoor.dashboard.page_view import PageNumber, harmless
from spoor.dashboard.reading import NotFound
from spoor.dashboard.routes import ROUTES, Route, asked_of
from spoor.dashboard.watching import WatchedCrawl
from spoor.errors import BadInput, SpoorError, UsageError
from spoor.metrics import FolderMetrics, exposition, registry_of
from spoor.report.showing import plain
from spoor.report.style import STYLE
from spoor.steering.submitting import Receipt, submit, wait_for

SECONDS_BETWEEN_UPDATES = 4.0
"""Redrawing every two seconds took 2.8 % of a core, for a crawl at full speed."""
SECONDS_FOR_AN_ACTION = 3.0
"""A running crawl applies an action within about a second; the response waits at most this long for the outcome."""
LARGEST_ACTION = 1 << 20
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass
class Dashboard:
    """The watched crawls, numbered from 1."""

    crawls: Sequence[WatchedCrawl]
    guard: Guard
    _overviews: asyncio.Task[list[Overview]] | None = field(default=None, init=False)
    _overviews_at: float = field(default=0.0, init=False)
    _measuring: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _registry: CollectorRegistry | None = field(default=None, init=False)

    def application(self) -> web.Application:
        app = web.Application(middlewares=[middleware(self.guard), _explaining], client_max_size=LARGEST_ACTION)
        app.cleanup_ctx.append(self._watching)
        crawl = "/api/v1/crawls/{crawl:[0-9]{1,6}}"
        app.add_routes(
            [
                web.get("/", self._index),
                web.get("/healthz", self._health),
                web.get("/metrics", self._metrics),
                web.get("/static/{file}", self._static),
                web.get("/api/v1/session", self._session),
                web.get("/api/v1/openapi.json", self._document),
                web.get("/api/v1/crawls", self._all),
                web.get("/api/v1/stream", self._stream),
                web.get("/api/v1/chart", self._chart),
                web.get(crawl + "/pages/{page:[0-9]{1,18}}/preview", self._preview),
                web.post(crawl + "/actions", self._act),
                *(web.get(crawl + _pattern(route), self._answering(route)) for route in ROUTES),
            ]
        )
        return app

    async def _watching(self, app: web.Application) -> AsyncIterator[None]:
        for crawl in self.crawls:
            await crawl.start()
        tasks = [asyncio.create_task(crawl.keep_up()) for crawl in self.crawls]
        yield
        for task in tasks:
            task.cancel()

    def _crawl(self, number: str) -> WatchedCrawl:
        if not 1 <= int(number) <= len(self.crawls):
            raise NotFound(f"there is no crawl {number}; there are {len(self.crawls)}")
        return self.crawls[int(number) - 1]

    def _answering(self, route: Route) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.StreamResponse:
            given = {**request.query, **{name: value for name, value in request.match_info.items() if name != "crawl"}}
            crawl = self._crawl(request.match_info["crawl"])
            form = given.pop("format", "json") if route.listed else "json"
            asked = asked_of(route, given)
            if form != "json":
                return await exported(request, crawl, route, asked, form)
            found = await crawl.read(lambda reading: route.read(reading, asked))
            return _json(request, asdict(found))

        return answer

    async def _index(self, request: web.Request) -> web.StreamResponse:
        if "token" in request.query:
            answer = web.Response(status=303, headers={"Location": "/"})
            answer.set_cookie(COOKIE, self.guard.token, httponly=True, samesite="Strict", path="/")
            return answer
        return _file("index.html")

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _metrics(self, request: web.Request) -> web.Response:
        """Metrics of the folders. The first count of a large one takes a while; other requests do not wait for it."""
        async with self._measuring:
            self._registry = self._registry or registry_of(*(FolderMetrics(crawl.folder) for crawl in self.crawls))
            text = await asyncio.to_thread(exposition, self._registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _static(self, request: web.Request) -> web.StreamResponse:
        return _file(request.match_info["file"])

    async def _session(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"csrf": self.guard.csrf})

    async def _document(self, request: web.Request) -> web.StreamResponse:
        return _json(request, openapi.document())

    async def _all(self, request: web.Request) -> web.StreamResponse:
        return _json(request, [asdict(one) for one in await self._seen()])

    async def _seen(self) -> list[Overview]:
        """The overviews of all crawls, read once for all clients."""
        now = asyncio.get_running_loop().time()
        if self._overviews is None or now - self._overviews_at > 0.9 * SECONDS_BETWEEN_UPDATES:
            self._overviews_at, self._overviews = now, asyncio.create_task(self._read_all())
        return await asyncio.shield(self._overviews)

    async def _read_all(self) -> list[Overview]:
        asked = OverviewQuery()
        return [await crawl.read(lambda reading: overview(reading, asked)) for crawl in self.crawls]

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Sends all crawls whenever one changed; otherwise a comment at regular intervals, so that both sides detect a
        closed connection."""
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        secure(answer)
        await answer.prepare(request)
        last = b""
        with contextlib.suppress(ConnectionResetError):
            while True:
                now = dumped([asdict(one) for one in await self._seen()])
                await answer.write(b"event: crawls\ndata: " + now + b"\n\n" if now != last else b":\n\n")
                last = now
                await asyncio.sleep(SECONDS_BETWEEN_UPDATES)
        return answer

    async def _chart(self, request: web.Request) -> web.StreamResponse:
        asked = asked_of(Route("", "", ChartQuery, str, lambda *_: None), request.query)
        chosen = [self._crawl(number) for number in asked.crawls.split(",") if number.isdigit()] or self.crawls[:1]
        curves = {
            f"{crawl.number} {plain(crawl.folder.path.resolve().name, 40)}": await crawl.read(curve_of)
            for crawl in chosen
        }
        return _tagged(request, drawn(asked, curves).encode(), "image/svg+xml")

    async def _preview(self, request: web.Request) -> web.StreamResponse:
        crawl, asked = self._crawl(request.match_info["crawl"]), PageNumber(int(request.match_info["page"]))
        html = await crawl.read(lambda reading: harmless(reading, asked.page))
        headers = {"Content-Security-Policy": PREVIEW_POLICY}
        return web.Response(
            body=html.encode("utf8", "replace"), content_type="text/html", charset="utf-8", headers=headers
        )

    async def _act(self, request: web.Request) -> web.StreamResponse:
        crawl = self._crawl(request.match_info["crawl"])
        action = action_of(await _content(request))
        receipt = await asyncio.to_thread(_submitted, crawl, action)
        refused = receipt.done.refused if receipt.done else ""
        return web.json_response({"id": receipt.id, "done": receipt.done is not None, "refused": refused})


@web.middleware
async def _explaining(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns errors into a response with one line."""
    try:
        return await handler(request)
    except NotFound as error:
        return web.json_response({"error": str(error)}, status=404)
    except SpoorError as error:
        return web.json_response({"error": str(error)}, status=400)


@contextlib.asynccontextmanager
async def serving(dashboard: Dashboard, address: str, port: int) -> AsyncIterator[str]:
    """Yields the link to open, with the token if one is needed. Port 0 means any free port."""
    runner = web.AppRunner(dashboard.application(), access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, address, port).start()
        except OSError as error:
            raise BadInput(f"cannot serve at {address} port {port}: {error.strerror}; choose another --port") from None
        bound = runner.addresses[0]
        name = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
        token = f"?token={dashboard.guard.token}" if dashboard.guard.token else ""
        yield f"http://{name}:{bound[1]}/{token}"
    finally:
        await runner.cleanup()


def _submitted(crawl: WatchedCrawl, action: Any) -> Receipt:
    try:
        return wait_for(crawl.folder, submit(crawl.folder, action), SECONDS_FOR_AN_ACTION)
    finally:
        crawl.acted()


async def _content(request: web.Request) -> object:
    try:
        return await request.json()
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None


def _pattern(route: Route) -> str:
    return route.path.replace("{page}", "{page:[0-9]{1,18}}")


def _json(request: web.Request, content: object) -> web.StreamResponse:
    return _tagged(request, dumped(content), "application/json")


def _tagged(request: web.Request, body: bytes, content_type: str) -> web.StreamResponse:
    """With an ETag; 304 if the client already has the content."""
    tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers=headers)
    return web.Response(body=body, content_type=content_type, headers=headers)


def _file(name: str) -> web.Response:
    """A static file, by its bare name."""
    if name == "report.css":
        return web.Response(text=STYLE, content_type="text/css")
    static = resources.files("spoor.dashboard") / "static"
    known = {file.name: file for file in static.iterdir()}
    kind = KINDS.get(name.rpartition(".")[2])
    if name not in known or kind is None:
        raise web.HTTPNotFound
    headers = {"Cache-Control": "no-cache"}
    return web.Response(body=known[name].read_bytes(), content_type=kind, charset="utf-8", headers=headers)
