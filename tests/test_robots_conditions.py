"""A robots.txt that is known is asked for on condition that it has changed; 304 keeps the rules for as long again."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from spoor.crawl import Crawl
from spoor.crawling.access import Access
from spoor.crawling.guidance import Guidance
from spoor.events import Event, Failed, HostOpened, Refused, Visited
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.responses import conditions, understand
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.language_judges import ScriptShare
from spoor.live.downloader import LiveDownloader, PageFetcher
from spoor.live.driver import LiveDriver
from spoor.live.page_reader import Reader
from spoor.ordering.simple import Arrival
from spoor.parse.html import DEFAULT_OPTIONS
from spoor.pricing import Limits
from spoor.records import Failure, Outcome, Page, Response, RobotsRules, Visit
from spoor.robots import RobotsFile
from spoor.store.incidents import SavedTroubles
from spoor.strategy import Strategy
from tests.html_site import answering, html
from tests.kept_responses import response

RULES = "User-agent: *\nDisallow: /private"
STRICTER = "User-agent: *\nDisallow: /"
MODIFIED = "Mon, 02 Nov 2026 10:00:00 GMT"
ROBOTS = "http://a.test/robots.txt"
DAY = 86_400.0


@dataclass
class Host:
    """Its rules change after they were asked for so often. `asked` is what each request said of the known ones."""

    changes_after: int = 99
    asked: list[tuple[str | None, str | None]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def answer(self, request: web.BaseRequest) -> web.Response:
        if request.path != "/robots.txt":
            return html(f"<title>{request.path}</title>")
        self.asked.append((request.headers.get("If-None-Match"), request.headers.get("If-Modified-Since")))
        changed = len(self.asked) > self.changes_after
        etag, text = ('"2"', STRICTER) if changed else ('"1"', RULES)
        said = {"ETag": etag, "Last-Modified": MODIFIED}
        if request.headers.get("If-None-Match") == etag:
            response = web.Response(status=304, headers=said)
        else:
            response = web.Response(text=text, headers=said)
        self.statuses.append(response.status)
        return response


def crawl(host: Host, paths: Sequence[str]) -> list[Event]:
    """Rules count for so short that they are asked for before almost every page."""
    strategy = Strategy(ScriptShare("thai"), Arrival())
    frontier = Frontier(MemoryStore(), HostRules(delay=0.05, rules_last=0.08, ask_first=True))
    crawl = Crawl(strategy, frontier)

    async def run() -> list[Event]:
        async with (
            answering(host.answer) as address,
            HttpFetcher("spoor", FetchLimits(), time.time, allow_private=True) as fetcher,
        ):
            crawl.begin([address + path for path in paths])
            downloader = LiveDownloader(
                PageFetcher(fetcher, Reader(strategy.judge, None, False, DEFAULT_OPTIONS, False))
            )
            driver = LiveDriver(crawl, downloader, 4, time.time, SavedTroubles(None))
            return [event async for batch in driver.run() for event in batch]

    return asyncio.run(run())


def pages(events: Sequence[Event]) -> list[str]:
    return ["/" + event.visit.url.split("/", 3)[3] for event in events if isinstance(event, Visited)]


def test_rules_that_have_not_changed_are_not_sent_again_and_still_bind() -> None:
    host = Host()
    events = crawl(host, ["/1", "/2", "/3", "/private"])
    assert host.asked == [(None, None), *[('"1"', MODIFIED)] * (len(host.asked) - 1)]
    assert host.statuses == [200, *[304] * (len(host.asked) - 1)] and len(host.asked) > 2
    assert pages(events) == ["/1", "/2", "/3"]
    assert [event.refusal.because for event in events if isinstance(event, Refused)] == ["robots.txt disallows it"]
    assert not [event for event in events if isinstance(event, Failed)]


def test_rules_that_have_changed_are_taken_over() -> None:
    host = Host(changes_after=2)
    events = crawl(host, [f"/{number}" for number in range(9)])
    assert host.statuses[:3] == [200, 304, 200]
    assert 0 < len(pages(events)) < 9 and [event for event in events if isinstance(event, Refused)]


def asked(etag: str = "", modified: str = "") -> Visit:
    return Visit(ROBOTS, "a.test", 0, 0.0, "robots", etag=etag, modified=modified)


def response_of(status: int, body: bytes = b"", etag: str = "") -> Response:
    return response(ROBOTS, body, f"HTTP/1.1 {status} X\r\nETag: {etag}\r\n\r\n".encode())


def test_only_what_is_fit_for_a_header_is_kept_and_sent() -> None:
    assert conditions("", "") == {}
    assert conditions('W/"1"', "") == {"If-None-Match": 'W/"1"'}
    assert conditions('"1"\r\nCookie: a=b', MODIFIED) == {"If-Modified-Since": MODIFIED}
    long = response_of(200, RULES.encode(), etag='"' + "x" * 200 + '"')
    assert understand(asked(), long) == RobotsRules(RULES, long.address)


def test_what_a_server_does_not_repeat_stays() -> None:
    rules = understand(asked(etag='"1"', modified=MODIFIED), response_of(304, etag='"2"'))
    assert isinstance(rules, RobotsRules)
    assert (rules.unchanged, rules.etag, rules.modified) == (True, '"2"', MODIFIED)


def test_a_304_that_nobody_asked_for_opens_nothing() -> None:
    assert understand(asked(), response_of(304)) == Failure("HTTP 304 has no valid target", 60)


# What the crawl keeps.


def begun(store: MemoryStore | SqliteStore, now: float) -> Crawl:
    strategy = Strategy(ScriptShare("thai"), Arrival())
    crawl = Crawl(strategy, Frontier(store, HostRules(ask_first=True), resumed_at=now), Limits(agent="spoor"))
    crawl.resume(now)
    crawl.begin(["http://a.test/1", "http://a.test/2"])
    return crawl


def take_turn(crawl: Crawl, now: float, outcome: Outcome) -> tuple[Visit, list[Event]]:
    visit = crawl.next_visit(now)
    assert visit is not None
    return visit, crawl.absorb([(visit, outcome)], now)


def test_what_is_known_of_a_file_is_there_in_a_resumed_crawl(tmp_path: Path) -> None:
    known = RobotsRules(RULES + "\nCrawl-delay: 7", etag='"1"', modified=MODIFIED)
    for turn, outcome in enumerate((known, RobotsRules(etag='"1"', unchanged=True))):
        with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
            crawl, now = begun(store, turn * 2 * DAY), turn * 2 * DAY + 60
            visit, (opened,) = take_turn(crawl, now, outcome)
            assert (visit.etag, visit.modified) == (('"1"', MODIFIED) if turn else ("", ""))
            assert isinstance(opened, HostOpened) and opened.delay == 7.0
            assert crawl.frontier.robots_text(ROBOTS) == known.text
            assert crawl.frontier.robots_file(ROBOTS) == RobotsFile(
                ROBOTS, now + DAY, 7.0, etag='"1"', modified="" if turn else MODIFIED
            )
            take_turn(crawl, now + 60, Page(f"http://a.test/{turn}"))


def test_after_a_failure_the_whole_file_is_asked_for() -> None:
    crawl = begun(MemoryStore(), 0.0)
    take_turn(crawl, 0.0, RobotsRules(RULES, etag='"1"'))
    visit, _ = take_turn(crawl, 2 * DAY, Failure("timed out", again_after=60.0))
    assert visit.etag == '"1"'
    visit, _ = take_turn(crawl, 3 * DAY, RobotsRules(RULES))
    assert visit.purpose == "robots" and visit.etag == ""


@pytest.mark.parametrize("known", [RobotsFile(ROBOTS, 0.0), RobotsFile(ROBOTS, 0.0, etag='"2"')])
def test_a_304_for_another_file_than_the_known_one_opens_nothing(known: RobotsFile) -> None:
    frontier = Frontier(MemoryStore(), HostRules(ask_first=True))
    frontier.keep_robots(known)
    frontier.begin_request(ROBOTS, 0.0)
    event = Access(frontier, Limits(), Guidance()).take_in(asked(etag='"1"'), RobotsRules(unchanged=True), 0.0, 0)
    assert isinstance(event, Failed) and event.again_at == 60.0
