"""Requests on one open connection, one after another, and their responses."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping
from typing import Protocol

import aiohttp
from aiohttp.base_protocol import BaseProtocol
from aiohttp.connector import Connection as OpenConnection
from aiohttp.http import HttpProcessingError, HttpResponseParser, RawResponseMessage
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.streams import StreamReader

from spoor.fetch.decoding import FetchLimits

Headers = Mapping[str, str]
READ_AT_ONCE = 64 * 1024
"""Bytes read from a connection at once: a server may have put thousands of responses into them, each of which takes
time to process."""
MOST_INTERIM = 16
"""Maximum number of interim responses such as `100 Continue` before the final one."""
_SWITCHING_PROTOCOLS = 101
_BREAKS_A_LINE = re.compile(r"[\r\n\0]")


class Receiver(Protocol):
    """Takes a response while it arrives. `cut` is the reason why it takes no more, "" while it does; while `is_held`,
    the rest has to wait."""

    @property
    def cut(self) -> str: ...

    @property
    def is_held(self) -> bool: ...

    def begin(self, head: RawResponseMessage) -> None: ...

    def take(self, data: bytes) -> None: ...


class Connection(BaseProtocol):
    """Opened by aiohttp, and closed through it; in between, data arrives here.

    It is idle, receiving a response, holding one (not reading, because the receiver is held) or closed. While idle it
    `is_reusable` if the last response was read to its end and neither side wants to close the connection.
    """

    def __init__(
        self, opened: OpenConnection, transport: asyncio.Transport, request: aiohttp.ClientRequest, limits: FetchLimits
    ) -> None:
        """`request` is the one for which it was opened: the headers of all, and the way to the server."""
        super().__init__(asyncio.get_running_loop())
        assert opened.protocol is not None
        self.is_reusable = False
        self.responses = 0
        self._opened, self._handler, self._transport = opened, opened.protocol, transport
        self._headers = request.headers
        self._proxied = request.proxy is not None
        self._tunnelled = self._proxied and request.is_ssl()
        self._idle_seconds = limits.idle
        self._response_parser = HttpResponseParser(
            self,
            self._loop,
            READ_AT_ONCE,
            max_line_size=limits.head,
            max_field_size=limits.head,
            read_until_eof=True,
            auto_decompress=False,
        )
        self._receiver: Receiver | None = None
        self._body: StreamReader | None = None
        self._interim = 0
        self._stays_open = False
        self._until = self._heard = 0.0
        self._waiter: asyncio.Future[None] | None = None
        self._error: Exception | None = None

    def take_over(self) -> None:
        """From now on, data arrives here."""
        if self._handler.should_close:  # There was data before any request.
            self.close()
            raise BadHttpMessage("Bad status line")
        setattr(self._transport, "max_size", READ_AT_ONCE)  # noqa: B010 (only transports of sockets declare it)
        self._transport.set_protocol(self)

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
        clock of the event loop. Raises TimeoutError, HttpProcessingError or ConnectionError."""
        self._receiver, self._error, self._interim = receiver, None, 0
        self.is_reusable = self._stays_open = False
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
            self._until, self._heard = until, self._loop.time()
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
        self._receiver = self._body = None
        self._opened.close()

    def _watch_time(self) -> None:
        """One timer for both limits; the next is set when it has expired, not whenever data arrives."""
        self._timer = self._loop.call_at(min(self._until, self._heard + self._idle_seconds), self._check_time)

    def _check_time(self) -> None:
        if self._loop.time() < min(self._until, self._heard + self._idle_seconds):
            self._watch_time()
        else:
            self._end(TimeoutError())

    def data_received(self, data: bytes) -> None:
        if self._receiver is None:  # Nobody asked for it.
            self.close()
            return
        self._heard = self._loop.time()
        try:
            messages, upgraded, _ = self._response_parser.feed_data(data)
        except Exception as error:
            self._end_after_rest(error if isinstance(error, HttpProcessingError) else HttpProcessingError())
            return
        for message, body in messages:
            self._begin(message, body, upgraded)
        self._take_body()

    def _begin(self, message: RawResponseMessage, body: StreamReader, upgraded: bool) -> None:
        if self._receiver is None:
            return
        if self._body is not None:  # A second response, for which nobody asked.
            self._stays_open = False
        elif 100 <= message.code < 200 and message.code != _SWITCHING_PROTOCOLS:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                self._end(BadHttpMessage("too many interim responses"))
        else:
            self._body = body
            self._stays_open = not message.should_close and not upgraded
            self._receiver.begin(message)

    def _take_body(self) -> None:
        """Takes what has arrived of the body, and ends the response if that is all or enough."""
        receiver, body = self._receiver, self._body
        if receiver is None or body is None:
            return
        if not receiver.cut:
            receiver.take(body.read_nowait())
        if body.is_eof() or receiver.cut:
            self._stays_open = self._stays_open and body.is_eof()
            self._end()
        elif receiver.is_held:
            self._transport.pause_reading()
            self._wake()

    def _end_after_rest(self, error: Exception) -> None:
        """The response is complete nevertheless if the error is in what follows it."""
        self._stays_open = False
        self._take_body()
        self._end(error)

    def _end(self, error: Exception | None = None) -> None:
        """Of no effect if the response has ended already."""
        if self._receiver is None:
            return
        self._receiver = self._body = None
        self._error = error
        self.responses += 1
        self.is_reusable = self._stays_open and error is None
        if not self.is_reusable:
            self.close()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.is_reusable = False
        self._handler.connection_lost(exc)  # aiohttp waits for it when everything is closed.
        self._opened.close()
        with contextlib.suppress(Exception):
            self._response_parser.feed_eof()  # The end of a body without a length.
        self._end_after_rest(ConnectionError("closed by the server"))
        del self._response_parser  # It refers to this object.

    def pause_reading(self) -> None:
        """Called if much is in the buffer of a body, which is emptied at once."""

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Called when a body is taken out of its buffer."""
