"""Requests one URL over HTTP: returns the response, within limits, or why there is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

import aiohttp

from spoor.errors import BrokenContract
from spoor.fetch.addresses import is_this_machine
from spoor.fetch.connection import Connection, Headers
from spoor.fetch.connections import Connections, UnusableUrl
from spoor.fetch.decoding import ENCODINGS, Decoding, FetchLimits
from spoor.fetch.http_parser import BrokenResponse
from spoor.fetch.pauses import Pauses
from spoor.fetch.proxies import DIRECT, Proxies
from spoor.fetch.receipt import Receipt
from spoor.fetch.responses import failure_of
from spoor.records import Failure, Response

NO_HEADERS: Headers = {}
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
LARGE_AT_ONCE = 2
"""Number of responses that may hold more than `LARGE`. Others are not read further until one of these is received and
decoded: 64 bodies of the largest size would fill the memory of a small machine."""
DECODED_AT_ONCE = 2
"""Number of bodies decoded concurrently: a decoder may take up to 16 MB besides its output."""
_NOT_IMPLEMENTED = 501
FAILURES = (aiohttp.ClientError, BrokenResponse, OSError, UnicodeError, UnusableUrl)
"""Of the network, of a server or of the URL (UnicodeError: of its host). Anything else is an error of ours."""


class HttpFetcher:
    """Used within `async with`. Follows no redirects, stores no cookies, makes no retries, except on a new connection
    when a kept one turns out to be closed.

    A proxy resolves names itself: through one, the `address` of a host is unknown, and only IP addresses in a URL are
    refused. https goes through it by CONNECT; a proxy on this machine that does not support CONNECT, such as a recorded
    web that is served, receives https URLs as plain requests.
    """

    def __init__(
        self,
        agent: str,
        limits: FetchLimits,
        clock: Callable[[], float],
        connections: int = 100,
        proxies: Proxies = DIRECT,
        allow_private: bool = False,
        most_idle: int = 1000,
    ) -> None:
        """`agent` is the whole User-Agent header; `clock` returns Unix time in seconds; `connections` is the number in
        use at most, `most_idle` that of those kept open beside them."""
        self._headers = {"User-Agent": agent, "Accept": ACCEPT, "Accept-Encoding": ENCODINGS}
        self._limits = limits
        self._clock = clock
        self._most_connections, self._most_idle = connections, most_idle
        self._proxies = proxies
        self._allow_private = allow_private
        self._connections: Connections | None = None
        self._pauses: Pauses | None = None
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._decoders = asyncio.Semaphore(DECODED_AT_ONCE)

    async def __aenter__(self) -> HttpFetcher:
        self._connections = Connections(
            self._most_connections, self._limits, self._headers, self._proxies, self._allow_private, self._most_idle
        )
        self._pauses = Pauses()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pauses is not None:
            self._pauses.close()
        if self._connections is not None:
            await self._connections.close()

    async def fetch(
        self, url: str, every_type: bool = False, most: int | None = None, headers: Headers = NO_HEADERS
    ) -> Response | Failure:
        """Never raises for network errors. `url` is normalised; `every_type`: read the body whatever its type; `most`:
        maximum number of bytes to read; `headers` are sent in addition to the usual ones."""
        receipt = Receipt(url, self._limits_for(every_type, most))
        async with contextlib.AsyncExitStack() as turn:
            at, begin = self._clock(), asyncio.get_running_loop().time()
            try:
                await self._receive(receipt, headers, turn)
            except FAILURES as error:
                if self._wants_no_tunnel(url, error):
                    return await self.fetch(url, every_type, most, headers)
                if self._pauses is not None and self._pauses.any_since(begin):
                    return replace(failure_of(error), excused=True)
                if not receipt.size:
                    return failure_of(error)
                receipt.cut = "time" if isinstance(error, TimeoutError) else "disconnect"
            seconds = self._clock() - at
            return receipt.response(await self._body(receipt), at, seconds)

    async def _body(self, receipt: Receipt) -> bytes:
        """Decodes with pauses, so that the event loop is not blocked."""
        payload = receipt.payload()
        if not receipt.encodings:
            return payload
        async with self._decoders:
            decoding = Decoding(receipt.encodings, receipt.limits.decoded)
            for _ in decoding.feeding(payload):
                await asyncio.sleep(0)
        receipt.cut = receipt.cut or decoding.cut
        return bytes(decoding.body)

    def _limits_for(self, every_type: bool, most: int | None) -> FetchLimits:
        limits = replace(self._limits, types=None) if every_type else self._limits
        if most is None:
            return limits
        return replace(limits, body=min(most, limits.body), decoded=min(most, limits.decoded))

    def _wants_no_tunnel(self, url: str, error: Exception) -> bool:
        """Whether to repeat the request without CONNECT. The proxy would see the encrypted content, so it must be on
        this machine."""
        if not isinstance(error, aiohttp.ClientHttpProxyError) or error.status != _NOT_IMPLEMENTED:
            return False
        proxy = self._proxies.of_origin(_origin_of(url))
        if self._connections is None or not is_this_machine(proxy):
            return False
        self._connections.do_without_tunnels(proxy)
        return True

    async def _receive(self, receipt: Receipt, headers: Headers, turn: contextlib.AsyncExitStack) -> None:
        """A large response receives its turn, which ends with the stack."""
        if self._connections is None:
            raise BrokenContract("HttpFetcher.fetch outside of `async with`")
        until = asyncio.get_running_loop().time() + self._limits.whole
        origin = _origin_of(receipt.url)
        for only_new in (False, True):
            connection = await self._connections.take(origin, until, only_new)
            is_new = connection.responses == 0
            try:
                return await self._exchange(connection, receipt, headers, until, turn)
            except ConnectionError:
                if is_new or receipt.has_begun:
                    raise
            finally:
                self._connections.give_back(origin, connection)

    async def _exchange(
        self,
        connection: Connection,
        receipt: Receipt,
        headers: Headers,
        until: float,
        turn: contextlib.AsyncExitStack,
    ) -> None:
        try:
            receipt.request, receipt.address = connection.request_for(receipt.url, headers), connection.address
        except ValueError as error:
            raise UnusableUrl(str(error)) from None
        await connection.exchange(receipt.request, receipt, until)
        if connection.is_holding:
            time = asyncio.get_running_loop().time
            left = until - time()  # Waiting for a turn does not count.
            await turn.enter_async_context(self._large)
            receipt.has_turn = True
            await connection.go_on(time() + left)


def _origin_of(url: str) -> str:
    """Of a normalised URL, such as `https://example.org`."""
    return url[: url.index("/", url.index("//") + 2)]
