"""Delays go by the seconds that pass; times that were written down by a wrong clock do no harm."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.crawl import Crawl
from spoor.events import Event, HostOpened, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.simulated import simulate
from spoor.live.watchdog import SteadyClock
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Failure, Page
from spoor.store.journal import Journal, set_back
from spoor.strategy import Strategy
from tests.tiny import graph, truth, url

HOUR, YEAR = 3600.0, 365 * 86_400.0
WEB = graph("a.test/0: a.test/1 a.test/2 a.test/3 b.test/0; b.test/0: b.test/1")
POLITE = HostRules(delay=1.0, ask_first=True)
BEGAN = 1_000_000_000.0


class Machine:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.passed, self.wrong = 50.0, 0.0

    def clock(self) -> SteadyClock:
        return SteadyClock(lambda: BEGAN + self.passed + self.wrong, lambda: self.passed)


@pytest.mark.parametrize("wrong", [-HOUR, YEAR])
def test_a_clock_that_is_set_changes_nothing_and_is_told_once(wrong: float) -> None:
    machine = Machine()
    clock = machine.clock()
    machine.passed, machine.wrong = 60.0, wrong
    assert clock() == BEGAN + 60.0
    assert clock.jump() == wrong and clock.jump() == 0.0
    machine.wrong = 0.0
    assert clock.jump() == -wrong


def test_a_clock_that_is_corrected_a_little_is_not_told() -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wrong = 1.0
    assert clock.jump() == 0.0


@contextlib.contextmanager
def resumed(file: Path, now: float) -> Iterator[Crawl]:
    with contextlib.closing(SqliteStore(file)) as store:
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        frontier = Frontier(store, POLITE, resumed_at=now)
        crawl = Crawl(Strategy(truth(WEB), Arrival()), frontier, Limits(longest_wait=HOUR), journal)
        crawl.resume(now, set_back=set_back(store.connection, now))
        crawl.begin([url("a.test/0")])
        yield crawl


def some_events(crawl: Crawl, now: float, most: int) -> list[Event]:
    events: list[Event] = []
    for event in simulate(crawl, WEB, now=now):
        events.append(event)
        if len(events) == most:
            break
    return events


@pytest.mark.parametrize("wrong", [0.0, HOUR, YEAR])
def test_a_crawl_goes_on_at_once_whatever_the_clock_said_before(wrong: float, tmp_path: Path) -> None:
    with resumed(tmp_path / "crawl.db", BEGAN + wrong) as crawl:
        before = some_events(crawl, BEGAN + wrong, 3)
    with resumed(tmp_path / "crawl.db", BEGAN + 100.0) as crawl:
        after = some_events(crawl, BEGAN + 100.0, 50)
    visited = [event for event in [*before, *after] if isinstance(event, Visited)]
    assert len(visited) == 6
    assert after[-1].at < BEGAN + 110.0


@pytest.mark.parametrize("wrong", [HOUR, YEAR])
def test_a_host_rests_after_a_clock_was_set_back_too(wrong: float, tmp_path: Path) -> None:
    with resumed(tmp_path / "crawl.db", BEGAN + wrong) as crawl:
        some_events(crawl, BEGAN + wrong, 2)
    with resumed(tmp_path / "crawl.db", BEGAN) as crawl:
        after = some_events(crawl, BEGAN, 50)
    assert min(event.visit.at for event in after if isinstance(event, Visited | HostOpened)) == BEGAN + 1.0


def test_rules_that_a_wrong_clock_dated_are_asked_for_again_within_a_day(tmp_path: Path) -> None:
    with resumed(tmp_path / "crawl.db", BEGAN + YEAR) as crawl:
        some_events(crawl, BEGAN + YEAR, 2)
    with resumed(tmp_path / "crawl.db", BEGAN) as crawl:
        file = crawl.frontier.robots_file("http://a.test/robots.txt")
    assert file is not None and file.until <= BEGAN + 86_400.0


@given(st.floats(1, 3 * YEAR), st.floats(0, YEAR))
def test_no_link_waits_longer_than_any_delay_allows(again_after: float, ahead: float) -> None:
    store = MemoryStore()
    crawl = Crawl(Strategy(truth(WEB), Arrival()), Frontier(store, HostRules()))
    crawl.begin([url("A"), url("B")])
    for outcome in (Failure("timed out", again_after), Page(url("B"))):
        visit = crawl.next_visit(BEGAN + ahead)
        assert visit is not None
        crawl.absorb([(visit, outcome)], BEGAN + ahead)
    later = Frontier(store, HostRules())
    later.reopen(BEGAN, ahead=ahead, longest=86_400.0)
    (entry,) = later.find([url("A")])
    assert entry is not None and entry.again_at <= BEGAN + min(again_after, 86_400.0) + 1e-6
    wake_at = later.wake_at()
    assert wake_at is not None and wake_at <= BEGAN + 86_400.0
