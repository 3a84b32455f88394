"""Requests one URL over HTTP: returns the response, within limits, or why there is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.resolver import ThreadedResolver
from aiohttp.streams import StreamReader
from yarl import URL

from spoor.errors import BrokenContract
from spoor.fetch.addresses import PublicResolver, is_this_machine, literal_of, refusal
from spoor.fetch.decoding import ENCODINGS, Decoding, FetchLimits
from spoor.fetch.responses import HEALS_AFTER, failure_of
from spoor.records import Failure, Response

Headers = Mapping[str, str]
NO_HEADERS: Headers = {}
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
KEPT_OPEN = 10.0
"""Seconds for which an idle connection is kept open."""
NAMES_REMEMBERED = 20_000
"""Number of host names in the DNS cache, for up to `NAMES_VALID` seconds."""
NAMES_VALID = 600
LARGE = 1_000_000
"""Bytes of an encoded body that every response may hold in memory."""
LARGE_AT_ONCE = 2
"""Number of responses that may hold more than that. Others are not read further until one of these ends: 64 bodies of
the largest size would fill the memory of a small machine."""
DECODED_AT_ONCE = 2
"""Number of bodies decoded concurrently: a decoder may take up to 16 MB besides its output."""
READ_AT_ONCE = 64 * 1024
"""Bytes read from a connection at once: a server may have put thousands of responses into them, each of which takes
time to process."""
MOST_INTERIM = 16
"""Maximum number of interim responses such as `100 Continue` before the final one."""
_NOT_IMPLEMENTED = 501


class HttpFetcher:
    """Used within `async with`. Follows no redirects, stores no cookies, makes no retries.

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
        proxy: str | None = None,
        allow_private: bool = False,
    ) -> None:
        """`agent` is the whole User-Agent header; `clock` returns Unix time in seconds."""
        self._agent = agent
        self._limits = limits
        self._clock = clock
        self._connections = connections
        self._proxy = proxy
        self._allow_private = allow_private
        self._session: aiohttp.ClientSession | None = None
        self._given_up: aiohttp.ClientSession | None = None
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._decoders = asyncio.Semaphore(DECODED_AT_ONCE)

    async def __aenter__(self) -> HttpFetcher:
        self._session = self._new_session(aiohttp.ClientRequest)
        return self

    def _new_session(self, request: type[aiohttp.ClientRequest]) -> aiohttp.ClientSession:
        limits = self._limits
        return aiohttp.ClientSession(
            connector=self._connector(),
            request_class=request,
            response_class=_Answer,
            headers={"User-Agent": self._agent, "Accept": ACCEPT, "Accept-Encoding": ENCODINGS},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect, sock_read=limits.idle),
            max_line_size=limits.head,
            max_field_size=limits.head,
            proxy=self._proxy,
        )

    def _connector(self) -> aiohttp.TCPConnector:
        everywhere = self._allow_private or self._proxy is not None
        resolver = ThreadedResolver()
        connector = aiohttp.TCPConnector(
            resolver=resolver if everywhere else PublicResolver(resolver),
            limit=self._connections,
            keepalive_timeout=KEPT_OPEN,
            ttl_dns_cache=NAMES_VALID,
            dns_cache_max_size=NAMES_REMEMBERED,
        )
        loop = asyncio.get_running_loop()
        connector._factory = partial(_BoundedHandler, loop)  # type: ignore[assignment]  # `partial` is invariant
        return connector

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for session in (self._session, self._given_up):
            if session is not None:
                await session.close()

    async def fetch(
        self, url: str, every_type: bool = False, most: int | None = None, headers: Headers = NO_HEADERS
    ) -> Response | Failure:
        """Never raises for network errors. `url` is normalised; `every_type`: read the body whatever its type; `most`:
        maximum number of bytes to read; `headers` are sent in addition to the usual ones."""
        if not self._allow_private and (address := literal_of(url)) and (refused := refusal(address)):
            return Failure(refused)
        receipt = _Receipt(url, self._limits_for(every_type, most))
        at = self._clock()
        try:
            async with asyncio.timeout(self._limits.whole) as until:
                await self._receive(receipt, until, headers)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if self._wants_no_tunnel(error):
                return await self.fetch(url, every_type, most, headers)
            if not receipt.payload:
                return failure_of(error)
            receipt.cut = "time" if isinstance(error, TimeoutError) else "disconnect"
        if receipt.cut == "head":
            return Failure("malformed response: its headers are too large", HEALS_AFTER)
        seconds = self._clock() - at
        return receipt.response(await self._body(receipt), at, seconds, proxied=self._proxy is not None)

    async def _body(self, receipt: _Receipt) -> bytes:
        """Decodes with pauses, so that the event loop is not blocked."""
        payload = bytes(receipt.payload)
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

    def _wants_no_tunnel(self, error: Exception) -> bool:
        """Whether to repeat the request without CONNECT. The proxy would see the encrypted content, so it must be on
        this machine."""
        if not isinstance(error, aiohttp.ClientHttpProxyError) or error.status != _NOT_IMPLEMENTED:
            return False
        if not is_this_machine(self._proxy or ""):
            return False
        if self._given_up is None:
            self._given_up, self._session = self._session, self._new_session(_OpenRequest)
        return True

    async def _receive(self, receipt: _Receipt, until: asyncio.Timeout, headers: Headers) -> None:
        if self._session is None:
            raise BrokenContract("HttpFetcher.fetch outside of `async with`")
        asking = self._session.get(URL(receipt.url, encoded=True), headers=headers, allow_redirects=False)
        async with asking as answer, contextlib.AsyncExitStack() as turn:
            assert isinstance(answer, _Answer)
            receipt.begin(answer)
            has_turn = False
            while not receipt.cut and (data := await answer.content.readany()):
                receipt.take(data)
                if len(receipt.payload) > LARGE and not has_turn:
                    has_turn = True
                    await turn.enter_async_context(self._turn_of_large(until))
            if receipt.cut:
                answer.close()

    @contextlib.asynccontextmanager
    async def _turn_of_large(self, until: asyncio.Timeout) -> AsyncIterator[None]:
        """Waiting does not count towards the time limit of the response."""
        time = asyncio.get_running_loop().time
        left = None if (when := until.when()) is None else when - time()
        until.reschedule(None)
        async with self._large:
            until.reschedule(None if left is None else time() + left)
            yield


class _OpenRequest(aiohttp.ClientRequest):
    """Requests an https page from a proxy by its whole URL, without a tunnel."""

    def is_ssl(self) -> bool:
        return False


class _BoundedHandler(ResponseHandler):
    """The handler of one connection. aiohttp itself accepts an unlimited number of interim responses."""

    _interim = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        setattr(transport, "max_size", READ_AT_ONCE)  # noqa: B010 (only transports of sockets declare it)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        self._interim = self._interim + 1 if data[0].code < 200 else 0
        if self._interim <= MOST_INTERIM:
            super().feed_data(data, size)
        elif self._exception is None:
            self.set_exception(BadHttpMessage("too many interim responses"))


class _Answer(aiohttp.ClientResponse):
    """Stores the peer address: the connection may have been released before it is needed."""

    address = ""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        if connection.transport is not None:
            self.address = (connection.transport.get_extra_info("peername") or ("",))[0]
        return await super().start(connection)


class _Receipt:
    """The part of a response received so far; kept if the rest does not come."""

    def __init__(self, url: str, limits: FetchLimits) -> None:
        self.url = url
        self.limits = limits
        self.payload = bytearray()
        self.encodings = ""
        self.cut = ""
        self._answer: _Answer | None = None

    def begin(self, answer: _Answer) -> None:
        self._answer = answer
        self.encodings = ",".join(answer.headers.getall("Content-Encoding", ()))
        if sum(len(name) + len(value) + 4 for name, value in answer.raw_headers) > self.limits.head:
            self.cut = "head"
        elif not self.limits.accept(answer.headers.get("Content-Type", "")):
            self.cut = "type"

    def take(self, data: bytes) -> None:
        room = self.limits.body - len(self.payload)
        self.payload += data[:room]
        if len(data) > room:
            self.cut = "length"

    def response(self, body: bytes, at: float, seconds: float, proxied: bool) -> Response:
        assert self._answer is not None
        return Response(
            url=self.url,
            status=self._answer.status,
            headers=_first_of_each(self._answer),
            body=body,
            payload=bytes(self.payload) if self.encodings else body,
            request=_request(self._answer, proxied),
            head=_head(self._answer),
            address="" if proxied else self._answer.address,
            at=at,
            seconds=seconds,
            cut=self.cut,
        )


def _first_of_each(answer: aiohttp.ClientResponse) -> dict[str, str]:
    """Bytes that are not UTF-8 are decoded as latin-1, so that every header is text that can be stored."""
    headers: dict[str, str] = {}
    for name, value in answer.raw_headers:
        headers.setdefault(_text(name).lower(), _text(value))
    return headers


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _request(answer: aiohttp.ClientResponse, proxied: bool) -> bytes:
    """As written by aiohttp: a proxy receives the whole URL, except in a TLS tunnel."""
    asked = answer.request_info
    target = str(asked.url) if proxied and asked.url.scheme == "http" else asked.url.raw_path_qs
    lines = [f"{asked.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in asked.headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def _head(answer: aiohttp.ClientResponse) -> bytes:
    version = answer.version or aiohttp.HttpVersion11
    status = f"HTTP/{version.major}.{version.minor} {answer.status} {answer.reason or ''}".rstrip()
    lines = [status.encode("utf-8", "surrogateescape"), *(name + b": " + value for name, value in answer.raw_headers)]
    return b"\r\n".join([*lines, b"", b""])
