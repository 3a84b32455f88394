"""A web server on this machine that does everything wrong, each thing under its own path."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

import brotli
from backports import zstd

BOMB = 10_000_000
"""Bytes of zeros in each bomb."""
MANY = 100_000
"""Links on the page that has too many."""
STALL = 20.0
"""Seconds of silence where a server stalls; a client gives up long before."""


@dataclass
class Chaos:
    """A running server. `requests` holds the bytes of every request, in order of arrival."""

    host: str
    port: int = 0
    requests: list[bytes] = field(default_factory=list)

    def url(self, path: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        """The target of every request, in order of arrival."""
        return [request.split(b" ")[1].decode() for request in self.requests]


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
"""One thing done wrong; after it, the connection is closed unless the answer was honest."""


def head(*headers: str, status: str = "200 OK") -> bytes:
    typed = any(header.lower().startswith("content-type:") for header in headers)
    lines = [f"HTTP/1.1 {status}", *headers, *([] if typed else ["Content-Type: text/html"])]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


@asynccontextmanager
async def chaos(host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Chaos]:
    """Serve until the end of the block; on any loopback address, so that there can be many hosts."""
    running = Chaos(host)
    open_now: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await _one_exchange(running, reader, writer):
                pass
        open_now.discard(task)
        writer.close()

    server = await asyncio.start_server(converse, host, port)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now)


async def _one_exchange(running: Chaos, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """False: the connection is to be closed."""
    request = await reader.readuntil(b"\r\n\r\n")
    running.requests.append(request)
    exchange = Exchange(request.split(b" ")[1].decode("latin-1"), writer)
    if wrong := WRONG.get(exchange.path):
        await wrong(exchange)
        return False
    await HONEST.get(exchange.path, _not_found)(exchange)
    return True


async def _slow_head(exchange: Exchange) -> None:
    for byte in head("X-Slow: " + "s" * 1000):
        await exchange.send(bytes([byte]))
        await asyncio.sleep(0.05)


async def _slow_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 1000"))
    for _ in range(1000):
        await exchange.send(b"s")
        await asyncio.sleep(0.05)


async def _stall_before_head(exchange: Exchange) -> None:
    await asyncio.sleep(STALL)


async def _stall_after_head(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 10"))
    await asyncio.sleep(STALL)


async def _stall_in_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 10") + b"half ")
    await asyncio.sleep(STALL)


async def _half_a_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 1000") + b"<p>half a body")


async def _half_a_chunk(exchange: Exchange) -> None:
    await exchange.send(head("Transfer-Encoding: chunked") + b"ff\r\n<p>half a chunk")


async def _no_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 1000"))


async def _length_too_small(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 5") + b"<p>ok and a good deal more than was said")


async def _endless_body(exchange: Exchange) -> None:
    await exchange.send(head())
    while True:
        await exchange.send(b"<p>and so on" * 1000)


async def _reset_before_head(exchange: Exchange) -> None:
    exchange.reset()


async def _reset_after_head(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 1000"))
    exchange.reset()


async def _reset_in_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 1000") + b"<p>half")
    await asyncio.sleep(0.05)  # else the kernel throws the half away with the connection
    exchange.reset()


async def _close_before_head(exchange: Exchange) -> None:
    return


async def _not_http(exchange: Exchange) -> None:
    await exchange.send(b"220 mail.test ESMTP ready\r\n\r\n")


async def _invalid_headers(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nno colon here\r\n\x00: \x01\r\nContent-Length: 2\r\n\r\nok")


async def _two_lengths(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 2", "Content-Length: 3") + b"ok")


async def _huge_header(exchange: Exchange) -> None:
    await exchange.send(head("X-Huge: " + "h" * 1_000_000, "Content-Length: 2") + b"ok")


async def _many_headers(exchange: Exchange) -> None:
    await exchange.send(head(*(f"X-{n}: {'m' * 1000}" for n in range(2000)), "Content-Length: 2") + b"ok")


async def _binary(exchange: Exchange) -> None:
    await exchange.answer(bytes(range(256)) * 1000)


async def _broken_charset(exchange: Exchange) -> None:
    await exchange.answer(b"<title>\xff\xfe\x80</title><p>\xc3\x28", "Content-Type: text/html; charset=klingon")


async def _lying_charset(exchange: Exchange) -> None:
    await exchange.answer("<p>þetta er íslenska".encode("latin-1"), "Content-Type: text/html; charset=utf-8")


async def _many_links(exchange: Exchange) -> None:
    await exchange.answer("".join(f"<a href=/many/{n}>{n}</a>\n" for n in range(MANY)).encode())


async def _calendar(exchange: Exchange) -> None:
    """Each day links to the next and to the one a year later: an endless web."""
    day = date.fromisoformat(exchange.query.get("day", "2000-01-01"))
    later = [day + timedelta(days=days) for days in (1, 365)]
    links = "".join(f"<a href='/calendar?day={other}'>{other}</a> " for other in later)
    await exchange.answer(f"<title>{day}</title>Nothing on {day}. {links}".encode())


async def _redirect_loop(exchange: Exchange) -> None:
    await exchange.answer(b"", "Location: /redirect-loop", status="302 Found")


async def _redirect_chain(exchange: Exchange) -> None:
    """`?left=3` leads over two more to a page."""
    left = int(exchange.query.get("left", "5"))
    to = f"/redirect-chain?left={left - 1}" if left else "/"
    await exchange.answer(b"", f"Location: {to}", status="301 Moved Permanently")


async def _redirect_to(exchange: Exchange) -> None:
    await exchange.answer(b"", f"Location: {exchange.query.get('to', '/')}", status="302 Found")


async def _redirect_nowhere(exchange: Exchange) -> None:
    await exchange.answer(b"", status="302 Found")


async def _too_many_requests(exchange: Exchange) -> None:
    await exchange.answer(b"", "Retry-After: 7", status="429 Too Many Requests")


async def _unavailable(exchange: Exchange) -> None:
    await exchange.answer(b"", status="503 Service Unavailable")


async def _image(exchange: Exchange) -> None:
    await exchange.answer(b"\x89PNG" * 1000, "Content-Type: image/png")


async def _cookie(exchange: Exchange) -> None:
    await exchange.answer(b"ok", "Set-Cookie: session=1", "Set-Cookie: second=2")


async def _home(exchange: Exchange) -> None:
    paths = sorted(WRONG.keys() | HONEST.keys() - {"/", "/robots.txt"})
    await exchange.answer("".join(f"<a href='{path}'>{path}</a>\n" for path in paths).encode())


async def _robots(exchange: Exchange) -> None:
    await exchange.answer(b"User-agent: *\nDisallow: /private\n", "Content-Type: text/plain")


async def _robots_500(exchange: Exchange) -> None:
    await exchange.answer(b"", status="500 Internal Server Error")


async def _not_found(exchange: Exchange) -> None:
    await exchange.answer(b"no such page", status="404 Not Found")


def _encoded(encoding: str, compress: Callable[[bytes], bytes], body: bytes) -> Wrong:
    async def send(exchange: Exchange) -> None:
        await exchange.answer(compress(body), f"Content-Encoding: {encoding}")

    return send


def _bare_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(body) + compressor.flush()


def _brotli(body: bytes) -> bytes:
    compressed: bytes = brotli.compress(body, quality=5)
    return compressed


COMPRESS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare-deflate": ("deflate", _bare_deflate),
    "br": ("br", _brotli),
    "zstd": ("zstd", zstd.compress),
    "gzip-br": ("gzip, br", lambda body: _brotli(gzip.compress(body))),
}
"""By the last part of its path: the header, and how the body is made."""

SMALL = b"<p>well encoded" * 100

HONEST: dict[str, Wrong] = {
    "/": _home,
    "/binary": _binary,
    "/broken-charset": _broken_charset,
    "/calendar": _calendar,
    "/cookie": _cookie,
    "/image": _image,
    "/lying-charset": _lying_charset,
    "/many-links": _many_links,
    "/not-encoded": _encoded("gzip", bytes, SMALL),
    "/redirect-chain": _redirect_chain,
    "/redirect-loop": _redirect_loop,
    "/redirect-nowhere": _redirect_nowhere,
    "/redirect-to": _redirect_to,
    "/robots.txt": _robots,
    "/robots-500/robots.txt": _robots_500,
    "/too-many-requests": _too_many_requests,
    "/unavailable": _unavailable,
    **{f"/encoded/{name}": _encoded(header, make, SMALL) for name, (header, make) in COMPRESS.items()},
    **{f"/bomb/{name}": _encoded(header, make, bytes(BOMB)) for name, (header, make) in COMPRESS.items()},
}
"""HTTP is spoken as it should be, whatever it says."""

WRONG: dict[str, Wrong] = {
    "/close-before-head": _close_before_head,
    "/endless-body": _endless_body,
    "/half-a-body": _half_a_body,
    "/half-a-chunk": _half_a_chunk,
    "/huge-header": _huge_header,
    "/invalid-headers": _invalid_headers,
    "/length-too-small": _length_too_small,
    "/many-headers": _many_headers,
    "/no-body": _no_body,
    "/not-http": _not_http,
    "/reset-after-head": _reset_after_head,
    "/reset-before-head": _reset_before_head,
    "/reset-in-body": _reset_in_body,
    "/slow-body": _slow_body,
    "/slow-head": _slow_head,
    "/stall-after-head": _stall_after_head,
    "/stall-before-head": _stall_before_head,
    "/stall-in-body": _stall_in_body,
    "/two-lengths": _two_lengths,
}
"""HTTP itself is broken, and the connection ends."""
