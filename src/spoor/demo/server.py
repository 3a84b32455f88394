"""The demo web on this machine: every host at a loopback address of its own, all at one port."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from contextlib import suppress
from types import TracebackType

from aiohttp import web as http

from spoor.demo.answers import Asked, answer, url
from spoor.demo.hosts import LATENCY
from spoor.demo.plan import Place, Plan
from spoor.errors import BadInput

ATTEMPTS = 10
"""Ports that are tried until one is free at all addresses."""


class DemoServer:
    """Answers between `async with` and its end, and counts: `requests` by address, dead hosts left out, `disallowed` by
    what was asked for against the rules of its host."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.port = 0
        self.requests: Counter[str] = Counter()
        self.asked: Counter[Place] = Counter()
        self.disallowed: Counter[Place] = Counter()
        self._runner = http.ServerRunner(http.Server(self._answer))

    @property
    def seeds(self) -> tuple[str, ...]:
        """Known while it is served."""
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
        told = answer(host, Asked(place.path, times, self.port, "gzip" in request.headers.get("Accept-Encoding", "")))
        return http.Response(status=told.status, headers=told.headers, body=told.body)

    def _count(self, place: Place, forbidden: bool) -> int:
        """How often it was asked for before."""
        self.requests[place.address] += 1
        self.disallowed[place] += forbidden
        self.asked[place] += 1
        return self.asked[place] - 1


def _sockets(addresses: list[str]) -> list[socket.socket]:
    for _ in range(ATTEMPTS):
        with suppress(OSError):
            return _all_at_one_port(addresses)
    raise BadInput(f"the addresses {addresses[0]} to {addresses[-1]} of this machine cannot be listened at")


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
