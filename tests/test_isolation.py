"""Whatever goes wrong with one URL costs that URL, not the crawl."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.crawl import Crawl
from spoor.crawling.failures import APART_AFTER
from spoor.errors import BrokenContract, BrokenStorage
from spoor.events import Event, Failed, Redirected, Troubled, Visited
from spoor.frontier.entry import Entry, HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.relearning import relearn_all
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.pricing import Limits
from spoor.records import Outcome, Page, Trouble, Verdict, Visit
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling
from spoor.store.incidents import MOST_FILES, SavedTroubles, line_of
from spoor.store.journal import Journal
from spoor.strategy import Strategy
from tests.effort import times
from tests.faulty import PLACES, Fault, faulty
from tests.random_graphs import address, random_worlds
from tests.thread_server import served_here
from tests.tiny import graph, names, url

UNSAVED = SavedTroubles(None)


def crawl_of(
    world: WrittenWorld, fault: Fault, rules: HostRules | None = None, limits: Limits | None = None
) -> tuple[Crawl, list[Event]]:
    crawl = Crawl(faulty(world, fault), Frontier(MemoryStore(), rules), limits, troubles=UNSAVED)
    crawl.begin([url("S")])
    return crawl, list(simulate(crawl, world, connections=2))


WEB = graph("S: A B C h.test/1 h.test/2 G; A: D B C; B: E; C: D", relevant="S B")
"""One page for each that may fail, a link that leads nowhere, and a delayed host while others could be asked."""
WEB = replace(WEB, outcomes={page: outcome for page, outcome in WEB.outcomes.items() if page != url("G")})


@pytest.mark.parametrize("place", PLACES)
def test_all_other_pages_come_wherever_one_page_fails(place: str) -> None:
    fault = Fault([place], [url("A"), url("G")])
    crawl, events = crawl_of(WEB, fault, HostRules(delay=1.0))
    came = {event.visit.url for event in events if isinstance(event, Visited)}
    assert came >= {*map(url, "SBCDE"), url("h.test/1"), url("h.test/2")}
    assert fault.raised
    assert crawl.frontier.count(State.IN_TRANSIT) == len(crawl.frontier) == 0


@pytest.mark.parametrize("place", PLACES)
def test_without_anybody_to_tell_the_exception_is_raised(place: str) -> None:
    crawl = Crawl(faulty(WEB, Fault([place], [url("A"), url("G")])), Frontier(MemoryStore(), HostRules(delay=1.0)))
    crawl.begin([url("S")])
    with pytest.raises((KeyError, BrokenContract), match=r"[ag]\.test|upkeep|gain"):
        list(simulate(crawl, WEB))


@pytest.mark.parametrize("place", ["judge", "trail"])
def test_a_page_that_cannot_be_absorbed_is_tried_once_more_and_then_parked_for_good(place: str) -> None:
    world = graph("S: A B; B: C; C: A D; D: A", relevant="S B")
    crawl, events = crawl_of(world, Fault([place], [url("A")]))
    failures = [event for event in events if isinstance(event, Failed)]
    assert [event.visit.apart for event in failures] == [False, True]
    assert failures[0].again_at == failures[0].at + APART_AFTER and failures[1].again_at is None
    (entry,) = crawl.frontier.find([url("A")])
    assert entry is not None and entry.state is State.PARKED and entry.is_given_up
    assert entry.because.startswith("KeyError while it was") and f"{place} of http://a.test/" in entry.because


def test_a_page_that_was_given_up_stays_parked_when_it_is_found_again() -> None:
    world = graph("S: A W; A: ; W: X; X: A", relevant="S X")
    world = replace(world, seconds={"w.test": 3 * APART_AFTER})
    crawl, events = crawl_of(world, Fault(["judge"], [url("A")]))
    assert names(events).split().count("a") == 2
    (entry,) = crawl.frontier.find([url("A")])
    assert entry is not None and entry.state is State.PARKED and entry.evidence == {"pages": 2.0}


def test_what_came_at_the_second_try_is_a_page_like_any_other() -> None:
    class Once(WrittenWorld):
        def fetch(self, visit: Visit) -> tuple[Outcome, float]:
            if visit.url == url("A") and not visit.apart:
                return Trouble("ValueError while it was read"), 0.0
            return super().fetch(visit)

    crawl, events = crawl_of(Once(graph("S: A; A: B").outcomes), Fault([], []))
    assert names(events) == "s a a b"
    (entry,) = crawl.frontier.find([url("A")])
    assert entry is not None and (entry.state, entry.because) == (State.SETTLED, "")


@pytest.mark.parametrize("place", ["hints", "evidence", "key", "offer"])
def test_a_link_that_cannot_be_scored_is_refused_and_the_others_of_its_page_are_not(place: str) -> None:
    crawl, events = crawl_of(graph("S: A B C"), Fault([place], [url("B")]))
    assert names(events) == "s a c"
    first = events[0]
    assert isinstance(first, Visited) and [refusal.url for refusal in first.refused] == [url("B")]
    assert [event.url for event in events if isinstance(event, Troubled)] == [url("S")]
    assert crawl.frontier.find([url("B")]) == [None]


def test_a_page_from_which_a_part_cannot_learn_is_kept_and_followed() -> None:
    fault = Fault(["learn"], [url("A")])
    _, events = crawl_of(graph("S: A; A: B"), fault)
    assert names(events) == "s a b"
    assert [(event.url, event.reason) for event in events if isinstance(event, Troubled)] == [
        (url("A"), "KeyError while it was learned from: 'learn of http://a.test/'")
    ]


@dataclass
class CountingJudge:
    """Fails when a certain page is among those that it is given."""

    bad: str
    asked: list[int] = field(default_factory=list)
    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        self.asked.append(len(pages))
        if any(page.url == self.bad for page in pages):
            raise RuntimeError("no")
        return [Verdict(1.0, True, "") for _ in pages]


def test_a_judge_that_fails_on_a_batch_is_asked_page_by_page() -> None:
    judge = CountingJudge(url("B"))
    crawl = Crawl(Strategy(judge, faulty(WEB, Fault([], [])).scorer), Frontier(MemoryStore()), troubles=UNSAVED)
    crawl.begin(map(url, "ABC"))
    visits = [visit for _ in range(3) if (visit := crawl.next_visit(0.0)) is not None]
    events = crawl.absorb([(visit, Page(visit.url)) for visit in visits], 1.0)
    assert [type(event) for event in events] == [Visited, Failed, Visited]
    assert judge.asked == [3, 1, 1, 1]


def test_a_visit_apart_is_absorbed_alone() -> None:
    committed: list[int] = []

    class Told:
        def note(self, events: Sequence[Event]) -> None:
            committed.append(len(events))

    crawl = Crawl(faulty(WEB, Fault([], [])), Frontier(MemoryStore()), journal=Told(), troubles=UNSAVED)
    crawl.begin(map(url, "ABC"))
    first = crawl.next_visit(0.0)
    assert first is not None
    crawl.absorb([(first, Trouble("KeyError while it was read"))], 0.0)
    later = [visit for _ in range(3) if (visit := crawl.next_visit(APART_AFTER)) is not None]
    assert [visit.apart for visit in later] == [True, False, False]
    committed.clear()
    crawl.absorb([(visit, Page(visit.url)) for visit in later], APART_AFTER)
    assert committed == [2, 1]


def test_a_relevance_that_is_not_a_number_costs_the_page() -> None:
    @dataclass(frozen=True)
    class Undecided:
        reads_content: ClassVar[bool] = False

        def judge(self, pages: Sequence[Page]) -> list[Verdict]:
            return [Verdict(float("nan") if page.url == url("A") else 1.0, True, "") for page in pages]

    crawl = Crawl(Strategy(Undecided(), faulty(WEB, Fault([], [])).scorer), Frontier(MemoryStore()), troubles=UNSAVED)
    crawl.begin([url("S")])
    assert names(list(simulate(crawl, graph("S: A B")))) == "s a b a"


@pytest.mark.parametrize("error", [BrokenStorage("cannot write"), sqlite3.OperationalError("disk I/O error")])
def test_broken_storage_ends_a_crawl(error: Exception) -> None:
    class Full(MemoryStore):
        def find(self, urls: Sequence[str]) -> list[Entry | None]:
            if url("A") in urls:
                raise error
            return super().find(urls)

    crawl = Crawl(faulty(WEB, Fault([], [])), Frontier(Full()), troubles=UNSAVED)
    crawl.begin([url("S")])
    with pytest.raises(type(error)):
        list(simulate(crawl, WEB))


def faults(pages: int = 14) -> st.SearchStrategy[Fault]:
    return st.builds(
        Fault, st.sets(st.sampled_from(PLACES), max_size=4), st.sets(st.integers(0, pages - 1).map(address), max_size=4)
    )


@settings(max_examples=times(25))
@given(random_worlds(), faults(), st.integers(1, 4))
def test_whatever_fails_every_link_is_in_one_state_and_none_is_left_under_way(
    world: WrittenWorld, fault: Fault, connections: int
) -> None:
    store = MemoryStore()
    crawl = Crawl(faulty(world, fault), Frontier(store, HostRules(delay=1.0)), troubles=UNSAVED)
    crawl.begin([address(0)])
    for event in simulate(crawl, world, connections):
        assert not isinstance(event, Failed) or "KeyError" in event.reason
    by_state = {state: len(list(store.in_state(state))) for state in State}
    assert by_state == {state: crawl.frontier.count(state) for state in State}
    assert not by_state[State.WAITING] and not by_state[State.RETURNING] and not by_state[State.IN_TRANSIT]
    assert all(host.visiting == 0 for host in store._hosts.values())


def go_on(file: Path, world: WrittenWorld, fault: Fault, now: float = 0.0, most: int | None = None) -> list[Event]:
    with contextlib.closing(SqliteStore(file)) as store:
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        strategy = faulty(world, replace(fault, raised=[]))
        relearn_all(strategy, store.connection, troubles=UNSAVED)
        crawl = Crawl(strategy, Frontier(store, HostRules(delay=1.0)), journal=journal, troubles=UNSAVED)
        crawl.begin([address(0)])
        return list(islice(simulate(crawl, world, now=now), most))


def looked_at(events: list[Event]) -> list[str]:
    return [event.visit.url for event in events if isinstance(event, Visited | Redirected | Failed)]


def written_down(file: Path) -> list[str]:
    """The URLs that were looked at, in order. Events that were told together are, though only the first was heard."""
    looked = "SELECT id, url FROM events WHERE kind IN ('failed', 'redirected')"
    with contextlib.closing(sqlite3.connect(file)) as db:
        return [url for _, url in db.execute(f"SELECT id, url FROM pages UNION ALL {looked} ORDER BY id")]


@settings(max_examples=times(12), deadline=None)
@given(random_worlds(), faults(), st.integers(1, 12))
def test_a_crawl_with_faults_visits_the_same_wherever_it_is_stopped(
    world: WrittenWorld, fault: Fault, most: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole, stopped = Path(folder) / "whole.db", Path(folder) / "stopped.db"
        go_on(whole, world, fault)
        before = go_on(stopped, world, fault, most=most)
        go_on(stopped, world, fault, before[-1].at)
        assert written_down(stopped) == written_down(whole)


def test_a_visit_from_which_a_part_cannot_learn_again_does_not_keep_a_crawl_from_being_resumed(tmp_path: Path) -> None:
    fault = Fault(["learn"], [address(0)])
    world = WrittenWorld.of_links({address(0): [address(1)], address(1): [address(2)]})
    assert looked_at(go_on(tmp_path / "crawl.db", world, fault, most=1)) == [address(0)]
    assert looked_at(go_on(tmp_path / "crawl.db", world, fault)) == [address(1), address(2)]


def test_a_sample_says_what_happened_where_and_with_what(tmp_path: Path) -> None:
    troubles = SavedTroubles(tmp_path / "trouble")
    try:
        raise ValueError("wrong\nand more\x1b[31m")
    except ValueError as error:
        told = troubles.keep("http://a.test/\ud800", "read", error, b"HTTP/1.1 200 OK\r\n\r\n" + bytes(100_000))
    assert told == "ValueError while it was read: wrong"
    (sample,) = (tmp_path / "trouble").iterdir()
    content = sample.read_bytes()
    assert content.startswith(b"http://a.test/?\nValueError while it was read: wrong\n\nTraceback")
    assert b"test_isolation.py" in content and b"HTTP/1.1 200 OK" in content and len(content) < 70_000


def test_samples_are_bounded_in_number_and_one_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    troubles = SavedTroubles(tmp_path / "trouble")
    for number in range(MOST_FILES + 20):
        troubles.keep(f"http://a.test/{number}", "read", ValueError("x"))
    assert len(list((tmp_path / "trouble").iterdir())) == MOST_FILES
    (tmp_path / "file").write_text("")
    assert SavedTroubles(tmp_path / "file" / "trouble").keep("http://a.test/", "read", KeyError()) == line_of(
        "read", KeyError()
    )


@dataclass(frozen=True)
class Choking:
    """A judge that fails on pages that say so, and stores what no database takes for others."""

    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        if any("choke" in page.text for page in pages):
            raise RecursionError("this page is too much")
        return [Verdict(1.0, True, "half a pair: \ud800") for _ in pages]


async def _served(request: web.BaseRequest) -> web.Response:
    pages = {
        "/": "<title>start</title><a href=/a>a</a> <a href=/bad>b</a> <a href=/c>c</a>",
        "/a": "<title>a &#55296;</title>",
        "/bad": "<p>choke",
        "/c": "<p>c",
    }
    text = pages.get(request.path)
    return web.Response(text=text, content_type="text/html") if text else web.Response(status=404)


@contextlib.asynccontextmanager
async def _crawling(folder: Path, seed: str) -> AsyncIterator[Session]:
    crawling = Crawling(seeds=(seed,), strategy="breadth-first", allow_private=True)
    asked = Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.0))
    with open_for_crawling(folder) as opened:
        async with open_session(opened, asked) as session:
            yield session


async def _crawl_choking(folder: Path) -> list[Event]:
    events: list[Event] = []
    async with served_here(_served) as seed, _crawling(folder, f"{seed}/") as session:
        _give_judge(session, Choking())
        async for batch in session.run():
            events += batch
            if any(isinstance(event, Failed) for event in batch):
                session.stop("that is enough")
    return events


def _give_judge(session: Session, judge: Choking) -> None:
    own = session.driver.downloader.own  # type: ignore[attr-defined]
    own.reader = replace(own.reader, judge=judge)


def test_a_live_crawl_goes_on_when_a_page_cannot_be_judged_and_keeps_a_sample_of_it(tmp_path: Path) -> None:
    events = asyncio.run(_crawl_choking(tmp_path / "crawl"))
    paths = [event.visit.url.rpartition("/")[2] for event in events if isinstance(event, Visited)]
    assert {"", "a"} <= set(paths) <= {"", "a", "c"}
    (failed,) = [event for event in events if isinstance(event, Failed) and event.visit.purpose == "page"]
    assert failed.reason == "RecursionError while it was read: this page is too much" and failed.again_at is not None
    (sample,) = (tmp_path / "crawl" / "trouble").iterdir()
    content = sample.read_bytes()
    assert failed.visit.url.encode() in content and b"in judge" in content and b"<p>choke" in content
