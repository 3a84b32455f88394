"""HTTP that is broken, slow or endless, and connections that end."""

from __future__ import annotations

import asyncio

from tests.chaos.server import STALL, Behaviours, Exchange, head, sends

ENDLESS = 1_000_000
"""Of what should never come so often."""


async def _slow_head(exchange: Exchange) -> None:
    for byte in head("X-Slow: " + "s" * 1000):
        await exchange.send(bytes([byte]))
        await asyncio.sleep(0.05)


async def _slow_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 1000"))
    for _ in range(1000):
        await exchange.send(b"s")
        await asyncio.sleep(0.05)


async def _slow_chunks(exchange: Exchange) -> None:
    await exchange.send(head("Transfer-Encoding: chunked"))
    while True:
        await exchange.send(b"1\r\ns\r\n")
        await asyncio.sleep(0.05)


async def _stall_before_head(exchange: Exchange) -> None:
    await asyncio.sleep(STALL)


async def _stall_after_head(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 10"))
    await asyncio.sleep(STALL)


async def _stall_in_body(exchange: Exchange) -> None:
    await exchange.send(head("Content-Length: 10") + b"half ")
    await asyncio.sleep(STALL)


async def _endless_body(exchange: Exchange) -> None:
    await exchange.send(head())
    while True:
        await exchange.send(b"<p>and so on" * 1000)


async def _endless_headers(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(ENDLESS):
        await exchange.send(b"X-%d: y\r\n" % number * 200)


async def _endless_header(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(ENDLESS):
        await exchange.send(b"y" * 1000)


async def _endless_continue(exchange: Exchange) -> None:
    for _ in range(ENDLESS):
        await exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


async def _endless_trailers(exchange: Exchange) -> None:
    await exchange.send(head("Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n")
    for number in range(ENDLESS):
        await exchange.send(b"X-%d: y\r\n" % number)


async def _endless_extension(exchange: Exchange) -> None:
    await exchange.send(head("Transfer-Encoding: chunked") + b"1;")
    for _ in range(ENDLESS):
        await exchange.send(b"x" * 1000)


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


def _bare(*lines: str, body: bytes = b"ok") -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


CONNECTIONS: Behaviours = {
    "/close-before-head": _close_before_head,
    "/endless-body": _endless_body,
    "/endless-continue": _endless_continue,
    "/endless-extension": _endless_extension,
    "/endless-header": _endless_header,
    "/endless-headers": _endless_headers,
    "/endless-trailers": _endless_trailers,
    "/half-a-body": sends(head("Content-Length: 1000") + b"<p>half a body"),
    "/half-a-chunk": sends(head("Transfer-Encoding: chunked") + b"ff\r\n<p>half a chunk"),
    "/huge-header": sends(head("X-Huge: " + "h" * 1_000_000, "Content-Length: 2") + b"ok"),
    "/invalid-headers": sends(b"HTTP/1.1 200 OK\r\nno colon here\r\n\x00: \x01\r\nContent-Length: 2\r\n\r\nok"),
    "/length-too-small": sends(head("Content-Length: 5") + b"<p>ok and a good deal more than was said"),
    "/many-headers": sends(head(*(f"X-{n}: {'m' * 1000}" for n in range(2000)), "Content-Length: 2") + b"ok"),
    "/no-body": sends(head("Content-Length: 1000")),
    "/not-http": sends(b"220 mail.test ESMTP ready\r\n\r\n"),
    "/reset-after-head": _reset_after_head,
    "/reset-before-head": _reset_before_head,
    "/reset-in-body": _reset_in_body,
    "/slow-body": _slow_body,
    "/slow-chunks": _slow_chunks,
    "/slow-head": _slow_head,
    "/stall-after-head": _stall_after_head,
    "/stall-before-head": _stall_before_head,
    "/stall-in-body": _stall_in_body,
    "/two-lengths": sends(head("Content-Length: 2", "Content-Length: 3") + b"ok"),
    "/length/of-5000-digits": sends(head("Content-Length: " + "9" * 5000) + b"ok"),
    "/length/of-petabytes": sends(head("Content-Length: " + "9" * 15) + b"ok"),
    "/length/negative": sends(head("Content-Length: -5") + b"ok"),
    "/length/in-hex": sends(head("Content-Length: 0x2") + b"ok"),
    "/length/in-arabic-digits": sends(head("Content-Length: ").replace(b": \r", ": ٢\r".encode()) + b"ok"),
    "/chunk/overflow": sends(head("Transfer-Encoding: chunked") + b"f" * 5000 + b"\r\nok"),
    "/chunk/negative": sends(head("Transfer-Encoding: chunked") + b"-1\r\nok"),
    "/chunk/of-one-byte": sends(head("Transfer-Encoding: chunked") + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n"),
    "/chunk/with-length": sends(head("Transfer-Encoding: chunked", "Content-Length: 3") + b"2\r\nok\r\n0\r\n\r\n"),
    "/chunk/of-nothing-known": sends(head("Transfer-Encoding: klingon") + b"ok"),
    "/status/000": sends(_bare("HTTP/1.1 000 Nothing", "Content-Length: 2")),
    "/status/099": sends(_bare("HTTP/1.1 099 Small", "Content-Length: 2")),
    "/status/1000": sends(_bare("HTTP/1.1 1000 Large", "Content-Length: 2")),
    "/status/negative": sends(_bare("HTTP/1.1 -200 OK", "Content-Length: 2")),
    "/status/switching": sends(_bare("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade")),
    "/status/long-reason": sends(_bare("HTTP/1.1 200 " + "x" * 60_000, "Content-Length: 2")),
    "/status/no-content-but-some": sends(_bare("HTTP/1.1 204 No Content", "Content-Length: 2")),
    "/version/9.9": sends(_bare("HTTP/9.9 200 OK", "Content-Length: 2")),
    "/version/0.9": sends(b"<html>hello"),
    "/version/2": sends(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "/headers/nul": sends(_bare("HTTP/1.1 200 OK", "X: a\0b", "Content-Length: 2")),
    "/headers/folded": sends(_bare("HTTP/1.1 200 OK", "X: a", "  b", "Content-Length: 2")),
    "/headers/bare-line-ends": sends(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
    "/headers/early-hints": sends(b"HTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" * 20_000 + _bare("HTTP/1.1 200 OK")),
    "/headers/cookie-of-a-megabyte": sends(head("Set-Cookie: a=" + "b" * 1_000_000, "Content-Length: 2") + b"ok"),
    "/headers/many-cookies": sends(head(*(f"Set-Cookie: c{n}=d" for n in range(5_000)), "Content-Length: 2") + b"ok"),
    "/headers/not-ascii": sends(b"HTTP/1.1 200 \xff\r\nX: \xfe\xff\r\n\xc3: y\r\nContent-Length: 2\r\n\r\nok"),
}  # fmt: skip
"""After each of them the connection is closed."""
