"""Connections: kept, given up, and through a proxy; whatever a server does on one, the next request is safe."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from spoor.fetch import connections
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.records import Failure, Response

SHORT = FetchLimits(connect=1.0, idle=0.4, whole=0.8)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Scripted:
    """A server that sends on each connection, after each request, the next of the given answers; then it closes the
    connection. The last list is for all further connections. `requests` are those of each connection."""

    def __init__(self, *answers: list[bytes]) -> None:
        self._answers = answers
        self.requests: list[list[bytes]] = []
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
            for part in answer.split(b"<pause>"):
                writer.write(part)
                await asyncio.sleep(0.02)
        writer.close()
        await asyncio.sleep(0)  # until it is closed

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        async with await asyncio.start_server(self.start, "127.0.0.1", 0) as server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            await asyncio.gather(*self._conversations)


def fetched(server: Scripted, count: int = 1, pause: float = 0.0) -> list[Response | Failure]:
    """One after another."""

    async def run() -> list[Response | Failure]:
        async with server.served() as site, HttpFetcher("spoor", SHORT, time.time, allow_private=True) as fetcher:
            answers = []
            for number in range(count):
                answers.append(await fetcher.fetch(f"{site}/{number}"))
                await asyncio.sleep(pause)
            return answers

    return asyncio.run(run())


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


def test_data_before_the_request_is_no_response() -> None:
    class Greeting(Scripted):
        async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
            await super().converse(reader, writer)

    assert fetched(Greeting([b""])) == [Failure("broken answer: Bad status line", 60.0)]


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
