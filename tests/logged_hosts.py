"""Hosts on this machine that write down every request with its time, by a clock that nobody sets."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from aiohttp import web as http

LINKS = 3
"""Pages of each host besides its first."""


@dataclass(frozen=True)
class Request:
    """`at` is in seconds of the monotonic clock."""

    at: float
    host: str
    path: str


@dataclass
class LoggedHosts:
    """Each is an address that begins with 127, all on one port. `robots` is what a host answers for its robots.txt and
    for other paths that are not pages, given how often it was asked before; a host that is not named has none."""

    names: Mapping[str, str]
    robots: Mapping[tuple[str, str], Callable[[int], http.Response]]
    seconds: float = 0.0
    port: int = 0
    log: list[Request] = field(default_factory=list)
    under_way: int = 0

    def url(self, name: str, path: str = "/") -> str:
        return f"http://{self.names[name]}:{self.port}{path}"

    def requests(self, name: str) -> list[Request]:
        return [request for request in self.log if request.host == self.names[name]]

    def too_soon(self, delays: Mapping[str, float], slack: float) -> list[tuple[Request, Request]]:
        """Requests that came sooner after one another than the delay of their host."""
        pairs = []
        for name, address in self.names.items():
            requests = [request for request in self.log if request.host == address]
            pairs += [(a, b) for a, b in pairwise(requests) if b.at - a.at < delays[name] - slack]
        return pairs

    async def answer(self, request: http.BaseRequest) -> http.StreamResponse:
        assert request.transport is not None
        address = request.transport.get_extra_info("sockname")[0]
        name = next(name for name, known in self.names.items() if known == address)
        before = sum(one.host == address and one.path == request.path for one in self.log)
        self.log.append(Request(time.monotonic(), address, request.path))
        self.under_way += 1
        try:
            await asyncio.sleep(self.seconds)
            return self._response(name, request.path, before)
        finally:
            self.under_way -= 1

    def _response(self, name: str, path: str, before: int) -> http.Response:
        if (name, path) in self.robots:
            return self.robots[name, path](before)
        if path == "/" or path.removeprefix("/page").isdecimal():
            links = "".join(f"<a href='/page{number}'>page {number}</a> " for number in range(LINKS))
            return http.Response(text=f"<title>{name}</title><p>{links}</p>", content_type="text/html")
        return http.Response(status=404)


@contextlib.asynccontextmanager
async def serving(hosts: LoggedHosts, secure: Mapping[str, ssl.SSLContext] | None = None) -> AsyncIterator[LoggedHosts]:
    """Until the end of the block. Those of `secure` speak TLS."""
    runner = http.ServerRunner(http.Server(hosts.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        for name, address in hosts.names.items():
            context = (secure or {}).get(name)
            await http.TCPSite(runner, address, hosts.port, ssl_context=context).start()
            hosts.port = runner.addresses[-1][1]
        yield hosts
    finally:
        await runner.cleanup()


def says(text: str, status: int = 200, **headers: str) -> Callable[[int], http.Response]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda before: http.Response(text=text, status=status, headers=named)


def leads_to(url: Callable[[], str]) -> Callable[[int], http.Response]:
    """A redirect; the URL is known once the hosts are served."""
    return lambda before: http.Response(status=301, headers={"Location": url()})
