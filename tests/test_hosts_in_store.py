"""Hosts stay in the store until their links are soonest; memory and order do not show how many there are."""

from __future__ import annotations

import contextlib
import math
import random
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.frontier.entry import Entry, Host, HostRules, Order, State, key_at, order_at, packed, unpacked
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import LinkStore
from spoor.records import Key
from spoor.robots import RobotsFile

PARTS = st.floats(allow_nan=False)
KEYS = st.lists(PARTS, min_size=1, max_size=3).map(tuple)
ORDERS = st.builds(order_at, KEYS, st.integers(1, 2**62))
HOSTS = 300


@given(ORDERS, ORDERS)
def test_packed_places_sort_as_places_do(one: Order, other: Order) -> None:
    assert (packed(one) < packed(other)) == (one < other)
    assert unpacked(packed(one)) == one


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3).map(tuple))
def test_a_position_tells_its_key(key: Key) -> None:
    assert key_at(order_at(key, 1)) == key


def test_of_two_keys_that_begin_alike_the_shorter_is_sooner() -> None:
    assert order_at((1.0,), 9) < order_at((1.0, 5.0), 7) < order_at((1.0, 5.0, 0.0), 1)


@contextlib.contextmanager
def opened(memory: LinkStore, folder: Path, at_hand: int | None) -> Iterator[LinkStore]:
    """The store in memory, or, with a number of hosts at hand, the one in a folder."""
    if at_hand is None:
        yield memory
    else:
        with contextlib.closing(SqliteStore(folder / "frontier.db", at_hand)) as store:
            yield store


def filled(store: LinkStore) -> Frontier:
    rng = random.Random(5)
    frontier = Frontier(store, HostRules(delay=2.0))
    for number in range(3 * HOSTS):
        host = f"h{number % HOSTS}.test"
        frontier.add(Entry(f"http://{host}/{number}", host, (float(rng.randrange(9)),), found_on="http://s.test/"))
        if number % 50 == 0:
            frontier.commit()
    frontier.commit()
    return frontier


def visits(frontier: Frontier, start: float, count: int) -> Iterator[tuple[float, str]]:
    """One after the other, a tenth of a second each; every seventh link returns later, every eleventh is put off. Asked
    again and again, because nobody waits for what was put off."""
    now = start
    for number in range(count):
        while (entry := frontier.peek(now)) is None:
            if not len(frontier):
                return
            wake = frontier.wake_at()
            assert wake is None or wake > now
            now += 0.25
        if number % 11 == 10:
            frontier.postpone(entry, "no robots.txt", now + 40.0, now)
        else:
            frontier.begin(entry, now)
            now += 0.1
            frontier.settle(entry.url, now, again_at=now + 30.0 if number % 7 == 6 else None)
        frontier.commit()
        yield now, entry.url


def test_the_order_of_visits_is_the_same_however_few_hosts_are_at_hand(tmp_path: Path) -> None:
    expected = list(visits(filled(MemoryStore()), 0.0, 2_000))
    assert len(expected) > 3 * HOSTS
    for at_hand in (1, 20, 10_000):
        with contextlib.closing(SqliteStore(tmp_path / f"{at_hand}.db", at_hand)) as store:
            assert list(visits(filled(store), 0.0, 2_000)) == expected


def test_hosts_that_are_not_due_soon_are_not_in_memory(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db", at_hand=20)) as store:
        frontier = filled(store)
        for _ in visits(frontier, 0.0, 200):
            assert len(frontier._hosts) <= 2 * 20 + 60


def test_what_is_open_resumes_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    memory = MemoryStore()
    before = list(visits(filled(memory), 0.0, 400))
    with contextlib.closing(SqliteStore(path, 20)) as store:
        assert list(visits(filled(store), 0.0, 400)) == before
    rules, now = HostRules(delay=2.0), before[-1][0]
    expected = list(visits(Frontier(memory, rules, resumed_at=now), now, 2_000))
    with contextlib.closing(SqliteStore(path, 20)) as store:
        assert list(visits(Frontier(store, rules, resumed_at=now), now, 2_000)) == expected


@pytest.mark.parametrize("at_hand", [None, 1, 20])
def test_a_resumed_crawl_waits_for_the_delay_of_every_host(tmp_path: Path, at_hand: int | None) -> None:
    memory: LinkStore = MemoryStore()
    with opened(memory, tmp_path, at_hand) as store:
        frontier = Frontier(store, HostRules(delay=1.0))
        for number in range(60):
            host = f"h{number}.test"
            frontier.add(Entry(f"http://{host}/", host, (float(number),)))
            frontier.keep_robots(RobotsFile(f"http://{host}/robots.txt", math.inf, [1.0, 5.0, 40.0][number % 3]))
            frontier.keeps_delay(host, 0.0)
        frontier.commit()
    with opened(memory, tmp_path, at_hand) as store:
        frontier = Frontier(store, HostRules(delay=1.0), resumed_at=100.0)
        began = {url: now for now, url in visits(frontier, 100.0, 60)}
    delays = [1.0, 5.0, 40.0]
    assert all(began[f"http://h{n}.test/"] >= 100.0 + delays[n % 3] for n in range(60) if f"http://h{n}.test/" in began)
    assert min(began.values()) < 102.0


@pytest.mark.parametrize("at_hand", [None, 1, 20])
@pytest.mark.parametrize(("resumed_at", "free_at"), [(100.0, 103.0), (None, 13.0)])
def test_a_resumed_crawl_waits_for_the_address_that_hosts_share(
    tmp_path: Path, at_hand: int | None, resumed_at: float | None, free_at: float
) -> None:
    """From the moment it is resumed; without one, from the last visit, which was at 10."""
    memory: LinkStore = MemoryStore()
    rules = HostRules(delay=1.0, address_delay=3.0)
    with opened(memory, tmp_path, at_hand) as store:
        frontier = Frontier(store, rules)
        for host in ("a.test", "b.test"):
            frontier.add(Entry(f"http://{host}/", host, (1.0,)))
            assert frontier.begin_request(f"http://{host}/robots.txt", 10.0)
            frontier.answer(RobotsFile(f"http://{host}/robots.txt", 99.0), 10.0, address="192.0.2.1")
        frontier.commit()
    with opened(memory, tmp_path, at_hand) as store:
        frontier = Frontier(store, rules, resumed_at=resumed_at)
        assert frontier.peek(free_at - 0.5) is None
        first = frontier.peek(free_at)
        assert first is not None
        frontier.begin(first, free_at)
        assert frontier.peek(free_at + 2.5) is None


def test_few_hosts_are_read_before_they_have_rested(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db", 20)) as store:
        filled(store)
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db", 20)) as store:
        frontier = Frontier(store, HostRules(delay=2.0), resumed_at=50.0)
        assert frontier.peek(51.0) is None and len(frontier._hosts) == 0
        assert frontier.wake_at() == 52.0
        assert frontier.peek(52.0) is not None


def test_a_robots_txt_is_kept_compressed_and_read_back(tmp_path: Path) -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /päth/{number}\n" for number in range(200))
    url = "http://a.test/robots.txt"
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db")) as store:
        frontier = Frontier(store)
        frontier.keep_robots(RobotsFile(url, 9.0), text)
        assert store.robots_text(url) == text
        frontier.commit()
        assert store.robots_text(url) == text
    with contextlib.closing(sqlite3.connect(tmp_path / "frontier.db")) as db:
        ((kept,),) = db.execute("SELECT length(text) FROM robots")
        assert kept < len(text) / 4
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db")) as store:
        assert store.robots_file(url) == RobotsFile(url, 9.0)
        assert store.robots_file("http://b.test/robots.txt") is None


def plan(db: sqlite3.Connection, query: str) -> str:
    return " ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}"))


def test_no_question_of_a_frontier_goes_through_all_links_or_hosts(tmp_path: Path) -> None:
    path, asked = tmp_path / "frontier.db", list[str]()
    with contextlib.closing(SqliteStore(path, 20)) as store:
        for _ in visits(filled(store), 0.0, 100):
            pass
    with contextlib.closing(SqliteStore(path, 20)) as store:
        store.connection.set_trace_callback(asked.append)
        frontier = Frontier(store, HostRules(delay=2.0), resumed_at=60.0)
        frontier.reopen(60.0, "http://h1.test/1", ahead=0.0, longest=86_400.0)
        for _ in visits(frontier, 60.0, 100):
            pass
        frontier.foremost(99.0)
        store.connection.set_trace_callback(None)
        db = store.connection
        queries = {re.sub(r"\bInf\b", "9e999", q) for q in asked if q.startswith(("SELECT", "UPDATE", "WITH"))}
        few = r"links USING INDEX links_in_transit|links USING INDEX returning_links|(\d+ )?CONSTANT|asked"
        whole = {q for q in queries if re.search(rf"SCAN (?!{few})", plan(db, q))}
    # The first two are done by SQLite, once: a million hosts take it a moment. Counters are a few rows.
    known = ("SELECT DISTINCT delay FROM hosts", "UPDATE hosts SET free_at", "SELECT name, value FROM counters")
    assert {query for query in whole if not query.startswith(known)} == set()


def test_returning_links_beyond_those_at_hand_come_back_in_time(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db", at_hand=5)) as store:
        frontier = Frontier(store)
        for number in range(100):
            frontier.add(Entry(f"http://a.test/{number}", "a.test", (-float(number),)))
        frontier.commit()
        for number in range(100):
            entry = frontier.peek(0.0)
            assert entry is not None
            frontier.begin(entry, 0.0)
            frontier.settle(entry.url, 0.0, again_at=1000.0 - number)
            frontier.commit()
        assert frontier.count(State.RETURNING) == 100
        assert frontier.wake_at() == 901.0
        assert frontier.peek(901.0) is not None and frontier.count(State.WAITING) == 1
        assert frontier.peek(math.inf) is not None and frontier.count(State.WAITING) == 100


def test_a_host_is_as_it_was_saved(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db")) as store:
        store.save_host(Host("a.test", 2.0, 7.0, "192.0.2.1", order=order_at((1.0, -0.5), 9)))
        store.commit(store.counters())
        assert store.host("a.test") == Host("a.test", 2.0, 7.0, "192.0.2.1", order=order_at((1.0, -0.5), 9))
        assert store.host("b.test") is None
