"""Cookies are sent where a redirect loop cannot be ended otherwise: to one host, in one chain, once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

import spoor
from spoor.events import Event, Redirected, Visited
from spoor.fetch.cookies import MOST_BYTES, MOST_CHAINS, MOST_COOKIES, RedirectChain, RedirectCookies
from spoor.frontier.entry import HostRules
from spoor.live.from_settings import AGENT
from spoor.records import Redirect, Response
from spoor.report.figures import WITH_COOKIES, figures
from spoor.report.politeness import PolitenessRules, conduct
from spoor.store.crawl_folder import open_for_reading
from tests.html_site import Answer, answering, crawled_at, html

TARGET = '[target]\nkeywords = ["page"]\n[crawl]'
HOME = "http://a.test/"


def led(to: str, *cookies: str) -> web.Response:
    response = web.Response(status=302, headers={"Location": to})
    for cookie in cookies:
        response.headers.add("Set-Cookie", cookie)
    return response


def to_itself(request: web.BaseRequest) -> web.Response:
    if request.cookies.get("seen") == "yes":
        return html("<title>A page</title><a href='/next'>next</a>")
    return led(request.path, "seen=yes; Path=/")


def over_another(request: web.BaseRequest) -> web.Response:
    """As where a language or a consent is chosen for the visitor."""
    if request.path == "/choose":
        return led("/", "language=th; Path=/")
    return html("<title>A page</title>") if "language" in request.cookies else led("/choose")


def on_to_another(request: web.BaseRequest) -> web.Response:
    """The page itself demands the cookie, too."""
    if "seen" not in request.cookies:
        return led("/", "seen=yes; Path=/")
    return led("/inside") if request.path == "/" else html("<title>A page</title>")


def for_ever(request: web.BaseRequest) -> web.Response:
    return led("/", f"count={len(request.headers.get('Cookie', ''))}")


def without_cookies(request: web.BaseRequest) -> web.Response:
    return led("/")


def for_another_domain(request: web.BaseRequest) -> web.Response:
    return led("/", "id=1; Domain=tracker.test; Path=/")


@dataclass
class Logged:
    """Every request for a page: its path and its cookies."""

    answer: Answer
    requests: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, request: web.BaseRequest) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        self.requests.append((request.path, request.headers.get("Cookie", "")))
        return self.answer(request)


def crawl(answer: Answer, folder: Path, host_delay: float = 0.0) -> tuple[Logged, list[Event]]:
    server = Logged(answer)

    async def run() -> list[Event]:
        async with answering(server) as address:
            return await crawled_at(address, folder, TARGET, host_delay=host_delay)

    return server, asyncio.run(run())


def paths(events: list[Event]) -> list[str]:
    return ["/" + event.visit.url.split("/", 3)[3] for event in events if isinstance(event, Visited)]


@pytest.mark.parametrize(
    ("answer", "requests", "visited"),
    [
        (to_itself, [("/", ""), ("/", "seen=yes"), ("/next", ""), ("/next", "seen=yes")], ["/", "/next"]),
        (over_another, [("/", ""), ("/choose", ""), ("/", "language=th")], ["/"]),
        (on_to_another, [("/", ""), ("/", "seen=yes"), ("/inside", "seen=yes")], ["/inside"]),
    ],
)
def test_a_server_that_demands_its_cookie_gets_it(
    answer: Answer, requests: list[tuple[str, str]], visited: list[str], tmp_path: Path
) -> None:
    server, events = crawl(answer, tmp_path / "crawl")
    assert (server.requests, paths(events)) == (requests, visited)


@pytest.mark.parametrize(
    ("answer", "requests"),
    [
        (for_ever, [("/", ""), ("/", "count=0")]),
        (without_cookies, [("/", "")]),
        (for_another_domain, [("/", "")]),
    ],
)
def test_a_loop_that_no_cookie_ends_is_left(answer: Answer, requests: list[tuple[str, str]], tmp_path: Path) -> None:
    server, events = crawl(answer, tmp_path / "crawl")
    assert server.requests == requests
    redirects = [event for event in events if isinstance(event, Redirected)]
    assert [event.because for event in redirects] == [""] * (len(requests) - 1) + ["already visited"]


def test_the_report_and_why_name_a_loop_that_was_tried_with_cookies(tmp_path: Path) -> None:
    async def crawled() -> str:
        async with answering(to_itself) as address:
            await crawled_at(address, tmp_path / "crawl", TARGET)
            return f"{address}/"

    url = asyncio.run(crawled())
    folder = open_for_reading(tmp_path / "crawl")
    assert WITH_COOKIES in [reason.because for reason in figures(folder).redirects]
    assert f"to {url}, once more with its cookies" in str(spoor.open_crawl(folder.path).why(url))


def test_every_request_of_a_loop_keeps_the_delay_of_its_host(tmp_path: Path) -> None:
    times: list[float] = []

    def timed(request: web.BaseRequest) -> web.Response:
        times.append(time.monotonic())
        return to_itself(request)

    crawl(timed, tmp_path / "crawl", host_delay=0.2)
    assert len(times) == 4 and min(after - before for before, after in pairwise(times)) > 0.19
    promise = PolitenessRules(HostRules(0.2, 0.2, ask_first=True), AGENT)
    assert conduct(open_for_reading(tmp_path / "crawl"), promise).breaches == ()


def test_cookies_are_kept_nowhere_but_in_the_headers_of_the_archive(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    crawl(to_itself, folder)
    files = [file for file in folder.rglob("*") if file.is_file() and "warc" not in file.parts]
    assert files and not any(b"seen=yes" in file.read_bytes() for file in files)


def response(*cookies: str, url: str = HOME) -> Response:
    lines = ["HTTP/1.1 302 Found", *(f"Set-Cookie: {cookie}" for cookie in cookies), "", ""]
    return Response(url, 302, {}, b"", b"", b"", "\r\n".join(lines).encode(), "", 0.0, 0.0)


def chained(do: Callable[[], None]) -> None:
    async def run() -> None:
        do()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("cookie", "url", "sent"),
    [
        ("a=1", HOME, "a=1"),
        ("a=1; Path=/inside", HOME, ""),
        ("a=1; Path=/inside", HOME + "inside/x", "a=1"),
        ("a=1; Secure", HOME, ""),
        ("a=1; Max-Age=0", HOME, ""),
        ("a=1; Domain=b.test", HOME, ""),
        ("a=1", "http://b.test/", ""),
        ('a="1 2"', HOME, 'a="1 2"'),
        ("no cookie at all", HOME, ""),
        ("", HOME, ""),
    ],
)
def test_a_cookie_goes_where_it_belongs(cookie: str, url: str, sent: str) -> None:
    def do() -> None:
        chain = RedirectChain()
        chain.note(response(cookie))
        chain.repeated = True
        assert chain.headers(url).get("Cookie", "") == sent

    chained(do)


def test_what_a_chain_and_all_chains_hold_is_bounded() -> None:
    def do() -> None:
        many, long, known = RedirectChain(repeated=True), RedirectChain(repeated=True), RedirectCookies()
        many.note(response(*(f"c{number}=1" for number in range(1000))))
        assert many.headers(HOME)["Cookie"].count("=") == MOST_COOKIES
        long.note(response("a=1", "b=" + "x" * MOST_BYTES, "c=1"))
        assert long.headers(HOME) == {"Cookie": "a=1"}
        for number in range(2 * MOST_CHAINS):
            known.follow(RedirectChain({str(number)}), HOME, Redirect(f"{HOME}{number}"))
        found = [known.chain_to(f"{HOME}{number}").passed for number in range(2 * MOST_CHAINS)]
        assert sum(map(bool, found)) == MOST_CHAINS and found[-1]

    chained(do)


def test_another_host_begins_another_chain() -> None:
    def do() -> None:
        known, chain = RedirectCookies(), RedirectChain()
        chain.note(response("a=1"))
        known.follow(chain, HOME, Redirect("http://b.test/"))
        assert known.chain_to("http://b.test/").passed == set()

    chained(do)
