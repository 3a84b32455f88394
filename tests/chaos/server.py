"""The server itself: takes requests, and leaves the answers to whoever does them wrong."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

STALL = 20.0
"""Seconds of silence where a server stalls; a client gives up long before."""
RULES = "/robots.txt"


@dataclass
class Chaos:
    """A running server. `requests` holds the bytes of every request, in order of arrival; `rules` is the path whose
    behaviour its robots.txt has."""

    host: str
    port: int = 0
    rules: str = RULES
    requests: list[bytes] = field(default_factory=list)

    def url(self, path: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        """The target of every request, in order of arrival."""
        return [request.split(b" ")[1].decode("latin-1") for request in self.requests]


@dataclass
class Exchange:
    """One request and the way back to whoever sent it. `path` is without the query."""

    target: str
    writer: asyncio.StreamWriter

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        """An honest answer; Content-Type is HTML unless `headers` say otherwise."""
        await self.send(head(*headers, f"Content-Length: {len(body)}", status=status) + body)

    def reset(self) -> None:
        """The connection ends with RST instead of FIN."""
        connection: socket.socket = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Wrong = Callable[[Exchange], Awaitable[None]]
"""One thing done wrong."""
Behaviours = Mapping[str, Wrong]
"""By path."""


def head(*headers: str, status: str = "200 OK") -> bytes:
    typed = any(header.lower().startswith("content-type:") for header in headers)
    lines = [f"HTTP/1.1 {status}", *headers, *([] if typed else ["Content-Type: text/html"])]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def sends(answer: bytes) -> Wrong:
    """These bytes, whether or not they are HTTP."""

    async def send(exchange: Exchange) -> None:
        await exchange.send(answer)

    return send


def says(body: bytes | Callable[[], bytes], *headers: str, status: str = "200 OK") -> Wrong:
    """An honest answer with this body; one that is large is made when it is asked for."""

    async def answer(exchange: Exchange) -> None:
        await exchange.answer(body if isinstance(body, bytes) else body(), *headers, status=status)

    return answer


@asynccontextmanager
async def serving(honest: Behaviours, wrong: Behaviours, running: Chaos) -> AsyncIterator[Chaos]:
    """Until the end of the block. After what is wrong the connection is closed, after what is honest it is kept."""
    open_now: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await exchanged(reader, writer):
                pass
        open_now.discard(task)
        writer.close()

    async def exchanged(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await reader.readuntil(b"\r\n\r\n")
        running.requests.append(request)
        exchange = Exchange(request.split(b" ")[1].decode("latin-1"), writer)
        path = running.rules if exchange.path == RULES else exchange.path
        if path in wrong:
            await wrong[path](exchange)
            return False
        await honest.get(path, _not_found)(exchange)
        return True

    server = await asyncio.start_server(converse, running.host, running.port)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now)


async def _not_found(exchange: Exchange) -> None:
    await exchange.answer(b"no such page", status="404 Not Found")
