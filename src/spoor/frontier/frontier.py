"""The frontier: which URL is next. One owner of order; nothing re-queues behind its back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from spoor.errors import BrokenContract
from spoor.frontier.entry import DIED, Entry, Host, HostRules, State, check_key
from spoor.frontier.host_queue import HostQueue
from spoor.frontier.hosts import Errands, Returning
from spoor.frontier.store import Bounds, LinkStore, Waiting
from spoor.frontier.tally import Tally
from spoor.records import Evidence, Key, TrailState
from spoor.robots import NeededFile, RobotsFile, delay_for, holding_for
from spoor.urls import host_of, robots_url

PAUSE = 0.01
"""Seconds of a host between two links that are put off: there may be many, and others must have their turn."""
LATER = 10.0
"""Seconds after the start of a process in which nothing is fetched that an earlier process may have died of: what else
there is comes first, and is kept whatever happens then."""
WITHIN = 1.0
"""Seconds ahead for which it is told what can be visited."""


class Frontier:
    """A URL is unknown, waiting, returning, parked, in transit or settled; only `settle(again_at=…)` and `put_off` send
    one back. Links that were put off come back from `_put_off`, for which nobody waits. Whose turn it is among the
    hosts, `_hosts` knows.

    Told the time, it never asks. Driven from one thread.
    """

    def __init__(
        self,
        store: LinkStore,
        rules: HostRules | None = None,
        resumed_at: float | None = None,
        tallied: bool = False,
    ) -> None:
        """`resumed_at`: the delay of every host begins then, since a crawl that was killed may have asked it for
        something that nobody wrote down. `tallied`: where hosts have no delays, it counts how many links
        wait at which keys."""
        self._store = store
        self._rules = rules or HostRules()
        self._counters = store.counters()
        self._hosts = HostQueue(store, self._rules, resumed_at)
        self.addresses = self._hosts.addresses
        self._returning, self._put_off = Returning(store, put_off=False), Returning(store, put_off=True)
        self._errands = Errands()
        self._released: set[str] = set()
        self._asked_delays: dict[str, float] = {}
        self._tally = Tally(store.waiting_keys()) if tallied and not self._rules.delay else None
        self.waiting = Waiting(store, self._counters)
        self._resume(resumed_at)

    def __len__(self) -> int:
        """How many links wait, those that return later included."""
        return self._counters.by_state[State.WAITING] + self._counters.by_state[State.RETURNING]

    @property
    def visits(self) -> int:
        """How many visits were begun."""
        return self._counters.visits

    @property
    def spent(self) -> int:
        """How many of them count: not those that our own side is to blame for."""
        return self._counters.visits - self._counters.excused

    def count(self, state: State) -> int:
        return self._counters.by_state[state]

    def hosts_delayed(self) -> int:
        """How many hosts are under a delay, as of the last time somebody asked for a link."""
        return self._hosts.count_delayed()

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        """What is known of each URL, in the same order. Read them; change them only through the frontier."""
        return self._store.find(urls)

    def best_keys(self, links: int, now: float) -> list[tuple[Key, int]]:
        """The best keys at which so many links wait that can be visited within a second, rounded, and how many at each.
        Where hosts have delays, that is one of each host; elsewhere, to be asked of a frontier that is tallied."""
        self._return_due(now)
        if self._tally is not None:
            return self._tally.best(links)
        return Tally((key, 1) for key in self._hosts.best_keys(links, now + WITHIN)).best(links)

    def add(self, entry: Entry) -> None:
        """A URL that was unknown begins to wait, or is parked if its state says so."""
        check_key(entry.url, entry.key)
        entry.put_at(entry.key, self._next_arrival())
        self._counters.by_state[entry.state] += 1
        self._hosts.host(entry.host)
        self._store.save(entry)
        if entry.state is State.WAITING:
            self._count_waiting(entry.key, 1)
            self._hosts.came_forward(entry)

    def change(self, entry: Entry, key: Key, evidence: Evidence, trail: TrailState, hints: bytes | None = None) -> bool:
        """More is known of a link that is still open. Says whether it changed its place. `hints` None: as they were."""
        was = entry.order if key != entry.key else None
        if was is not None:
            check_key(entry.url, key)
            if entry.state is State.WAITING:
                self._count_waiting(entry.key, -1)
                self._count_waiting(key, 1)
            entry.put_at(key, self._next_arrival())
        entry.evidence, entry.trail = evidence, trail
        if hints is not None:
            entry.hints = hints
        self._store.save(entry)
        if entry.state is State.WAITING:
            self._hosts.changed(entry, was)
        return was is not None

    def park(self, entry: Entry, because: str) -> None:
        """Out of the queue until `admit`."""
        entry.because = because
        self._leave(entry, State.PARKED)

    def host_names(self) -> Iterator[str]:
        return self._store.host_names()

    def readmit(self, host: str, because: str, after: int, most: int) -> int | None:
        """Some links of a host that are parked for this reason wait again, where they did. Returns what to give as
        `after` to go on, None: there are no more. `FIRST_HASH` begins."""
        entries, after_these = self._store.parked(host, because, after, most)
        for entry in entries:
            entry.because = ""
            self._enter(entry, State.WAITING)
            self._hosts.came_forward(entry)
        return after_these

    def admit(self, entry: Entry) -> None:
        """A link that was parked or visited waits after all; a sitemap that was read is to be read again."""
        entry.because = ""
        entry.put_at(entry.key, self._next_arrival())
        self._enter(entry, State.WAITING)
        self._hosts.came_forward(entry)

    def drop(self, entry: Entry, because: str) -> None:
        """A waiting link is finished without a visit."""
        entry.because = because
        self._leave(entry, State.SETTLED)

    def peek(self, now: float) -> Entry | None:
        """The best link whose host can be visited now; None: nobody is free. Its host may still be closed."""
        self._return_due(now)
        return self._hosts.peek(now)

    def foremost(self, now: float) -> Entry | None:
        """The best waiting link of all hosts that are free now or soon; None: no link waits there."""
        return self._hosts.foremost(now)

    def _return_due(self, now: float) -> None:
        """Links whose time has come wait again."""
        due = [*self._returning.due(now), *self._put_off.due(now)]
        for entry in self.find(due) if due else ():
            if entry is not None and entry.state is State.RETURNING and entry.again_at <= now:
                entry.because = entry.because if entry.is_apart else ""
                self._enter(entry, State.WAITING)
                self._hosts.came_forward(entry)

    def robots_for(self, url: str, now: float) -> RobotsFile | NeededFile | None:
        """The robots.txt that holds for a URL, or the one that must be asked for first; None: nobody is asked."""
        return holding_for(self.robots_file, robots_url(url), now) if self._rules.ask_first else None

    def robots_file(self, url: str) -> RobotsFile | None:
        """What came of the last request for a robots.txt, by its own URL; None: nothing yet."""
        return self._store.robots_file(url)

    def robots_text(self, url: str) -> str:
        """Of a robots.txt as last seen, by its own URL; "" when there is none."""
        return self._store.robots_text(url)

    def want(self, robots: str, host: str, now: float) -> None:
        """Nothing of `host` may be visited before this robots.txt is known, wherever it lies."""
        if self._hosts.host(host).waits_for == robots:
            return
        self._hosts.host(host).waits_for = robots
        where = self._hosts.host(host_of(robots))
        if self._errands.add(robots, where.name, host):
            self._errands.wake(where.name, now)

    @property
    def has_delays(self) -> bool:
        """Whether hosts are left alone between two visits."""
        return self._rules.delay > 0

    @property
    def rules_last(self) -> float:
        """Seconds for which a robots.txt counts."""
        return self._rules.rules_last

    def keeps_delay(self, name: str, now: float) -> bool:
        """Whether the delay of a host is as long as its robots.txt files ask for. If not, it is from now on: a file may
        be that of another host, too, and have been fetched for that."""
        host, delay = self._hosts.host(name), delay_for(self.robots_file, name)
        if delay <= host.delay:
            return True
        host.change_delay(delay)
        self._store.save_host(host)
        self._hosts.sleep(host, now)
        return host.free_at <= now

    def polite_delay(self, name: str) -> float:
        """The delay of a host in seconds, at the least: ours, or what its robots.txt files ask for if that is more."""
        return max(delay_for(self.robots_file, name), self._rules.delay)

    def ask_delays(self, delays: Mapping[str, float]) -> None:
        """Those that a person asked for in an earlier process. They count where politeness does not demand more."""
        self._asked_delays |= delays

    def slow_down(self, name: str, delay: float, now: float) -> None:
        """A person asks for it."""
        self._asked_delays[name] = delay
        host = self._hosts.host(name)
        self._adopt_delay(host)
        self._hosts.sleep(host, now)

    def call_off(self, refused: Callable[[str], bool]) -> None:
        """No robots.txt is asked for that is `refused` by its URL. Hosts that waited for one have their turn again."""
        for name in self._errands.call_off(refused):
            host = self._hosts.host(name)
            host.waits_for = ""
            self._hosts.show(host)

    def next_errand(self, now: float) -> tuple[str, int] | None:
        """A robots.txt that is asked for now, and how often that was in vain; None: none is due, or nobody is free.
        Such visits are not numbered."""
        while (name := self._errands.due(now)) is not None:
            host = self._hosts.host(name)
            if self._hosts.can_be_asked(host, now) and self.keeps_delay(name, now):
                url = self._errands.take(name)
                self._hosts.begin_visit(host, now)
                known = self.robots_file(url)
                return url, 0 if known is None else known.tries
            if host.visiting < self._rules.connections:
                self._errands.wake(name, self._hosts.free_at(host, now))
        return None

    def answer(self, file: RobotsFile, now: float, text: str = "", address: str = "") -> float:
        """What came for a robots.txt. `address` is where from; "": not known. Returns the host delay, in
        seconds, of the hosts whose rules these are: what they ask for, but never less than ours."""
        self.keep_robots(file, text)
        host = self._hosts.host(host_of(file.url))
        host.address = address or host.address
        self._adopt_delay(host)
        self._end_visit(host, now)
        for name in self._errands.answered(file.url):
            waiting = self._hosts.host(name)
            waiting.waits_for = ""
            self._adopt_delay(waiting)
            self._hosts.sleep(waiting, now)
            self._hosts.show(waiting)
        return max(file.delay, self._rules.delay)

    def keep_robots(self, file: RobotsFile, text: str = "") -> None:
        """What is known of a robots.txt from now on."""
        self._store.save_robots(file, text)

    def put_off(self, entry: Entry, because: str, until: float, now: float) -> None:
        """A waiting link returns then, if the crawl is still going on: it does not wait for that."""
        entry.because, entry.again_at = because, until
        self._put_off.add(entry)
        self._leave(entry, State.RETURNING)
        self.leave_alone(entry.host, now, now + PAUSE)

    def begin(self, entry: Entry, now: float) -> int:
        """The link from `peek` is in transit; its host is busy. Returns the number of the visit; one to a sitemap has
        none of its own."""
        self._hosts.begin_visit(self._hosts.host(entry.host), now)
        self._leave(entry, State.IN_TRANSIT)
        self._counters.visits += not entry.is_sitemap
        return self._counters.visits - 1

    def settle(self, url: str, now: float, again_at: float | None = None, because: str = "") -> None:
        """A visit is over. No `again_at`: finished for good; otherwise the URL may be tried again from then on.
        `because` is there when something of ours went wrong."""
        entry = self._in_transit(url)
        entry.because = because
        if again_at is None:
            self._enter(entry, State.SETTLED)
        else:
            entry.tries, entry.again_at = entry.tries + 1, again_at
            self._enter(entry, State.RETURNING)
            self._await(entry)
        self._end_transit(entry, now)

    def excuse(self, url: str, now: float) -> None:
        """A visit is over that our own side is to blame for: the URL waits as if it had not been."""
        entry = self._in_transit(url)
        self._return_uncounted(entry, entry.tries, now)
        self._end_transit(entry, now)

    def restore(self, url: str, tries: int, now: float) -> None:
        """Afterwards our own side turned out to be to blame for a visit that failed: the URL waits again, and was tried
        no more often than before."""
        (entry,) = self.find([url])
        if entry is not None and entry.state is State.SETTLED:
            self._return_uncounted(entry, tries, now)
        elif entry is not None and entry.state is State.RETURNING and not entry.because:
            self._return_uncounted(entry, tries, entry.again_at)

    def _return_uncounted(self, entry: Entry, tries: int, at: float) -> None:
        self._counters.excused += not entry.is_sitemap
        entry.because, entry.tries, entry.again_at = entry.because if entry.is_apart else "", tries, at
        self._enter(entry, State.RETURNING)
        self._await(entry)

    def release(self, url: str, now: float) -> None:
        """What was asked for has come. The URL stays in transit, while its host may be asked for something else."""
        self._end_visit(self._hosts.host(self._in_transit(url).host), now)
        self._released.add(url)

    def reserve(self, name: str) -> None:
        """Until `unreserve`, as often as this was called, no link of the host has its turn: somebody waits to ask it
        for something else."""
        self._hosts.reserve(name)

    def unreserve(self, name: str) -> None:
        self._hosts.unreserve(name)

    def free_at(self, name: str, now: float) -> float:
        """When the delay of a host is over, or it is worth asking again."""
        return self._hosts.free_at(self._hosts.host(name), now)

    def begin_request(self, url: str, now: float) -> bool:
        """For something that is no link, such as a robots.txt for which nobody waits, if its host is free; says
        whether it is."""
        host = self._hosts.host(host_of(url))
        free = self._hosts.can_be_asked(host, now)
        if free:
            self._hosts.begin_visit(host, now)
        return free

    def end_request(self, url: str, now: float) -> None:
        self._end_visit(self._hosts.host(host_of(url)), now)

    def end_in_vain(self, robots: str, now: float) -> None:
        """A visit to a robots.txt is over that our own side is to blame for: it is asked for again when the turn of a
        link has come."""
        self._end_visit(self._hosts.host(host_of(robots)), now)
        for name in self._errands.answered(robots):
            self._hosts.host(name).waits_for = ""
            self._hosts.show(self._hosts.host(name))

    def give_up(self, url: str, now: float, because: str) -> None:
        """A visit is over, and there shall be no other, whatever more is known of the URL."""
        entry = self._in_transit(url)
        entry.because, entry.again_at = because, math.inf
        self._enter(entry, State.PARKED)
        self._end_transit(entry, now)

    def _in_transit(self, url: str) -> Entry:
        (entry,) = self.find([url])
        if entry is None or entry.state is not State.IN_TRANSIT:
            raise BrokenContract(f"{url} was settled but is not in transit")
        return entry

    def leave_alone(self, name: str, now: float, until: float) -> None:
        """Nothing of this host is visited before `until`: the server asked for it, or its rules cannot be had."""
        self._hosts.leave_alone(self._hosts.host(name), now, until)

    def wake_at(self) -> float | None:
        """When a delayed host, a returning link or a robots.txt may be ready; None: waiting for that is of no use."""
        if not len(self):
            return None
        times = (*self._hosts.wake_times(), self._returning.next_at(), self._errands.wake_at)
        return min((time for time in times if time is not None), default=None)

    def commit(self) -> None:
        """Everything since the last commit becomes durable, all or nothing."""
        self._store.commit(self._counters)
        self._returning.committed()
        self._put_off.committed()
        self._hosts.committed(self._errands)

    def _resume(self, at: float | None) -> None:
        if at is not None:
            self._store.resume(at)
        for entry in self._store.in_state(State.IN_TRANSIT):
            self._enter(entry, State.WAITING)
            self._hosts.came_forward(entry)

    def reopen(self, now: float, died_of: str = "", ahead: float = 0.0, longest: float = math.inf) -> bool:
        """To be called before the first visit of a crawl that is resumed. `died_of` is the URL that the process before
        this one worked on when it died; says whether that is given up. Links that may be to blame for a death come
        later. `ahead`: by so many seconds the clock was ahead of what it says now when times were written down; none
        may lie more than `longest` seconds in the future."""
        bounds = Bounds(now, ahead, longest, self.rules_last, now + LATER)
        self._store.bound(bounds)
        self._hosts.reopen(bounds)
        self._returning.begin_again()
        self._put_off.begin_again()
        return bool(died_of) and self._blame(died_of, now)

    def _blame(self, url: str, now: float) -> bool:
        """One death: the link is to be fetched alone; two: it is parked for good."""
        (entry,) = self.find([url])
        if entry is None or entry.state not in (State.WAITING, State.RETURNING):
            return False
        if entry.because == DIED:
            entry.again_at = math.inf
            self._leave(entry, State.PARKED)
            return True
        entry.because, entry.again_at = DIED, now + LATER
        self._leave(entry, State.RETURNING)
        self._await(entry)
        return False

    def _await(self, entry: Entry) -> None:
        """The time of a link that returns. For one that was put off nobody waits."""
        (self._put_off if entry.is_put_off else self._returning).add(entry)

    def _next_arrival(self) -> int:
        self._counters.arrivals += 1
        return self._counters.arrivals

    def _enter(self, entry: Entry, state: State) -> None:
        self._counters.by_state[entry.state] -= 1
        self._counters.by_state[state] += 1
        if State.WAITING in (entry.state, state):
            self._count_waiting(entry.key, (state is State.WAITING) - (entry.state is State.WAITING))
        entry.state = state
        self._store.save(entry)

    def _count_waiting(self, key: Key, change: int) -> None:
        if self._tally is not None:
            self._tally.add(key, change)

    def _leave(self, entry: Entry, state: State) -> None:
        """Out of the queue of its host, into another state."""
        host = self._hosts.host(entry.host)
        self._enter(entry, state)
        self._hosts.left(host, entry)

    def _adopt_delay(self, host: Host) -> None:
        host.change_delay(max(self.polite_delay(host.name), self._asked_delays.get(host.name, 0.0)))
        self._store.save_host(host)

    def _end_transit(self, entry: Entry, now: float) -> None:
        if entry.url in self._released:
            self._released.discard(entry.url)
        else:
            self._end_visit(self._hosts.host(entry.host), now)

    def _end_visit(self, host: Host, now: float) -> None:
        self._hosts.end_visit(host, now)
        self._errands.wake(host.name, host.free_at)
