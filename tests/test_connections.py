"""Connections: kept, given up, and through a proxy; whatever a server does on one, the next request is safe."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from spoor.fetch import connections, pauses
from spoor.fetch.connection import LATE_SECONDS, MAX_READ_BYTES
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.pauses import LONG_SECONDS, Pauses
from spoor.fetch.proxies import Proxies
from spoor.records import Failure, Response
from tests.thread_server import in_thread

SHORT = FetchLimits(connect=1.0, idle=0.4, whole=0.8)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Scripted:
    """A server that sends on each connection, after each request, the next of the given answers; then it closes the
    connection. The last list is for all further connections. `requests` are those of each connection."""

    def __init__(self, *answers: list[bytes]) -> None:
        self._answers = answers
        self.requests: list[list[bytes]] = []
        self.is_sending = False
        self._conversations: list[asyncio.Task[None]] = []

    def start(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._conversations.append(asyncio.create_task(self.converse(reader, writer)))

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests: list[bytes] = []
        self.requests.append(requests)
        for answer in self._answers[min(len(self.requests), len(self._answers)) - 1]:
            try:
                requests.append(await reader.readuntil(b"\r\n\r\n"))
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            self.is_sending = True
            for part in answer.split(b"<pause>"):
                writer.write(part)
                await asyncio.sleep(0.02)
            self.is_sending = False
        writer.close()
        await asyncio.sleep(0)  # until it is closed

    @asynccontextmanager
    async def served(self, secure: ssl.SSLContext | None = None) -> AsyncIterator[str]:
        async with await asyncio.start_server(self.start, "127.0.0.1", 0, ssl=secure) as server:
            yield f"{'https' if secure else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            await asyncio.gather(*self._conversations)


def fetched(
    server: Scripted,
    count: int = 1,
    pause: float = 0.0,
    secure: ssl.SSLContext | None = None,
    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> list[Response | Failure]:
    """One after another."""

    async def run() -> list[Response | Failure]:
        async with server.served(secure) as site, HttpFetcher("spoor", SHORT, time.time, allow_private=True) as fetcher:
            answers = []
            for number in range(count):
                answers.append(await fetcher.fetch(f"{site}/{number}"))
                while pause and server.is_sending:  # Sleeping is not enough on a busy machine.
                    await asyncio.sleep(0.01)
                await asyncio.sleep(pause)
            return answers

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(run())


def response(*answers: bytes) -> Response:
    (answer,) = fetched(Scripted([*answers]))
    assert isinstance(answer, Response), answer
    return answer


def statuses(answers: list[Response | Failure]) -> list[int | str]:
    return [answer.status if isinstance(answer, Response) else answer.reason for answer in answers]


def test_one_connection_is_used_for_request_after_request() -> None:
    server = Scripted([OK] * 5)
    assert statuses(fetched(server, 5)) == [200] * 5
    assert [len(requests) for requests in server.requests] == [5]


def test_a_connection_that_was_idle_for_too_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEPT_OPEN", 0.05)
    server = Scripted([OK] * 5)
    assert statuses(fetched(server, 3, pause=0.12)) == [200] * 3
    assert [len(requests) for requests in server.requests] == [1, 1, 1]


def test_a_connection_that_the_server_closes_between_requests_is_replaced() -> None:
    server = Scripted([OK])
    assert statuses(fetched(server, 3, pause=0.05)) == [200] * 3
    assert [len(requests) for requests in server.requests] == [1, 1, 1]


def test_a_request_on_a_kept_connection_that_ends_without_response_is_repeated_on_a_new_one() -> None:
    server = Scripted([OK, b""], [OK])
    assert statuses(fetched(server, 2)) == [200] * 2
    assert [len(requests) for requests in server.requests] == [2, 1]
    assert server.requests[0][1] == server.requests[1][0]


def test_a_request_on_a_new_connection_is_not_repeated() -> None:
    server = Scripted([b""])
    assert statuses(fetched(server)) == ["connection lost"]
    assert [len(requests) for requests in server.requests] == [1]


def test_a_connection_that_is_closed_before_the_request_is_lost() -> None:
    assert statuses(fetched(Scripted([]))) == ["connection lost"]


def test_a_request_is_not_repeated_once_its_response_has_begun() -> None:
    server = Scripted([OK, OK[:-1]])
    answers = fetched(server, 2)
    assert [answer.cut for answer in answers if isinstance(answer, Response)] == ["", "disconnect"]
    assert [len(requests) for requests in server.requests] == [2]


@pytest.mark.parametrize(
    "first",
    [
        OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"),
        OK.replace(b"1.1", b"1.0"),
        OK + OK,  # nobody asked for the second
        OK.replace(b": 2", b": 1"),  # more than was announced, in one packet
        OK.replace(b": ", b" : "),
        OK.replace(b"\r\n\r\n", b"\r\nno colon\r\n\r\n"),
        OK + b"<pause>HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok<pause>okrubbish",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9\r\n\r\nok",  # not read to its end
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nok",
    ],
)
def test_a_connection_is_not_used_again_after(first: bytes) -> None:
    server = Scripted([first, b"HTTP/1.1 500 Wrong\r\n\r\n"], [OK])
    answers = fetched(server, 2, pause=0.05)
    assert isinstance(answers[0], Response) and statuses(answers[1:]) == [200]
    assert [len(requests) for requests in server.requests] == [1, 1]


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_a_response_without_a_body_ends_with_its_head(status: bytes) -> None:
    server = Scripted([b"HTTP/1.1 %b\r\nContent-Length: 70\r\n\r\n" % status, OK])
    assert statuses(fetched(server, 2)) == [int(status[:3]), 200]
    assert [len(requests) for requests in server.requests] == [2]


def test_interim_responses_are_skipped() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    assert response(hints * 3 + b"<pause>" + hints + OK).body == b"ok"


def test_interim_responses_are_counted_for_each_request() -> None:
    hints = b"HTTP/1.1 100 Continue\r\n\r\n" * 10 + OK
    assert statuses(fetched(Scripted([hints] * 4), 4)) == [200] * 4


def test_chunks_may_come_in_any_pieces() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = response(head + b"3\r\non<pause>e\r<pause>\n4;x=y\r\n two\r\n<pause>0\r\nTrailer: t\r\n\r\n")
    assert (answer.body, answer.cut) == (b"one two", "")
    assert answer.head == head


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    answer = response(b"HTTP/1.1 200 OK\r\n\r\none<pause> two")
    assert (answer.body, answer.cut) == (b"one two", "")


def test_what_came_before_an_error_in_the_body_is_kept() -> None:
    answer = response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n<pause>no number\r\n")
    assert (answer.body, answer.cut) == (b"one", "disconnect")


@pytest.mark.parametrize(
    "fields",
    [
        [b"Content-Length: 2", b"Content-Length: 2"],
        [b"Content-Length : 2"],
        [b"no colon here", b"Content-Length: 2"],
        [b"Content-Length: 2", *(b"X-%d: y" % number for number in range(130))],
        [b"X: \xe9", b" folded", b"Content-Length: 2"],
    ],
    ids=["length twice", "space before colon", "no colon", "130 headers", "folded"],
)
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_a_response_is_read_whatever_its_head_is_like_and_the_head_kept_as_it_came(
    fields: list[bytes], line_end: bytes
) -> None:
    head = line_end.join([b"HTTP/1.1 200 OK", *fields, b"", b""])
    answer = response(head + b"ok")
    assert (answer.status, answer.body, answer.cut, answer.head) == (200, b"ok", "", head)
    assert answer.headers["content-length"] == "2"


@pytest.mark.parametrize("pause", [b"", b"<pause>"])
def test_a_response_is_as_long_as_it_says_in_one_packet_and_in_two(pause: bytes) -> None:
    answer = response(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>o" + pause + b"k and more")
    assert (answer.body, answer.cut) == (b"<p>o", "")


@pytest.mark.parametrize(
    "broken", [b"Content-Length: 2\r\nContent-Length: 3", b"Content-Length: two", b"Transfer-Encoding: chunked\r\nX: y"]
)
def test_where_it_is_not_certain_where_a_response_ends_its_connection_is_not_used_again(broken: bytes) -> None:
    server = Scripted([b"HTTP/1.1 200 OK\r\n%b\r\n\r\nok\r\n" % broken, b"HTTP/1.1 500 Wrong\r\n\r\n"], [OK])
    answers = fetched(server, 2)
    assert isinstance(answers[0], Failure) and answers[0].reason.startswith("broken answer")
    assert statuses(answers[1:]) == [200]


class Greeting(Scripted):
    """Sends something when a connection is opened."""

    greeting = b""

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self.greeting)
        await super().converse(reader, writer)


def test_data_before_the_request_is_no_response() -> None:
    server = Greeting([b""])
    server.greeting = b"SSH-2.0-OpenSSH_9.6\r\n"
    assert fetched(server) == [Failure("broken answer: Bad status line", 60.0)]


HTTP_2_SETTINGS = b"\0\0\x06\x04\0\0\0\0\0\0\3\0\0\0\x64"


def test_of_a_server_that_speaks_only_http_2_the_reason_says_so() -> None:
    only_http_2 = Failure("the server speaks only HTTP/2")
    at_once = Greeting([b""])
    at_once.greeting = HTTP_2_SETTINGS
    assert fetched(at_once) == [only_http_2]
    assert fetched(Scripted([HTTP_2_SETTINGS])) == [only_http_2]
    assert fetched(Scripted([HTTP_2_SETTINGS[:4] + b"<pause>" + HTTP_2_SETTINGS[4:]])) == [only_http_2]


def tls(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """Of a server, with its certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=a -addext subjectAltName={name}"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


def trust(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


def test_the_reason_of_a_wrong_certificate_is_told_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secure, certificate = tls(tmp_path, "DNS:another.host.test")
    trust(certificate, monkeypatch)
    (failure,) = fetched(Scripted([]), secure=secure)
    assert isinstance(failure, Failure)
    assert failure.reason == (
        "TLS certificate is not valid: IP address mismatch, certificate is not valid for '127.0.0.1'."
    )


def test_a_server_that_refuses_our_protocol_in_the_handshake_speaks_only_http_2() -> None:
    async def run() -> Response | Failure:
        server = Greeting([])
        server.greeting = b"\x15\3\3\0\2\2\x78"  # The alert "no application protocol".
        async with server.served() as site, HttpFetcher("spoor", SHORT, time.time, allow_private=True) as fetcher:
            return await fetcher.fetch(site.replace("http:", "https:") + "/")

    assert asyncio.run(run()) == Failure("the server speaks only HTTP/2")


# Event loops: asyncio's, one whose transports have no more than the documentation says, and uvloop.


class PublicTransport(asyncio.Transport):
    """The documented methods, and no place for other attributes."""

    __slots__ = ("_transport",)

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def __getattribute__(self, name: str) -> Any:
        transport = object.__getattribute__(self, "_transport")
        return getattr(transport, name) if hasattr(asyncio.Transport, name) else object.__getattribute__(self, name)


class PublicLoop(asyncio.SelectorEventLoop):
    async def create_connection(self, *args: Any, **options: Any) -> Any:
        transport, protocol = await super().create_connection(*args, **options)
        protocol.transport = PublicTransport(transport)
        return protocol.transport, protocol


def uvloop() -> asyncio.AbstractEventLoop:
    module = pytest.importorskip("uvloop")
    loop: asyncio.AbstractEventLoop = module.new_event_loop()
    return loop


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, PublicLoop, uvloop])
@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "TLS"])
def test_pages_come_with_every_event_loop(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
    is_secure: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = bytes(range(256)) * 1_200
    assert len(body) > 4 * MAX_READ_BYTES
    secure, certificate = tls(tmp_path, "IP:127.0.0.1") if is_secure else (None, None)
    if certificate is not None:
        trust(certificate, monkeypatch)
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    until_close = b"HTTP/1.1 200 OK\r\n\r\n" + body
    server = Scripted([OK, chunked, OK + b"<pause>"], [until_close])
    answers = fetched(server, 4, secure=secure, new_loop=new_loop)
    assert [answer.body for answer in answers if isinstance(answer, Response)] == [b"ok", body, b"ok", body]
    assert [len(requests) for requests in server.requests] == [3, 1]


# The loop, or the whole process, is held up: that is not the fault of servers.


async def fetched_while_held(server: Scripted, site: str, limits: FetchLimits, seconds: float) -> Response | Failure:
    """The loop is held up from the moment at which the server has the request; the server runs in another thread."""
    async with HttpFetcher("spoor", limits, time.time, allow_private=True) as fetcher:
        fetching = asyncio.create_task(fetcher.fetch(f"{site}/"))
        while not server.requests or not server.requests[0]:
            await asyncio.sleep(0)
        time.sleep(seconds)
        return await fetching


def test_time_in_which_the_loop_is_held_up_counts_for_no_limit() -> None:
    """More has arrived meanwhile than is read at once."""
    limits = FetchLimits(connect=1.0, idle=0.1, whole=0.1)
    body = bytes(4 * MAX_READ_BYTES)

    async def run() -> Response | Failure:
        server = Scripted([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body])
        with in_thread(server.served()) as site:
            return await fetched_while_held(server, site, limits, 0.1 + 2 * LATE_SECONDS)

    answer = asyncio.run(run())
    assert isinstance(answer, Response) and (answer.cut, len(answer.body)) == ("", len(body))


@pytest.mark.parametrize("begun", [b"", OK[:-1]], ids=["nothing", "half a response"])
def test_what_fails_because_the_process_was_stopped_is_excused(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has given up meanwhile."""
    monkeypatch.setattr(pauses, "LONG_SECONDS", -pauses._BEAT_SECONDS + LATE_SECONDS)

    async def run(held: float) -> Response | Failure:
        server = Scripted([begun])
        with in_thread(server.served()) as site:
            return await fetched_while_held(server, site, SHORT, held)

    answer = asyncio.run(run(2 * LATE_SECONDS))
    assert isinstance(answer, Failure) and answer.excused
    answer = asyncio.run(run(0.0))
    assert not isinstance(answer, Failure) or not answer.excused


def test_a_pause_is_noticed_when_it_was_long_and_ended_after_a_request_began() -> None:
    async def run() -> None:
        now = 0.0
        loop, watched = asyncio.get_running_loop(), Pauses(lambda: now)
        begin = loop.time()
        now += LONG_SECONDS
        assert not watched.any_since(begin)
        now += LONG_SECONDS + 2.0  # The machine slept: the clock of the loop did not go on.
        assert watched.any_since(begin) and watched.any_since(begin)
        await asyncio.sleep(0.01)
        assert not watched.any_since(loop.time())
        watched.close()

    asyncio.run(run())


def test_headers_are_added_to_the_usual_ones_or_replace_them() -> None:
    async def run(server: Scripted) -> Response | Failure:
        async with server.served() as site, HttpFetcher("spoor", SHORT, time.time, allow_private=True) as fetcher:
            return await fetcher.fetch(f"{site}/?", headers={"accept": "text/css", "Cookie": "a=b"})

    server = Scripted([OK])
    answer = asyncio.run(run(server))
    (request,) = server.requests[0]
    assert isinstance(answer, Response) and answer.request == request
    names = [line.partition(b":")[0].lower() for line in request.splitlines()[1:-1]]
    assert names == [b"host", b"user-agent", b"accept", b"accept-encoding", b"cookie"]
    assert b": text/css\r\n" in request


@pytest.mark.parametrize(("path", "headers"), [("/", {"Cookie": "a\r\nHost: b"}), ("/\n", {}), ("/", {"X\0": "y"})])
def test_a_request_cannot_be_broken_into_two(path: str, headers: dict[str, str]) -> None:
    async def run(server: Scripted) -> Response | Failure:
        async with server.served() as site, HttpFetcher("spoor", SHORT, time.time, allow_private=True) as fetcher:
            return await fetcher.fetch(site + path, headers=headers)

    server = Scripted([OK])
    answer = asyncio.run(run(server))
    assert isinstance(answer, Failure) and answer.reason.startswith("cannot be asked for")
    assert server.requests == [[]]


def through_proxy(proxy: Scripted, url: str, count: int = 1, login: str = "") -> list[Response | Failure]:
    async def run() -> list[Response | Failure]:
        async with proxy.served() as address:
            address = address.replace("//", f"//{login}")
            async with HttpFetcher("spoor", SHORT, time.time, proxies=Proxies.to(address)) as fetcher:
                return [await fetcher.fetch(url) for _ in range(count)]

    return asyncio.run(run())


def test_https_goes_through_a_tunnel() -> None:
    proxy = Scripted([b"HTTP/1.1 200 Connected\r\n\r\n<pause>no TLS at all"])
    (answer,) = through_proxy(proxy, "https://a.test/page")
    assert isinstance(answer, Failure) and answer.reason.startswith("TLS failed")
    ((request,),) = proxy.requests
    assert request.startswith(b"CONNECT a.test:443 HTTP/1.1\r\n") and b"\r\nUser-Agent: spoor\r\n" in request


def test_a_proxy_that_makes_no_tunnel_fails() -> None:
    proxy = Scripted([b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"])
    assert statuses(through_proxy(proxy, "https://a.test/page")) == ["proxy answered 403"]


def test_a_proxy_of_this_machine_that_knows_no_tunnels_receives_whole_urls() -> None:
    proxy = Scripted([b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n"], [OK, OK])
    answers = through_proxy(proxy, "https://a.test/page", 2)
    assert statuses(answers) == [200, 200]
    assert [len(requests) for requests in proxy.requests] == [1, 2]
    assert proxy.requests[1][0].startswith(b"GET https://a.test/page HTTP/1.1\r\nHost: a.test\r\n")
    assert isinstance(answers[0], Response) and (answers[0].request, answers[0].address) == (proxy.requests[1][0], "")


def test_the_login_of_a_proxy_is_sent_with_every_request() -> None:
    proxy = Scripted([OK, OK])
    assert statuses(through_proxy(proxy, "http://a.test/page", 2, "me:secret@")) == [200, 200]
    for request in proxy.requests[0]:
        assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in request
