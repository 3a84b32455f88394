"""The connections of a fetcher: opened by aiohttp, kept for some seconds after a response, limited in number."""

from __future__ import annotations

import asyncio
from collections import defaultdict

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.resolver import ThreadedResolver
from multidict import CIMultiDict
from yarl import URL

from spoor.fetch.addresses import PublicResolver, RefusedAddress, refusal_of
from spoor.fetch.certificates import verifying_context
from spoor.fetch.connection import MAX_READ_BYTES, Connection, Headers
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.proxies import Proxies

KEPT_OPEN = 10.0
"""Seconds for which an idle connection is kept open."""
NAMES_REMEMBERED = 20_000
"""Number of host names in the DNS cache, for up to `NAMES_VALID` seconds."""
NAMES_VALID = 600


class UnusableUrl(ValueError):
    """No request can be made of the URL."""


class Connections:
    """At most `limit` are in use at a time. Idle ones are kept by origin, such as `https://example.org`; of more than
    `most_idle`, one of the origin that has been idle longest is closed.

    aiohttp resolves names, connects, and makes TLS and tunnels; it knows nothing about requests and idle connections.
    """

    def __init__(
        self,
        limit: int,
        limits: FetchLimits,
        headers: Headers,
        proxies: Proxies,
        allow_private: bool,
        most_idle: int,
    ) -> None:
        """`headers` are those of every request."""
        self._limits = limits
        self._headers = headers
        self._proxies = proxies
        self._allow_private = allow_private
        self._buffer = memoryview(bytearray(MAX_READ_BYTES))
        self._without_tunnels: set[str] = set()
        self._places = asyncio.Semaphore(limit)
        self._kept: defaultdict[str, list[tuple[float, Connection]]] = defaultdict(list)
        self._most_idle, self._idle = most_idle, 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        resolver = ThreadedResolver()
        self._direct = _connector(resolver if allow_private else PublicResolver(resolver))
        self._to_proxies = _connector(resolver)

    async def take(self, origin: str, until: float, only_new: bool = False) -> Connection:
        """A connection that was kept, or a new one. `until` is the latest time, by the clock of the event loop."""
        if not only_new and not self._places.locked() and (kept := self._kept_for(origin)):
            await self._places.acquire()
            return kept
        async with asyncio.timeout_at(min(until, self._loop.time() + self._limits.connect)):
            await self._places.acquire()
            try:
                return (None if only_new else self._kept_for(origin)) or await self._open(origin)
            except BaseException:
                self._places.release()
                raise

    def give_back(self, origin: str, connection: Connection) -> None:
        self._places.release()
        if not connection.is_reusable:
            connection.close()
            return
        if self._idle >= self._most_idle:
            self._close_oldest()
        self._kept[origin].append((self._loop.time(), connection))
        self._idle += 1
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEPT_OPEN, self._sweep)

    def do_without_tunnels(self, proxy: str) -> None:
        """From now on, this proxy receives https URLs as plain requests."""
        self._without_tunnels.add(proxy)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        await self._direct.close()
        await self._to_proxies.close()

    def _kept_for(self, origin: str) -> Connection | None:
        while kept := self._kept.get(origin):
            since, connection = self._taken(origin, kept, -1)
            if self._is_fresh(since, connection):
                return connection
            connection.close()
        return None

    def _close_oldest(self) -> None:
        origin, kept = next(iter(self._kept.items()))
        _, connection = self._taken(origin, kept, 0)
        connection.close()

    def _taken(self, origin: str, kept: list[tuple[float, Connection]], place: int) -> tuple[float, Connection]:
        """Removes one of those kept for an origin, and the origin with its last one."""
        self._idle -= 1
        taken = kept.pop(place)
        if not kept:
            del self._kept[origin]
        return taken

    def _is_fresh(self, since: float, connection: Connection) -> bool:
        return connection.is_reusable and self._loop.time() - since < KEPT_OPEN

    def _sweep(self) -> None:
        """Closes connections that were idle for too long."""
        for origin in list(self._kept):
            for since, connection in self._kept.pop(origin):
                if self._is_fresh(since, connection):
                    self._kept[origin].append((since, connection))
                else:
                    self._idle -= 1
                    connection.close()
        self._sweeping = self._loop.call_later(KEPT_OPEN, self._sweep) if self._kept else None

    async def _open(self, origin: str) -> Connection:
        if not self._allow_private and (refused := refusal_of(origin)):
            raise RefusedAddress(refused)
        proxy = self._proxies.of_origin(origin)
        kind = _OpenRequest if proxy in self._without_tunnels else aiohttp.ClientRequest
        try:
            request = kind(
                "GET",
                URL(f"{origin}/", encoded=True),
                headers=self._headers,
                loop=self._loop,
                proxy=URL(proxy) if proxy else None,
                proxy_headers=CIMultiDict(self._headers) if proxy else None,
            )
        except ValueError as error:
            raise UnusableUrl(str(error)) from None
        connector = self._to_proxies if proxy else self._direct
        opened = await connector.connect(request, [], aiohttp.ClientTimeout(total=None))
        if opened.transport is None:
            opened.close()
            raise ConnectionError("closed by the server")
        connection = Connection(opened, opened.transport, request, self._limits, self._buffer)
        connection.take_over()
        return connection


def _connector(resolver: AbstractResolver) -> aiohttp.TCPConnector:
    return aiohttp.TCPConnector(
        resolver=resolver,
        ssl=verifying_context(),
        limit=0,
        ttl_dns_cache=NAMES_VALID,
        dns_cache_max_size=NAMES_REMEMBERED,
    )


class _OpenRequest(aiohttp.ClientRequest):
    """Requests an https page from a proxy by its whole URL, without a tunnel."""

    def is_ssl(self) -> bool:
        return False
