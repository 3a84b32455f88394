"""Our own side out of order: the crawl pauses, spends nothing, loses nothing, and goes on by itself."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.cli.crawling import LiveLine
from spoor.crawl import Crawl
from spoor.crawling.outage import ENOUGH, FIRST_PROBE, LONGEST_PROBE, MANY, REMEMBERED, Outage
from spoor.events import Event, Failed, Paused, Resumed, Visited
from spoor.fetch.responses import failure_of
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.from_settings import limits_of
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Failure, Outcome, Page, RobotsRules, Visit
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling
from spoor.strategy import Strategy
from spoor.urls import host_of
from tests.tiny import truth

NO_NAME_SERVER = Failure("host name cannot be looked up", 60.0, unanswered=True)
NO_SUCH_HOST = Failure("no such host", unanswered=True)
TIMED_OUT = Failure("timed out", 60.0, unanswered=True)
PROXY_GONE = Failure("proxy cannot be reached", 60.0, here=True)
POLITE = HostRules(delay=1.0, ask_first=True)


def host(number: int) -> str:
    return f"http://h{number}.test/"


@dataclass(frozen=True)
class Failing:
    """A world behind a network that is down at times. Asking takes a second; hosts in `dead` never answer."""

    world: WrittenWorld
    outages: Sequence[tuple[float, float]] = ()
    failure: Failure = NO_NAME_SERVER
    dead: frozenset[str] = frozenset()

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        if any(began <= visit.at < ended for began, ended in self.outages):
            return self.failure, 1.0
        if visit.host in self.dead:
            return TIMED_OUT, 5.0
        return self.world.fetch(visit)[0], 1.0

    def truth(self, url: str) -> bool:
        return self.world.truth(url)


def chained(hosts: int, pages: int) -> WrittenWorld:
    """Every host has a start and some pages; the start of each links to those of the next three."""
    links = {}
    for number in range(hosts):
        own = [f"{host(number)}{page}" for page in range(pages)]
        links[host(number)] = [host(n) for n in range(number + 1, min(number + 4, hosts))] + own
        links |= {page: [] for page in own}
    return WrittenWorld.of_links(links)


def crawled(world: Failing, limits: Limits | None = None, connections: int = 8) -> tuple[Crawl, list[Event]]:
    crawl = Crawl(Strategy(truth(world.world), Arrival()), Frontier(MemoryStore(), POLITE), limits)
    crawl.begin([host(0)])
    return crawl, list(simulate(crawl, world, connections))


def came(events: Sequence[Event]) -> list[str]:
    return [event.visit.url for event in events if isinstance(event, Visited)]


WEB = chained(60, 20)
THREE = ((60.0, 660.0), (700.0, 1300.0), (1330.0, 1930.0))
"""Ten minutes each."""


@pytest.mark.parametrize("failure", [NO_NAME_SERVER, NO_SUCH_HOST, TIMED_OUT, PROXY_GONE], ids=lambda f: f.reason)
def test_three_outages_of_ten_minutes_lose_nothing_and_spend_nothing(failure: Failure) -> None:
    crawl, events = crawled(Failing(WEB, THREE, failure), Limits(visits=len(WEB.outcomes)))
    assert sorted(came(events)) == sorted(WEB.outcomes)
    assert crawl.frontier.count(State.SETTLED) == len(WEB.outcomes)
    changes = [type(event) for event in events if isinstance(event, Paused | Resumed)]
    assert changes == [Paused, Resumed] * 3
    assert max(event.at for event in events) < 2400.0


def test_during_a_pause_one_request_is_made_at_a_time_and_more_and_more_seldom() -> None:
    _, events = crawled(Failing(WEB, [(60.0, 3600.0)]))
    (paused,) = [event for event in events if isinstance(event, Paused)]
    (resumed,) = [event for event in events if isinstance(event, Resumed)]
    probes = [e.visit.at for e in events if isinstance(e, Failed) and paused.at < e.visit.at < resumed.at]
    waits = [later - sooner for sooner, later in pairwise(probes)][ENOUGH - 1 :]
    assert len(probes) < 20 and waits == sorted(waits)
    assert waits[0] >= FIRST_PROBE and waits[-1] == pytest.approx(LONGEST_PROBE, abs=2.0)


def test_what_fails_during_an_outage_teaches_nobody_and_counts_for_nothing() -> None:
    _, events = crawled(Failing(WEB, [(60.0, 660.0)], PROXY_GONE))
    failures = [event for event in events if isinstance(event, Failed)]
    assert failures and all(event.excused for event in failures)
    assert {event.visit.tries for event in events if isinstance(event, Visited)} == {0}


def test_a_crawl_that_begins_without_a_network_waits_for_it() -> None:
    world = Failing(WEB, [(0.0, 600.0)])
    crawl = Crawl(Strategy(truth(WEB), Arrival()), Frontier(MemoryStore(), POLITE))
    crawl.begin(map(host, range(12)))
    assert sorted(came(list(simulate(crawl, world, 8)))) == sorted(WEB.outcomes)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.3, 0.6, 0.9]), st.integers(1, 64))
def test_dead_hosts_are_no_outage_while_others_answer(seed: int, share: float, connections: int) -> None:
    dead = frozenset(f"h{n}.test" for n in range(1, 60) if (n * 7919 + seed) % 100 < 100 * share)
    crawl, events = crawled(Failing(WEB, dead=dead), connections=connections)
    assert not any(isinstance(event, Failed) and event.excused for event in events)
    assert crawl.frontier.spent == crawl.frontier.visits
    reached = {event.visit.host for event in events if isinstance(event, Visited)}
    assert not reached & dead and "h0.test" in reached


def visit(number: int, purpose: str = "page") -> Visit:
    return Visit(host(number), f"h{number}.test", number, 0.0, "robots" if purpose == "robots" else "page")


def page(number: int) -> Page:
    return Page(host(number))


def silent(outage: Outage, hosts: Sequence[int], now: float) -> list[object]:
    return [outage.hear(visit(number), TIMED_OUT, now) for number in hosts]


def test_many_different_hosts_in_a_row_make_an_alarm() -> None:
    outage = Outage()
    assert silent(outage, range(MANY - 1), 5.0) == [None] * (MANY - 1)
    assert silent(outage, range(MANY - 1), 6.0) == [None] * (MANY - 1)
    assert outage.hear(visit(99), TIMED_OUT, 7.0) == Paused(7.0, 5.0, "timed out")
    assert outage.paused_since == 5.0 and not outage.is_sure


def test_one_answer_in_between_and_the_count_begins_anew() -> None:
    outage = Outage()
    silent(outage, range(MANY - 1), 0.0)
    outage.hear(visit(50), page(50), 1.0)
    assert silent(outage, range(MANY - 1), 2.0) == [None] * (MANY - 1)


@pytest.mark.parametrize("answer", [page(5), Failure("HTTP 503", 60.0), Failure("TLS failed", 60.0), RobotsRules()])
def test_any_answer_ends_a_pause_even_a_refusal(answer: Outcome) -> None:
    outage = Outage()
    silent(outage, range(MANY), 0.0)
    assert outage.hear(visit(5), answer, 9.0) == Resumed(9.0, 9.0)
    assert outage.paused_since is None


def test_after_a_false_alarm_it_takes_twice_as_many() -> None:
    outage = Outage()
    silent(outage, range(MANY), 0.0)
    outage.hear(visit(5), page(5), 1.0)
    assert silent(outage, range(2 * MANY - 1), 2.0) == [None] * (2 * MANY - 1)
    assert isinstance(outage.hear(visit(99), TIMED_OUT, 3.0), Paused)


def test_what_comes_late_from_before_a_pause_or_from_within_it_changes_nothing() -> None:
    outage, gone = Outage(), Failure("proxy cannot be reached", 60.0, here=True)
    assert isinstance(outage.hear(replace(visit(1), at=5.0), gone, 10.0), Paused)
    assert outage.hear(replace(visit(2), at=9.0), page(2), 11.0) is None
    assert isinstance(outage.hear(replace(visit(3), at=12.0), page(3), 13.0), Resumed)
    late = replace(visit(4), at=9.0)
    assert outage.hear(late, gone, 14.0) is None and outage.excuses(late, gone)
    assert isinstance(outage.hear(replace(visit(5), at=14.0), gone, 15.0), Paused)


def test_only_when_the_host_that_answered_before_is_silent_too_our_own_side_is_to_blame() -> None:
    outage = Outage()
    outage.hear(visit(70), page(70), 0.0)
    silent(outage, range(MANY), 1.0)
    assert (
        outage.candidates() == ["http://h70.test/robots.txt"]
        and not outage.excuses(visit(1), TIMED_OUT)
        and not list(outage.doubtful())
    )
    outage.probe("http://h70.test/robots.txt", 1.0)
    asked = replace(visit(70, "robots"), url="http://h70.test/robots.txt")
    outage.hear(asked, TIMED_OUT, 2.0)
    assert outage.is_sure and outage.excuses(visit(1), TIMED_OUT)
    assert not outage.excuses(visit(1), Failure("HTTP 500", 60.0))
    assert [doubted.host for doubted in outage.doubtful()] == [f"h{n}.test" for n in range(MANY)] + ["h70.test"]
    assert list(outage.doubtful()) == []


def ask(outage: Outage, now: float) -> str:
    """The best candidate, in vain."""
    url = outage.candidates()[0]
    outage.probe(url, now)
    outage.hear(Visit(url, host_of(url), 0, now, "robots"), TIMED_OUT, now + 1.0)
    return host_of(url)


def test_a_host_that_answered_last_and_has_gone_since_is_not_the_only_one_asked() -> None:
    outage = Outage()
    for number in (70, 71, 72, 73):
        outage.hear(visit(number), page(number), 0.0)
    silent(outage, range(MANY), 1.0)
    for name, then in (("h73.test", 2.0), ("h72.test", 4.0)):
        assert ask(outage, then) == name
        assert not outage.is_sure and outage.probe_at == then + 1.0
    assert ask(outage, 6.0) == "h71.test"
    assert outage.is_sure and outage.probe_at > 7.0
    assert [ask(outage, now) for now in (20.0, 60.0, 200.0)] == ["h70.test", "h73.test", "h72.test"]


def test_a_site_of_many_hosts_that_answer_once_does_not_push_out_the_others() -> None:
    outage = Outage()
    outage.hear(visit(1), page(1), 0.0)
    for number in range(100):
        url = f"http://h{number}.trap.test/"
        outage.hear(Visit(url, host_of(url), number, 0.0), Page(url), 0.0)
    for number in range(100):
        outage.hear(Visit(f"http://t{number}.test/", f"t{number}.test", number, 0.0), page(number), 0.0)
    silent(outage, range(200, 200 + MANY), 1.0)
    asked = {ask(outage, 2.0 + 400.0 * number) for number in range(2 * REMEMBERED)}
    assert {"h1.test", "h99.trap.test", "t99.test"} <= asked


def test_a_crawl_goes_on_at_once_where_the_host_that_answered_last_is_gone() -> None:
    class Gone(Failing):
        """h5 answers once."""

        def fetch(self, visit: Visit) -> tuple[Outcome, float]:
            return (TIMED_OUT, 1.0) if visit.host == "h5.test" and visit.at > 12.0 else super().fetch(visit)

    dead = frozenset(f"h{n}.test" for n in range(6, 60))
    links = {host(n): [host(m) for m in range(6, 60)] for n in range(6)} | {host(n): [] for n in range(6, 60)}
    crawl = Crawl(Strategy(truth(WEB), Arrival()), Frontier(MemoryStore(), POLITE))
    crawl.begin(map(host, range(6)))
    events = list(simulate(crawl, Gone(WrittenWorld.of_links(links), dead=dead), 8))
    pauses = [event.seconds for event in events if isinstance(event, Resumed)]
    assert pauses and max(pauses) < 60.0


KEY = ConnectionKey("a.test", 80, False, True, None, None, None)


@pytest.mark.parametrize(
    ("error", "unanswered", "here"),
    [
        (TimeoutError(), True, False),
        (aiohttp.ServerDisconnectedError(), False, False),
        (aiohttp.ClientConnectorError(KEY, OSError(errno.ENETUNREACH, "unreachable")), True, False),
        (aiohttp.ClientConnectorError(KEY, OSError(errno.EMFILE, "too many open files")), True, True),
        (aiohttp.ClientProxyConnectionError(KEY, OSError(errno.ECONNREFUSED, "refused")), False, True),
    ],
)
def test_which_failures_may_be_our_own(error: Exception, unanswered: bool, here: bool) -> None:
    failure = failure_of(error)
    assert (failure.unanswered, failure.here) == (unanswered, here)


def test_waits_grow_from_a_minute_to_hours() -> None:
    limits = limits_of(Config(Target(pattern="x"), Crawling(seeds=(host(0),))), 0.0)
    waits = [limits.wait_before(tries, 60.0) for tries in range(limits.tries - 1)]
    assert limits.tries == 6 and waits[0] == 60.0 and waits[-1] == pytest.approx(20 * 3600.0)
    assert 23 * 3600 < sum(waits) < 26 * 3600
    assert limits.wait_before(0, 86_400.0) == 86_400.0


class Proxy:
    """Answers for every host, while it is open; one request for each connection."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self.port = 0

    async def __aenter__(self) -> Proxy:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            await asyncio.sleep(0.2)  # asyncio leaves a connection hanging that it accepts just when a server is closed
            server.close()
            await server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            outcome = WEB.outcomes.get(asked)
            links = outcome.links if isinstance(outcome, Page) else ()
            body = "<p>" + "".join(f'<a href="{link.url}">x</a>' for link in links)
            status = "200 OK" if isinstance(outcome, Page) else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close"
            writer.write(f"{head}\r\n\r\n{body}".encode())
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def crawling(folder: Path, port: int) -> AsyncIterator[Session]:
    crawl = Crawling(seeds=(host(0),), strategy="breadth-first", proxy=f"http://127.0.0.1:{port}", max_pages=120)
    asked = Config(Target(pattern="x"), crawl, politeness=Politeness(host_delay=0.0))
    with open_for_crawling(folder) as opened:
        async with open_session(opened, asked) as session:
            yield session


async def _crawl_while_the_proxy_goes_away(folder: Path) -> tuple[list[Event], list[str]]:
    events: list[Event] = []
    lines: list[str] = []
    async with Proxy() as proxy, crawling(folder, proxy.port) as session:
        line = LiveLine(session)
        async for batch in session.run():
            events += batch
            lines.append(line.line())
            if len(came(events)) >= 40 and not any(isinstance(event, Paused) for event in events):
                await proxy.close()
            if any(isinstance(event, Paused) for event in batch):
                await proxy.open()
    return events, lines


def test_a_live_crawl_waits_for_a_proxy_that_is_gone_and_loses_nothing(tmp_path: Path) -> None:
    events, lines = asyncio.run(_crawl_while_the_proxy_goes_away(tmp_path / "crawl"))
    assert len(came(events)) == len(set(came(events))) == 120
    assert any(isinstance(event, Resumed) for event in events)
    assert any("paused: nothing has answered since" in line for line in lines)
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        changes = db.execute("SELECT kind FROM events WHERE kind IN ('paused', 'resumed') ORDER BY id").fetchall()
        (detail, *_) = db.execute("SELECT detail FROM events WHERE kind = 'paused'").fetchone()
        failed = [json.loads(told) for (told,) in db.execute("SELECT detail FROM events WHERE kind = 'failed'")]
    assert changes[:2] == [("paused",), ("resumed",)] and json.loads(detail)["reason"] == "proxy cannot be reached"
    assert all(told.get("excused") for told in failed if told["reason"] == "proxy cannot be reached")
