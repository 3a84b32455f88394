"""Requests on one open connection, one after another, and their responses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Protocol

import aiohttp
from aiohttp.connector import Connection as OpenConnection

from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http_parser import BrokenResponse, ResponseHead, ResponseParser

Headers = Mapping[str, str]
MAX_READ_BYTES = 64 * 1024
"""Read from a connection at once: a server may have put thousands of chunks into them, each of which takes time to
process."""
LATE_SECONDS = 0.25
"""Delay of a timer from which the loop is taken to have been held up."""
_BREAKS_A_LINE = re.compile(r"[\r\n\0]")


class Receiver(Protocol):
    """Takes a response while it arrives. `cut` is the reason why it takes no more, "" while it does; while `is_held`,
    the rest has to wait."""

    @property
    def cut(self) -> str: ...

    @property
    def is_held(self) -> bool: ...

    def begin(self, head: ResponseHead) -> None: ...

    def take(self, data: bytes) -> None: ...


class Connection(asyncio.BufferedProtocol):
    """Opened by aiohttp, and closed through it; in between, data arrives here.

    It is idle, receiving a response, holding one (not reading, because the receiver is held) or closed. While idle it
    `is_reusable` if the last response was read to its end and neither side wants to close the connection.
    """

    def __init__(
        self,
        opened: OpenConnection,
        transport: asyncio.Transport,
        request: aiohttp.ClientRequest,
        limits: FetchLimits,
        buffer: memoryview,
    ) -> None:
        """`request` is the one for which it was opened: the headers of all, and the way to the server. Event loops read
        into `buffer`, which all connections share: it is emptied before the next one reads."""
        assert opened.protocol is not None
        self.is_reusable = False
        self.responses = 0
        self._loop = asyncio.get_running_loop()
        self._opened, self._handler, self._transport = opened, opened.protocol, transport
        self._headers = request.headers
        self._proxied = request.proxy is not None
        self._tunnelled = self._proxied and request.is_ssl()
        self._limits = limits
        self._buffer = buffer
        self._receiver: Receiver | None = None
        self._parser = ResponseParser(limits.head)
        self._until = self._heard = 0.0
        self._is_extended = False
        self._waiter: asyncio.Future[None] | None = None
        self._error: Exception | None = None

    def take_over(self) -> None:
        """From now on, data arrives here. Raises BrokenResponse or ConnectionError."""
        early = self._handler._tail
        if early or self._handler.should_close or self._transport.is_closing():
            self.close()
            raise _unrequested(early) if early else ConnectionError("closed by the server")
        self._transport.pause_reading()  # Loops choose when they begin to read whether they read into a buffer.
        self._transport.set_protocol(self)
        self._transport.resume_reading()

    @property
    def address(self) -> str:
        """The IP address of the server; "" behind a proxy."""
        return "" if self._proxied else (self._transport.get_extra_info("peername") or ("",))[0]

    def request_for(self, url: str, headers: Headers) -> bytes:
        """A proxy receives the whole URL, except in a tunnel. Raises ValueError if a part would break a line."""
        if _BREAKS_A_LINE.search("".join((url, *headers, *headers.values()))):
            raise ValueError("line end in URL or header")
        target = url if self._proxied and not self._tunnelled else url[url.index("/", url.index("//") + 2) :]
        merged = self._headers.copy()
        merged.update(headers)
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in merged.items()), "", ""]
        return "\r\n".join(lines).encode()

    async def exchange(self, request: bytes, receiver: Receiver, until: float) -> None:
        """Returns when the response is complete or cut, or when it `is_holding`. `until` is the latest time, by the
        clock of the event loop. Raises TimeoutError, BrokenResponse or ConnectionError."""
        if self._transport.is_closing():
            self._error = self._error or ConnectionError("closed by the server")
        else:
            self._receiver, self._error, self.is_reusable = receiver, None, False
            self._transport.write(request)
        await self._receive(until)

    @property
    def is_holding(self) -> bool:
        """After `exchange`: whether `go_on` must be called for the rest of the response."""
        return self._receiver is not None

    async def go_on(self, until: float) -> None:
        self._transport.resume_reading()
        await self._receive(until)

    async def _receive(self, until: float) -> None:
        if self._receiver is not None:
            self._until, self._heard, self._is_extended = until, self._loop.time(), False
            self._watch_time()
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
                self._timer.cancel()
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # Its traceback refers to this frame, and so to the response.

    def close(self) -> None:
        """Of no effect if it is closed already."""
        self.is_reusable = False
        self._receiver = None
        self._opened.close()

    def _watch_time(self) -> None:
        """One timer for both limits; the next is set when it has expired, not whenever data arrives."""
        self._timer = self._loop.call_at(min(self._until, self._heard + self._limits.idle), self._check_time)

    def _check_time(self) -> None:
        now = self._loop.time()
        late = now - self._timer.when()
        if late > LATE_SECONDS and not self._is_extended:
            # What arrived while the loop was held up has not been read yet. Only once: a loop may always be late.
            self._heard, self._until, self._is_extended = now, max(self._until, now + late), True
        if now < min(self._until, self._heard + self._limits.idle):
            self._watch_time()
        else:
            self._end(TimeoutError())

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = bytes(self._buffer[:nbytes])
        if self._receiver is None:
            self._error = _unrequested(data) if self.responses == 0 else None
            self.close()
            return
        self._heard = self._loop.time()
        try:
            self._take(data, self._receiver)
        except Exception as error:
            self._end(error)

    def _take(self, data: bytes, receiver: Receiver) -> None:
        """Ends the response if that is all or enough."""
        for event in self._parser.feed(data):
            if isinstance(event, bytes):
                receiver.take(event)
            else:
                receiver.begin(event)
            if receiver.cut:
                self._end()
                return
        if self._parser.is_complete:
            self._end()
        elif receiver.is_held:
            self._transport.pause_reading()
            self._wake()

    def _end(self, error: Exception | None = None) -> None:
        """Of no effect if the response has ended already."""
        if self._receiver is None:
            return
        self._receiver = None
        self._error = error
        self.responses += 1
        self.is_reusable = self._parser.leaves_connection_open and error is None
        if not self.is_reusable:
            self.close()
        self._parser = ResponseParser(self._limits.head)  # Of the old one, data may be left.
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_reusable = False
        self._handler.connection_lost(exc)  # aiohttp waits for it when everything is closed.
        self._opened.close()
        is_end = self._parser.ends_with_connection
        self._end(None if is_end else ConnectionError("closed by the server"))


def _unrequested(data: bytes) -> BrokenResponse:
    """Why data before any request is no response."""
    try:
        for _ in ResponseParser(MAX_READ_BYTES).feed(data):
            pass
    except BrokenResponse as error:
        return error
    return BrokenResponse("a response before the request")
