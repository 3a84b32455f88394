"""Fetching: whatever a server does, a response or a failure comes back in time and within the limits."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.fetch.decoding import Decoding, FetchLimits, decoded
from spoor.fetch.http import DECODED_AT_ONCE, LARGE_AT_ONCE, HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.fetch.receipt import LARGE
from spoor.records import Failure, Response
from spoor.zstd import zstd
from tests.chaos import COMPRESS, SMALL, Chaos, chaos

T = TypeVar("T")
AGENT = "spoor/0.1 (+https://example.org/our-crawl)"
SHORT = FetchLimits(connect=1.0, idle=0.4, whole=0.8, body=300_000, decoded=500_000, head=16_000)


def fetcher(limits: FetchLimits = SHORT) -> HttpFetcher:
    return HttpFetcher(AGENT, limits, time.time, allow_private=True)


def fetch(path: str, limits: FetchLimits = SHORT, host: str = "127.0.0.1") -> Response | Failure:
    async def ask(server: Chaos, fetcher: HttpFetcher) -> Response | Failure:
        return await fetcher.fetch(server.url(path))

    return with_server(ask, limits, host)


def with_server(
    ask: Callable[[Chaos, HttpFetcher], Awaitable[T]], limits: FetchLimits = SHORT, host: str = "127.0.0.1"
) -> T:
    async def run() -> T:
        async with chaos(host) as server, fetcher(limits) as client:
            return await ask(server, client)

    return asyncio.run(run())


def response(path: str, limits: FetchLimits = SHORT, host: str = "127.0.0.1") -> Response:
    answer = fetch(path, limits, host)
    assert isinstance(answer, Response), answer
    return answer


def test_an_honest_answer_comes_whole() -> None:
    page = response("/")
    assert (page.status, page.cut, page.address) == (200, "", "127.0.0.1")
    assert page.headers["content-type"] == "text/html"
    assert page.body == page.payload and b"many-links" in page.body
    assert 0 < page.seconds < 0.8 and abs(page.at - time.time()) < 5


def test_request_and_head_are_as_they_went_over_the_wire() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> tuple[bytes, Response | Failure]:
        answer = await client.fetch(server.url("/cookie?q=%C3%A9|x"))
        return server.requests[0], answer

    request, answer = with_server(ask)
    assert isinstance(answer, Response)
    assert answer.request == request
    assert request.startswith(b"GET /cookie?q=%C3%A9|x HTTP/1.1\r\nHost: 127.0.0.1:")
    for header in (b"User-Agent: " + AGENT.encode(), b"Accept-Encoding: gzip, deflate, br, zstd", b"Accept: text/html"):
        assert b"\r\n" + header in request
    assert answer.head.startswith(b"HTTP/1.1 200 OK\r\nSet-Cookie: session=1\r\nSet-Cookie: second=2\r\n")
    assert answer.head.endswith(b"\r\n\r\n")
    assert answer.headers["set-cookie"] == "session=1"


def test_connections_are_kept_and_cookies_are_not() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> list[bytes]:
        for _ in range(3):
            await client.fetch(server.url("/cookie"))
        return server.requests

    requests = with_server(ask)
    assert len(set(requests)) == 1 and b"Cookie" not in requests[-1]


def test_redirects_are_not_followed() -> None:
    answer = response("/redirect-chain")
    assert (answer.status, answer.headers["location"]) == (301, "/redirect-chain?left=4")


@pytest.mark.parametrize("encoding", COMPRESS)
def test_bodies_are_decoded_and_kept_as_they_came(encoding: str) -> None:
    page = response(f"/encoded/{encoding}")
    assert page.body == SMALL and page.cut == ""
    assert len(page.payload) < len(SMALL)
    assert page.headers["content-encoding"] == COMPRESS[encoding][0]


def test_a_body_that_is_not_encoded_as_announced_stays_as_it_is() -> None:
    page = response("/not-encoded")
    assert (page.body, page.cut) == (SMALL, "")


@pytest.mark.parametrize("encoding", COMPRESS)
def test_a_bomb_stops_at_the_limit(encoding: str) -> None:
    page = response(f"/bomb/{encoding}")
    assert (len(page.body), page.cut) == (SHORT.decoded, "length")


@pytest.mark.parametrize("encoding", COMPRESS)
def test_a_bomb_never_takes_more_memory_than_the_limit_and_a_little(encoding: str) -> None:
    header, compress = COMPRESS[encoding]
    bomb = compress(bytes(10_000_000))
    tracemalloc.start()
    decoding = Decoding(header, 1_000_000)
    decoding.feed(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(decoding.body), decoding.cut) == (1_000_000, "length")
    assert peak < 1_500_000


@pytest.mark.parametrize("encoding", COMPRESS)
@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537])
def test_a_body_may_come_in_any_pieces(encoding: str, size: int) -> None:
    header, compress = COMPRESS[encoding]
    raw, body = compress(bytes(size)), bytes(size)
    decoding = Decoding(header, size)
    for place in range(len(raw)):
        decoding.feed(raw[place : place + 1])
    assert (bytes(decoding.body), decoding.cut) == (body, "")
    assert decoded(raw, header, size) == body


def test_members_one_after_another_are_one_body_and_junk_behind_is_ignored() -> None:
    assert decoded(gzip.compress(b"one ") + gzip.compress(b"two") + b"\0junk" * 9, "gzip", 100) == b"one two"


def test_a_body_that_breaks_off_says_so() -> None:
    raw = gzip.compress(bytes(range(256)) * 999, mtime=0)
    decoding = Decoding("gzip", 10**6)
    decoding.feed(raw[:-8] + b"wrong sum")
    assert decoding.cut == "encoding" and decoding.body


GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
ZSTD_HEAD = b"\x28\xb5\x2f\xfd\0\x58"
NOTHING = {
    "empty gzip members": ("gzip", gzip.compress(b"") * 100_000),
    "gzip members of one byte": ("gzip", gzip.compress(b"x") * 100_000),
    "empty zstd frames": ("zstd", zstd.compress(b"") * 100_000),
    "zstd frames to be skipped": ("zstd", b"\x50\x2a\x4d\x18\0\0\0\0" * 100_000),
    "empty blocks of deflate": ("gzip", GZIP_HEAD + b"\0\0\0\xff\xff" * 100_000),
    "empty blocks of zstd": ("zstd", ZSTD_HEAD + b"\0\0\0" * 100_000),
}
"""Bodies that say nothing at length."""


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("around", [[], ["gzip"], ["br"], ["zstd"], ["br", "zstd"]])
def test_streams_without_end_that_say_nothing_are_left(name: str, around: list[str]) -> None:
    """Each costs something: 52 KB of them, compressed twice, would take half a minute."""
    header, body = NOTHING[name]
    for encoding in around:
        header, body = f"{header}, {encoding}", COMPRESS[encoding][1](body)
    decoding = Decoding(header, 10**7)
    decoding.feed(body)
    assert decoding.cut == "encoding" and len(decoding.body) <= 1_000


def test_a_body_of_as_many_streams_as_a_server_may_have_reasons_for_comes_whole() -> None:
    for header, compress in COMPRESS.values():
        if header in ("gzip", "zstd"):
            assert decoded(compress(b"piece ") * 1_000, header, 10**6) == b"piece " * 1_000


@pytest.mark.parametrize("encoding", COMPRESS)
def test_large_bodies_are_decoded_with_pauses_so_that_others_have_their_turn(encoding: str) -> None:
    header, compress = COMPRESS[encoding]
    decoding = Decoding(header, 10**7)
    so_far = [len(decoding.body) for _ in decoding.feeding(compress(bytes(10**7)))]
    between = [after - before for before, after in pairwise([0, *so_far, len(decoding.body)])]
    assert len(decoding.body) == 10**7 and max(between) <= 1_000_000


@given(st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd"]), min_size=1, max_size=4), st.binary(), st.data())
def test_bytes_of_any_kind_are_decoded_or_left(encodings: list[str], body: bytes, data: st.DataObject) -> None:
    for encoding in encodings:
        if data.draw(st.booleans()):
            body = COMPRESS[encoding][1](body)
    place = data.draw(st.integers(0, len(body)))
    decoding = Decoding(", ".join(encodings), 1_000)
    for part in (body[:place], data.draw(st.binary(max_size=3)), body[place:]):
        decoding.feed(part)
    assert len(decoding.body) <= 1_000 and decoding.cut in ("", "length", "encoding")


@pytest.mark.parametrize(
    ("path", "cut", "begins"),
    [
        ("/endless-body", "length", b"<p>and so on"),
        ("/half-a-body", "disconnect", b"<p>half a body"),
        ("/half-a-chunk", "disconnect", b"<p>half a chunk"),
        ("/reset-in-body", "disconnect", b"<p>half"),
        ("/slow-body", "time", b"sss"),
        ("/stall-in-body", "time", b"half "),
        ("/image", "type", b""),
    ],
)
def test_what_came_before_the_end_is_kept(path: str, cut: str, begins: bytes) -> None:
    answer = response(path)
    assert answer.status == 200
    assert (answer.cut, answer.body[: len(begins)]) == (cut, begins)
    assert len(answer.body) <= SHORT.body


@pytest.mark.parametrize(
    ("path", "reason", "again_after"),
    [
        ("/close-before-head", "connection lost", 60),
        ("/reset-before-head", "connection lost", 60),
        ("/reset-after-head", "connection lost", 60),
        ("/no-body", "connection lost", 60),
        ("/slow-head", "timed out", 60),
        ("/stall-before-head", "timed out", 60),
        ("/stall-after-head", "timed out", 60),
        ("/not-http", "broken answer", 60),
        ("/two-lengths", "broken answer", 60),
        ("/huge-header", "malformed response: its headers are too large", 60),
        ("/many-headers", "malformed response: its headers are too large", 60),
        ("/endless-headers", "malformed response: its headers are too large", 60),
        ("/endless-header", "malformed response: its headers are too large", 60),
        ("/endless-continue", "broken answer: too many interim responses", 60),
        ("/length/of-5000-digits", "broken answer", 60),
        ("/length/negative", "broken answer", 60),
        ("/chunk/overflow", "broken answer", 60),
        ("/headers/cookie-of-a-megabyte", "malformed response: its headers are too large", 60),
        ("/version/2", "broken answer", 60),
    ],
)
def test_a_failure_says_why_and_whether_it_may_heal(path: str, reason: str, again_after: float) -> None:
    failure = fetch(path)
    assert isinstance(failure, Failure)
    assert failure.reason.startswith(reason) and len(failure.reason) < 130 and failure.reason.isprintable()
    assert failure.again_after == again_after


def test_many_small_headers_are_also_too_large() -> None:
    failure = fetch("/cookie", replace(SHORT, head=60))
    assert failure == Failure("malformed response: its headers are too large", 60)


def test_every_type_is_read_when_told_so() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> Response | Failure:
        return await client.fetch(server.url("/image"), every_type=True)

    answer = with_server(ask)
    assert isinstance(answer, Response) and (len(answer.body), answer.cut) == (4000, "")


def test_no_more_is_read_than_is_enough() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> list[Response | Failure]:
        return [await client.fetch(server.url(path), most=1_000) for path in ("/many-links", "/bomb/br")]

    for answer in with_server(ask):
        assert isinstance(answer, Response) and (len(answer.body), answer.cut) == (1_000, "length")


@pytest.mark.parametrize(
    ("content_type", "accepted"),
    [("", True), ("TEXT/HTML; charset=x", True), ("text/plain", True), ("application/xhtml+xml", True), ("a/b", False)],
)
def test_types_that_are_read(content_type: str, accepted: bool) -> None:
    assert FetchLimits().accept(content_type) is accepted
    assert FetchLimits(types=None).accept(content_type)


def test_after_something_broken_the_next_answer_is_sound() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> list[str]:
        answers = [await client.fetch(server.url(path)) for path in ("/two-lengths", "/image", "/", "/bomb/br", "/")]
        return [answer.cut if isinstance(answer, Response) else answer.reason for answer in answers]

    assert with_server(ask) == ["broken answer: Bad Content-Length", "type", "", "length", ""]


def test_nobody_listening() -> None:
    async def run() -> Response | Failure:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound but not listening, so nobody else answers there
            async with fetcher() as client:
                return await client.fetch(f"http://127.0.0.1:{taken.getsockname()[1]}/")

    assert asyncio.run(run()) == Failure("connection refused", 60, unanswered=True)


def test_plain_http_where_tls_is_expected() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> Response | Failure:
        return await client.fetch(server.url("/").replace("http:", "https:"))

    failure = with_server(ask)
    assert isinstance(failure, Failure) and re.match("TLS failed|timed out", failure.reason)


@pytest.mark.parametrize("url", ["http://" + "a" * 70 + ".test/", "http://a..b/", "http://127.0.0.1:0/"])
def test_a_url_that_cannot_be_asked_for_is_a_failure(url: str) -> None:
    async def run() -> Response | Failure:
        async with fetcher() as client:
            return await client.fetch(url)

    assert isinstance(asyncio.run(run()), Failure)


def test_ipv6() -> None:
    try:
        answer = response("/", host="::1")
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    assert (answer.status, answer.address) == (200, "::1")


def test_through_a_proxy_any_host_can_be_asked() -> None:
    async def run() -> tuple[list[str], bytes, Response | Failure]:
        async with chaos() as server:
            async with HttpFetcher(AGENT, SHORT, time.time, proxies=Proxies.to(server.url(""))) as client:
                answer = await client.fetch("http://nobody.test/nowhere")
            return server.paths, server.requests[0], answer

    paths, request, answer = asyncio.run(run())
    assert paths == ["http://nobody.test/nowhere"]
    assert isinstance(answer, Response) and (answer.status, answer.request) == (404, request)


def test_cancelling_passes_through_and_frees_the_connection() -> None:
    async def ask(server: Chaos, client: HttpFetcher) -> Response | Failure:
        task = asyncio.create_task(client.fetch(server.url("/stall-before-head")))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await client.fetch(server.url("/"))

    assert isinstance(with_server(ask), Response)


def test_many_at_once_share_few_connections() -> None:
    async def run() -> list[Response | Failure]:
        async with chaos() as server, HttpFetcher(AGENT, SHORT, time.time, 4, allow_private=True) as client:
            return await asyncio.gather(*(client.fetch(server.url(f"/calendar?n={n}")) for n in range(50)))

    assert all(isinstance(answer, Response) and answer.status == 200 for answer in asyncio.run(run()))


def test_few_bodies_are_decoded_at_once() -> None:
    """All together would fill the memory."""

    async def size(server: Chaos, client: HttpFetcher) -> int:
        answer = await client.fetch(server.url("/bomb/gzip"))
        assert isinstance(answer, Response), answer
        return len(answer.body)

    async def ask(server: Chaos, client: HttpFetcher) -> tuple[list[int], int]:
        tracemalloc.start()
        sizes = await asyncio.gather(*(size(server, client) for _ in range(24)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return sizes, peak

    largest = 10_000_000
    sizes, peak = with_server(ask, FetchLimits(decoded=largest))
    assert sizes == [largest] * 24
    assert peak < 24 * LARGE + 2 * DECODED_AT_ONCE * largest


def test_the_time_that_a_large_body_waits_for_its_turn_is_not_held_against_it() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size - 1))
        await writer.drain()
        await asyncio.sleep(whole / 4)
        writer.write(b"!")
        writer.close()

    size, whole = 3_000_000, 4.0

    async def run() -> list[Response | Failure]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        server.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)  # What waits is not sent.
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with server, fetcher(FetchLimits(whole=whole, body=size)) as client:
            return await asyncio.gather(*(client.fetch(f"{url}{n}") for n in range(5 * LARGE_AT_ONCE)))

    answers = asyncio.run(run())
    assert [answer.cut for answer in answers if isinstance(answer, Response)] == [""] * 5 * LARGE_AT_ONCE
