"""Pages made by scripts, served on this machine, and who answers what they ask for: the project's own fetcher."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from aiohttp.web import BaseRequest, StreamResponse
from aiohttp.web import Response as Answer

from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.records import Failure, Response, SubRequest
from tests.thread_server import served_here


class ScriptedSite:
    """Every host of a small web, behind a proxy: files by their URLs, without the scheme. `/list` has twenty more
    items for each number, `/never` is never answered. `requests` are the URLs that came."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files
        self.requests: list[str] = []

    async def answer(self, request: BaseRequest) -> StreamResponse:
        name = str(request.url).removeprefix("http://")
        self.requests.append(name)
        if request.path == "/never":
            await asyncio.sleep(60)
        if request.path == "/list":
            first = int(request.query["from"])
            return Answer(text="".join(f"<p><a href=/item{n}>item {n}</a></p>" for n in range(first, first + 20)))
        if name not in self._files:
            return Answer(status=404)
        kind = "text/javascript" if name.endswith(".js") else "text/html"
        return Answer(text=self._files[name], content_type="application/json" if name.endswith(".json") else kind)


class FetchedResources:
    """Answers by fetching; private addresses are refused."""

    def __init__(self, fetcher: HttpFetcher) -> None:
        self._fetcher = fetcher

    async def answer(self, request: SubRequest) -> Response | Failure:
        return await self._fetcher.fetch(request.url, every_type=True)


def proxied(site: ScriptedSite) -> contextlib.AbstractAsyncContextManager[str]:
    """The address of a proxy behind which a site is."""
    return served_here(site.answer)


@contextlib.asynccontextmanager
async def fetching(site: ScriptedSite) -> AsyncIterator[HttpFetcher]:
    async with (
        proxied(site) as proxy,
        HttpFetcher("spoor", FetchLimits(), time.time, proxies=Proxies.to(proxy)) as fetcher,
    ):
        yield fetcher


class Listener:
    """A server at an address that is refused, for TCP and UDP at the same port. `heard` is what reached it."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.port = 0

    async def __aenter__(self) -> Listener:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self.heard), ("127.0.0.1", self.port))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._udp.close()
        self._server.close()
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append("TCP")
        writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, heard: list[str]) -> None:
        self._heard = heard

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._heard.append("UDP")
