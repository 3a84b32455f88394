"""Both stores of the frontier against a model that is too simple to be wrong."""

from __future__ import annotations

import copy
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spoor.frontier.entry import OPEN, Entry, HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.host_queue import SOON
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import LinkStore
from spoor.records import SOONEST, Key, WaitingLink
from tests.effort import times

URLS = [f"http://{host}.test/{page}" for host in "abc" for page in range(4)]
KEYS: list[Key] = [(0.0,), (1.0,), (-2.5,), (float("inf"),)]
FOUND_ON = ["http://one.test/", "http://two.test/"]
DELAY = 2.0


@dataclass
class ModelEntry:
    host: str
    key: Key
    arrival: int
    evidence: float
    trail: int
    state: State = State.WAITING
    again_at: float = 0.0


@dataclass
class Model:
    """Everything in one dictionary, looked through from end to end for every question."""

    entries: dict[str, ModelEntry] = field(default_factory=dict)
    free_at: dict[str, float] = field(default_factory=dict)
    arrivals: int = 0

    def arrival(self) -> int:
        self.arrivals += 1
        return self.arrivals

    def begin(self, url: str, now: float) -> None:
        entry = self.entries[url]
        entry.state = State.IN_TRANSIT
        self.free_at[entry.host] = max(self.free_at.get(entry.host, 0.0), now + DELAY)

    def settle(self, url: str, now: float, again_at: float | None) -> None:
        entry = self.entries[url]
        entry.state = State.SETTLED if again_at is None else State.RETURNING
        entry.again_at = again_at or 0.0
        self.free_at[entry.host] = max(self.free_at[entry.host], now + DELAY)

    def wake(self, now: float) -> None:
        for entry in self.entries.values():
            if entry.state is State.RETURNING and entry.again_at <= now:
                entry.state = State.WAITING

    def best(self, now: float, connections: int) -> str | None:
        self.wake(now)
        busy = [entry.host for entry in self.entries.values() if entry.state is State.IN_TRANSIT]
        candidates = [
            (tuple(-part for part in entry.key), entry.arrival, url)
            for url, entry in self.entries.items()
            if entry.state is State.WAITING
            and self.free_at.get(entry.host, 0.0) <= now
            and busy.count(entry.host) < connections
        ]
        return min(candidates)[2] if candidates else None

    def best_soon(self, now: float, connections: int) -> str | None:
        """The best that waits on a host whose delay is not longer than usual and that answers within `SOON`."""
        self.wake(now)
        busy = [entry.host for entry in self.entries.values() if entry.state is State.IN_TRANSIT]

        def soon(host: str) -> bool:
            free_at = self.free_at.get(host, 0.0)
            answers = busy.count(host) < connections or now < free_at + SOON
            return answers and free_at <= now + DELAY

        candidates = [
            (tuple(-part for part in entry.key), entry.arrival, url)
            for url, entry in self.entries.items()
            if entry.state is State.WAITING and soon(entry.host)
        ]
        return min(candidates)[2] if candidates else None

    def restart(self, resumed_at: float | None) -> None:
        for entry in self.entries.values():
            if entry.state is State.IN_TRANSIT:
                entry.state = State.WAITING
            if resumed_at is not None:
                self.free_at[entry.host] = max(self.free_at.get(entry.host, 0.0), resumed_at + DELAY)


class FrontierMachine(RuleBasedStateMachine):
    """Offers, changes, parks, visits, waits and restarts in any order; the frontier and the model never differ."""

    rests_when_resumed = False

    def make_store(self) -> LinkStore:
        raise AssertionError("one of the two machines below is meant")

    def reopened_store(self) -> LinkStore:
        raise AssertionError("one of the two machines below is meant")

    @initialize(connections=st.integers(1, 2))
    def start(self, connections: int) -> None:
        self.host_rules = HostRules(delay=DELAY, connections=connections)
        self.model, self.now = Model(), 0.0
        self.store = self.make_store()
        self.frontier = Frontier(self.store, self.host_rules)
        self.commit()

    @rule(url=st.sampled_from(URLS), key=st.sampled_from(KEYS), evidence=st.integers(0, 3), parked=st.booleans())
    def offer(self, url: str, key: Key, evidence: int, parked: bool) -> None:
        (entry,) = self.frontier.find([url])
        known = self.model.entries.get(url)
        host = url.split("/")[2]
        if entry is None:
            assert known is None
            state = State.PARKED if parked else State.WAITING
            found = ({"e": float(evidence)}, (evidence, None), 1, FOUND_ON[evidence % 2])
            self.frontier.add(Entry(url, host, key, *found, state=state, hints=b"hints"))
            self.model.entries[url] = ModelEntry(host, key, self.model.arrival(), evidence, evidence, state)
        elif entry.state in OPEN:
            assert known is not None
            moved = self.frontier.change(entry, key, {"e": float(evidence)}, (evidence, None))
            assert moved == (key != known.key)
            known.evidence = known.trail = evidence
            if moved:
                known.key, known.arrival = key, self.model.arrival()

    @rule(url=st.sampled_from(URLS), drop=st.booleans())
    def take_out(self, url: str, drop: bool) -> None:
        (entry,) = self.frontier.find([url])
        if entry is not None and entry.state is State.WAITING:
            (self.frontier.drop if drop else self.frontier.park)(entry, "for a reason")
            self.model.entries[url].state = State.SETTLED if drop else State.PARKED

    @rule(url=st.sampled_from(URLS))
    def let_in(self, url: str) -> None:
        (entry,) = self.frontier.find([url])
        if entry is not None and entry.state is State.PARKED:
            self.frontier.admit(entry)
            known = self.model.entries[url]
            known.state, known.arrival = State.WAITING, self.model.arrival()

    @rule()
    def visit(self) -> None:
        entry = self.frontier.peek(self.now)
        expected = self.model.best(self.now, self.host_rules.connections)
        assert (entry.url if entry else None) == expected
        if entry is not None and expected is not None:
            self.frontier.begin(entry, self.now)
            self.model.begin(expected, self.now)

    @rule()
    def look_ahead(self) -> None:
        self.frontier.peek(self.now)  # links that return are woken by whoever asks for one
        entry = self.frontier.foremost(self.now)
        assert (entry.url if entry else None) == self.model.best_soon(self.now, self.host_rules.connections)

    @rule(url=st.sampled_from(URLS), seconds=st.sampled_from([3.0, 100.0]))
    def be_left_alone(self, url: str, seconds: float) -> None:
        host = url.split("/")[2]
        if any(entry.host == host for entry in self.model.entries.values()):
            self.frontier.delay_until(host, self.now, self.now + seconds)
            self.model.free_at[host] = max(self.model.free_at.get(host, 0.0), self.now + seconds)

    @rule(which=st.integers(0, 5), again_after=st.sampled_from([None, None, 0.0, 1.0, 5.0]))
    def come_back(self, which: int, again_after: float | None) -> None:
        in_transit = [url for url, entry in self.model.entries.items() if entry.state is State.IN_TRANSIT]
        if in_transit:
            url = in_transit[which % len(in_transit)]
            again_at = None if again_after is None else self.now + again_after
            self.frontier.settle(url, self.now, again_at)
            self.model.settle(url, self.now, again_at)

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 7.0, 40.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def commit(self) -> None:
        self.frontier.commit()
        self.committed = copy.deepcopy(self.model)

    @rule()
    def all_that_waits_is_met_in_turn(self) -> None:
        self.commit()
        some = {entry.url for turn in range(len(URLS)) for entry in self.store.some(turn, 2)}
        assert some == {entry.url for entry in self.waiting()}

    @rule(page=st.sampled_from(FOUND_ON), most=st.integers(1, 4))
    def look_at_a_page_again(self, page: str, most: int) -> None:
        discovered = sorted(
            (entry for entry in self.waiting() if entry.found_on == page), key=lambda entry: entry.arrival
        )
        found = [WaitingLink(entry.url, entry.evidence, entry.trail, b"hints") for entry in discovered]
        assert self.frontier.waiting.links_found_on(page, most) == found[:most]

    def waiting(self) -> list[Entry]:
        found = self.frontier.find(list(self.model.entries))
        return [entry for entry in found if entry is not None and entry.state is State.WAITING]

    @rule()
    def restart(self) -> None:
        self.commit()
        self.resume()

    def resume(self) -> None:
        self.store = self.reopened_store()
        resumed_at = self.now if self.rests_when_resumed else None
        self.frontier = Frontier(self.store, self.host_rules, resumed_at)
        self.model.restart(resumed_at)

    @invariant()
    def states_agree(self) -> None:
        if not hasattr(self, "frontier"):
            return
        for url, known in self.model.entries.items():
            (entry,) = self.frontier.find([url])
            assert entry is not None
            assert (entry.key, entry.evidence["e"], entry.trail) == (known.key, known.evidence, (known.trail, None))
            due = known.state is State.RETURNING and known.again_at <= self.now
            assert entry.state is known.state or (due and entry.state is State.WAITING)
        waiting = [e for e in self.model.entries.values() if e.state in (State.WAITING, State.RETURNING)]
        assert len(self.frontier) == len(waiting)

    @invariant()
    def someone_will_wake_up(self) -> None:
        """If something waits, nobody is under way and nothing can be visited now, there is a time to wait for."""
        if not hasattr(self, "frontier") or not len(self.frontier):
            return
        under_way = any(entry.state is State.IN_TRANSIT for entry in self.model.entries.values())
        if not under_way and self.frontier.peek(self.now) is None:
            self.model.wake(self.now)
            wake = self.frontier.wake_at()
            assert wake is not None and wake > self.now


class MemoryMachine(FrontierMachine):
    def make_store(self) -> LinkStore:
        return MemoryStore()

    def reopened_store(self) -> LinkStore:
        return self.store


class SqliteMachine(FrontierMachine):
    at_hand = 10_000

    def make_store(self) -> LinkStore:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "frontier.db"
        return SqliteStore(self.path, self.at_hand)

    def reopened_store(self) -> LinkStore:
        assert isinstance(self.store, SqliteStore)
        self.store.close()
        return SqliteStore(self.path, self.at_hand)

    @precondition(lambda self: hasattr(self, "frontier"))
    @rule()
    def crash(self) -> None:
        """What was not committed is lost; what was is all there."""
        self.model = copy.deepcopy(self.committed)
        self.resume()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            assert isinstance(self.store, SqliteStore)
            self.store.close()
            self.folder.cleanup()


class ForgetfulMachine(SqliteMachine):
    """Hardly any host and hardly any link that returns is kept in memory."""

    at_hand = 1


class PoliteMemoryMachine(MemoryMachine):
    rests_when_resumed = True


class PoliteForgetfulMachine(ForgetfulMachine):
    rests_when_resumed = True


TestMemoryFrontier = MemoryMachine.TestCase
TestMemoryFrontier.settings = settings(max_examples=times(40), stateful_step_count=50, deadline=None)
TestSqliteFrontier = SqliteMachine.TestCase
TestSqliteFrontier.settings = settings(max_examples=times(25), stateful_step_count=40, deadline=None)
TestForgetfulFrontier = ForgetfulMachine.TestCase
TestForgetfulFrontier.settings = settings(max_examples=times(25), stateful_step_count=40, deadline=None)
TestPoliteMemoryFrontier = PoliteMemoryMachine.TestCase
TestPoliteMemoryFrontier.settings = settings(max_examples=times(25), stateful_step_count=40, deadline=None)
TestPoliteForgetfulFrontier = PoliteForgetfulMachine.TestCase
TestPoliteForgetfulFrontier.settings = settings(max_examples=times(25), stateful_step_count=40, deadline=None)


def test_seeds_come_before_every_key() -> None:
    assert SOONEST > (1e308, 1e308)
