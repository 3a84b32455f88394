"""Both stores under many changes of one host between two commits, against one that looks through everything."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from spoor.errors import BadInput
from spoor.frontier.entry import Entry, Host, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.queues import Queue
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import OF_PAGE, Counters, LinkStore
from spoor.records import Key
from tests.effort import times

HOSTS = ("a.test", "b.test")
PAGES = ("http://one.test/", "http://two.test/")
KEYS: list[Key] = [(2.0, 0.0, -1.0), (1.0, 0.0, -1.0), (1.0, 0.0, -2.0), (0.0, 3.0, -1.0), (-7.5, 0.0, 0.0)]
OTHER_STATES = [State.PARKED, State.SETTLED, State.IN_TRANSIT, State.RETURNING]


class StoreMachine(RuleBasedStateMachine):
    """Whole batches are added, re-scored, taken out and put back; what the stores answer is what a look through all
    entries answers."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "frontier.db"
        self.sqlite = SqliteStore(self.path)
        self.stores: list[LinkStore] = [MemoryStore(), self.sqlite]
        self.urls: list[str] = []
        self.committed = 0
        self.arrivals = 0
        for store in self.stores:
            for name in HOSTS:
                store.save_host(Host(name, 0.0, False))
        self.commit()

    @rule(count=st.integers(1, 150), host=st.sampled_from(HOSTS), seed=st.integers(0, 99))
    def add(self, count: int, host: str, seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(count):
            url, key, page = f"http://{host}/{len(self.urls)}", rng.choice(KEYS), rng.choice(PAGES)
            state = rng.choice([State.WAITING, State.WAITING, State.PARKED])
            self.arrivals += 1
            for store in self.stores:
                store.save(Entry(url, host, key, {"e": 1.0}, None, 1, page, arrival=self.arrivals, state=state))
            self.urls.append(url)

    @rule(host=st.sampled_from(HOSTS), count=st.integers(1, 100), seed=st.integers(0, 99))
    def rescore_the_best(self, host: str, count: int, seed: int) -> None:
        """As a review at their turn does: one after the other is put at another place, mostly further back."""
        rng = random.Random(seed)
        for _ in range(count):
            self.change_the_best(host, key=rng.choice(KEYS[1:]), moves=rng.random() < 0.9)

    @rule(host=st.sampled_from(HOSTS), count=st.integers(1, 100), state=st.sampled_from(OTHER_STATES))
    def take_out_the_best(self, host: str, count: int, state: State) -> None:
        for _ in range(count):
            self.change_the_best(host, state=state)

    def change_the_best(
        self, host: str, key: Key | None = None, moves: bool = True, state: State | None = None
    ) -> None:
        best = [store.best(host) for store in self.stores]
        assert [entry and entry.url for entry in best] == [self.expected_best(host)] * 2
        self.arrivals += 1
        for store, entry in zip(self.stores, best, strict=True):
            if entry is not None:
                self.save_changed(store, entry, key if moves else None, state)

    @rule(seed=st.integers(0, 99), share=st.sampled_from([0.05, 0.5]))
    def change_any(self, seed: int, share: float) -> None:
        """As pages do that link to them again, and links do that come back."""
        rng = random.Random(seed)
        for url in self.urls:
            if rng.random() < share:
                self.arrivals += 1
                key, state = rng.choice([None, *KEYS]), rng.choice([None, State.WAITING, State.PARKED])
                for store in self.stores:
                    (entry,) = store.find([url])
                    assert entry is not None
                    self.save_changed(store, entry, key, state)

    def save_changed(self, store: LinkStore, entry: Entry, key: Key | None, state: State | None) -> None:
        entry.evidence = {"e": entry.evidence["e"] + 1.0}
        if key is not None:
            entry.put_at(key, self.arrivals)
        if state is not None:
            entry.state = state
        store.save(entry)

    @rule()
    def commit(self) -> None:
        for store in self.stores:
            store.commit(Counters())
        self.committed = len(self.urls)

    @rule()
    def reopen(self) -> None:
        self.commit()
        self.sqlite.close()
        self.sqlite = self.stores[1] = SqliteStore(self.path)

    @rule(turn=st.integers(0, 50), count=st.integers(1, 80))
    def some_are_the_next_in_turn(self, turn: int, count: int) -> None:
        after = turn * count % max(1, self.committed)
        waiting = [entry for entry in self.entries()[after : self.committed] if entry.state is State.WAITING]
        for store in self.stores:
            assert self.told(store.some(turn, count)) == self.told(waiting[:count])

    @rule(page=st.sampled_from(PAGES), most=st.integers(1, 80))
    def links_found_on_a_page_are_told_by_arrival(self, page: str, most: int) -> None:
        found = [entry for entry in self.entries() if entry.found_on == page and entry.state is State.WAITING]
        found.sort(key=lambda entry: entry.arrival)
        for store in self.stores:
            assert self.told(store.links_found_on(page, most)) == self.told(found[:most])

    @invariant()
    def the_best_is_the_first_of_all(self) -> None:
        if hasattr(self, "stores"):
            for host in HOSTS:
                best = [store.best(host) for store in self.stores]
                assert [entry and entry.url for entry in best] == [self.expected_best(host)] * 2
                assert self.told([best[0]] if best[0] else []) == self.told([best[1]] if best[1] else [])

    def expected_best(self, host: str) -> str | None:
        waiting = [entry for entry in self.entries() if entry.host == host and entry.state is State.WAITING]
        best = min(waiting, key=lambda entry: entry.order, default=None)
        return None if best is None else best.url

    def entries(self) -> list[Entry]:
        """Of the store in memory, where an entry is what was saved."""
        return [entry for entry in self.stores[0].find(self.urls) if entry is not None]

    @staticmethod
    def told(entries: list[Entry]) -> list[tuple[object, ...]]:
        return [(e.url, e.order, e.state, dict(e.evidence)) for e in entries]

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.sqlite.close()
            self.folder.cleanup()


TestStores = StoreMachine.TestCase
TestStores.settings = settings(max_examples=times(20), stateful_step_count=25, deadline=None)


def test_a_url_that_left_and_came_back_to_its_place_is_there_once() -> None:
    queue = Queue()
    for number, url in enumerate(["a", "b", "c"]):
        queue.put(url, (number,))
    queue.remove("b")
    queue.put("b", (1,))
    assert [url for _, url in queue.keep(5)] == ["a", "b", "c"]
    assert [url for _, url in queue.keep(2)] == ["a", "b"]


@pytest.mark.parametrize(
    "forged",
    [
        "url = CAST(x'68ff' AS TEXT)",
        "evidence = CAST(x'ff' AS TEXT)",
        "evidence = '{'",
        "evidence = 7",
        "evidence = x'ff'",
        "evidence = x'0900'",
        """evidence = '{"e": "high"}'""",
        "trail = '[[[1'",
        "found_on = CAST(x'fe' AS TEXT)",
        "host = 99",
    ],
)
def test_a_link_that_no_crawl_wrote_is_told_as_damage_with_the_remedy(tmp_path: Path, forged: str) -> None:
    path = tmp_path / "crawl.db"
    with contextlib.closing(SqliteStore(path)) as store:
        frontier = Frontier(store)
        frontier.add(Entry("http://a.test/1", "a.test", (1.0,), found_on="http://a.test/"))
        frontier.commit()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE links SET {forged}")
        db.commit()
    with contextlib.closing(SqliteStore(path)) as store, pytest.raises(BadInput, match=r"damaged.*spoor check"):
        Frontier(store).peek(0.0)
        store.some(0, 1)


@pytest.mark.parametrize("forged", ["CAST(x'ff' AS TEXT), zeroblob(32)", "'', x'ff'"])
def test_a_host_that_no_crawl_wrote_is_told_as_damage_with_the_remedy(tmp_path: Path, forged: str) -> None:
    path = tmp_path / "crawl.db"
    SqliteStore(path).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"INSERT INTO hosts VALUES (1, 'a.test', 0.0, 0.0, {forged})")
        db.commit()
    with contextlib.closing(SqliteStore(path)) as store, pytest.raises(BadInput, match=r"damaged.*spoor check"):
        Frontier(store).peek(0.0)


def test_the_log_can_be_emptied_though_somebody_keeps_the_frames_of_a_search(tmp_path: Path) -> None:
    """As a debugger or the watchdog may, for minutes."""
    frames: list[object] = []
    with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
        for number in range(9):
            store.save(Entry(f"http://a.test/{number}", "a.test", (0.0,), arrival=number, found_on="http://a.test/"))
        store.commit(Counters())
        sys.setprofile(lambda frame, event, argument: frames.append(frame))
        found = [*store.some(0, 2), *store.links_found_on("http://a.test/", 2)]
        sys.setprofile(None)
        with contextlib.closing(sqlite3.connect(tmp_path / "crawl.db")) as other:
            busy, *_ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert (len(found), busy) == (4, 0)


def test_of_a_page_with_very_many_links_only_the_first_are_compared_by_arrival(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as sqlite:
        for store in (sqlite, MemoryStore()):
            for number in range(OF_PAGE + 1):
                link = f"http://a.test/{number}"
                store.save(Entry(link, "a.test", (0.0,), arrival=OF_PAGE - number, found_on="http://a.test/"))
                if number == OF_PAGE // 2:
                    store.commit(Counters())
            found = store.links_found_on("http://a.test/", 2)
            assert [entry.arrival for entry in found] == [1, 2]
