"""The frontier: which URL is next. One owner of order; nothing re-queues behind its back."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence

from spoor.errors import BrokenContract
from spoor.frontier.entry import DIED, OPEN, Entry, Host, HostRules, Order, State
from spoor.frontier.hosts import Errands, Hosts, Reading, Returning
from spoor.frontier.queues import ALL_READ
from spoor.frontier.store import Bounds, LinkStore
from spoor.records import Evidence, Key, TrailState, WaitingLink
from spoor.robots import RobotsFile, Wanted, delay_for, holding_for
from spoor.urls import host_of, robots_url

SLACK = 64
SOON = 30.0
"""Seconds: a host that is free again within this time is worth waiting for, if its links are."""
PAUSE = 0.01
"""Seconds of a host between two links that are put off: there may be many, and others must have their turn."""

MOST_ADDRESSES = 1024
"""IP addresses that are remembered before those that have rested are forgotten."""

LATER = 10.0
"""Seconds after the start of a process in which nothing is fetched that an earlier process may have died of: what else
there is comes first, and is kept whatever happens then."""


class Frontier:
    """A URL is unknown, waiting, returning, parked, in transit or settled; only `settle(again_at=…)` and `put_off` send
    one back. A host is closed, free, busy or resting. Every host that has something waiting, a connection left and no
    rest due has its head in `_ready`, or is in the store, behind the place up to which `_ready_read` was read. A place
    in `_ready` that no longer is its host's head, or whose host is not at hand, is skipped when it surfaces. `_heads`
    is the same for hosts that are free soon. Links that were put off come back from `_put_off`, for which nobody waits.

    Told the time, it never asks. Driven from one thread.
    """

    def __init__(self, store: LinkStore, rules: HostRules | None = None, resumed_at: float | None = None) -> None:
        """`resumed_at`: every host rests from then on, since a crawl that was killed may have asked it for something
        that nobody wrote down."""
        self._store = store
        self._rules = rules or HostRules()
        self._counters = store.counters()
        self._hosts = Hosts(store)
        self._ready_read, self._heads_read = Reading(store), Reading(store, early=SOON)
        self._ready: list[tuple[Order, str]] = []
        self._heads: list[tuple[Order, str]] = []
        self._later: list[tuple[float, str]] = []
        self._resting: list[tuple[float, str]] = []
        self._returning, self._put_off = Returning(store, put_off=False), Returning(store, put_off=True)
        self._address_free_at: dict[str, float] = {}
        self._most_addresses = MOST_ADDRESSES
        self._resumed_at = resumed_at
        self._errands = Errands()
        self._resume()

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

    def hosts_resting(self) -> int:
        """How many hosts rest, as of the last time somebody asked for a link."""
        return len({name for _, name in self._resting})

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        """What is known of each URL, in the same order. Read them; change them only through the frontier."""
        return self._store.find(urls)

    def evidence_of(self, url: str) -> Evidence | None:
        (entry,) = self.find([url])
        return entry.evidence if entry is not None and entry.state in OPEN else None

    def met_on(self, url: str, most: int) -> list[WaitingLink]:
        return [WaitingLink(e.url, e.evidence, e.trail, e.hints) for e in self._store.met_on(url, most)]

    def some(self, most: int) -> list[WaitingLink]:
        return [
            WaitingLink(e.url, e.evidence, e.trail, e.hints) for e in self._store.some(self.visits, most) if e.hints
        ]

    def add(self, entry: Entry) -> None:
        """A URL that was unknown begins to wait, or is parked if its state says so."""
        self._check(entry.url, entry.key)
        entry.arrival = self._next_arrival()
        self._counters.by_state[entry.state] += 1
        self._host(entry.host)
        self._store.save(entry)
        if entry.state is State.WAITING:
            self._came_forward(entry)

    def change(self, entry: Entry, key: Key, evidence: Evidence, trail: TrailState, hints: bytes | None = None) -> bool:
        """More is known of a link that is still open. Says whether it changed its place. `hints` None: as they were."""
        was = entry.order if key != entry.key else None
        if was is not None:
            self._check(entry.url, key)
            entry.key, entry.arrival = key, self._next_arrival()
        entry.evidence, entry.trail = evidence, trail
        if hints is not None:
            entry.hints = hints
        self._store.save(entry)
        if entry.state is State.WAITING:
            self._changed(entry, was)
        return was is not None

    def park(self, entry: Entry, because: str) -> None:
        """Out of the queue until `admit`."""
        entry.because = because
        self._leave(entry, State.PARKED)

    def admit(self, entry: Entry) -> None:
        """A parked link waits after all."""
        entry.because, entry.arrival = "", self._next_arrival()
        self._enter(entry, State.WAITING)
        self._came_forward(entry)

    def drop(self, entry: Entry, because: str) -> None:
        """A waiting link is finished without a visit."""
        entry.because = because
        self._leave(entry, State.SETTLED)

    def peek(self, now: float) -> Entry | None:
        """The best link whose host can be visited now; None: nobody is free. Its host may still be closed."""
        self._wake(now)
        self._ready_read.heed(now)
        while (host := self._first_ready(now)) is None and self._read_on(self._ready_read, now):
            pass
        return None if host is None else host.head

    def _first_ready(self, now: float) -> Host | None:
        """None: more hosts must be read before it can be told, or nobody is free."""
        while self._ready and self._ready[0][0] <= self._ready_read.to:
            order, name = self._ready[0]
            host = self._hosts.get(name)
            if host is None or order != host.order:
                heapq.heappop(self._ready)
            elif not self._available(host, now):
                host.among_ready = False
                heapq.heappop(self._ready)
            elif self._has_head(host):
                return host
        return None

    def foremost(self, now: float) -> Entry | None:
        """The best waiting link of all hosts that are free now or soon; None: no link waits there."""
        while self._later and self._later[0][0] <= now:
            self._show_again(heapq.heappop(self._later)[1])
        self._heads_read.heed(now)
        while (host := self._first_head(now)) is None and self._read_on(self._heads_read, now):
            pass
        return None if host is None else host.head

    def _first_head(self, now: float) -> Host | None:
        """None: more hosts must be read before it can be told, or nobody is free soon."""
        while self._heads and self._heads[0][0] <= self._heads_read.to:
            order, name = self._heads[0]
            host = self._hosts.get(name)
            if host is None or order != host.order:
                heapq.heappop(self._heads)
            elif not self._free_soon(host, now):
                if host.free_at > now:
                    heapq.heappush(self._later, (host.free_at - SOON, name))
                host.among_heads = False
                heapq.heappop(self._heads)
            elif self._has_head(host):
                return host
        return None

    def _read_on(self, reading: Reading, now: float) -> bool:
        """More hosts whose links wait are at hand; False: all are."""
        if reading.to == ALL_READ:
            return False
        for host in reading.on(now, self._hosts):
            self._take_in(host)
        self._end_rests(now)
        return True

    def _has_head(self, host: Host) -> bool:
        """Whether the best link of a host is at the place where the host stands; if not, it stands elsewhere now."""
        if host.head is None:
            head = self._store.best(host.name)
            if head is None or head.order != host.order:
                self._lead(host, None if head is None else head.order, head)
                self._show(host)
                return False
            host.head = head
        return True

    def _free_soon(self, host: Host, now: float) -> bool:
        """Not one that rests for long, nor one that has not answered for long."""
        busy = host.visiting >= self._rules.connections or bool(host.waits_for)
        return now < host.free_at + SOON if busy else host.free_at <= now + SOON

    def robots_for(self, url: str, now: float) -> RobotsFile | Wanted | None:
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
        self._host(host).waits_for = robots
        where = self._host(host_of(robots))
        if self._errands.add(robots, where.name, host):
            self._errands.wake(where.name, now)

    @property
    def rules_last(self) -> float:
        """Seconds for which a robots.txt counts."""
        return self._rules.rules_last

    def rests_enough(self, name: str, delay: float, now: float) -> bool:
        """Whether a host rests as long as its robots.txt asks for. If not, it does from now on: the file is that of
        another host, too, and was fetched for that."""
        host = self._host(name)
        if delay <= host.rest:
            return True
        host.change_rest(delay)
        self._store.save_host(host)
        self._sleep(host, now)
        return host.free_at <= now

    def next_errand(self, now: float) -> tuple[str, int] | None:
        """A robots.txt that is asked for now, and how often that was in vain; None: none is due, or nobody is free.
        Such visits are not numbered."""
        while (name := self._errands.due(now)) is not None:
            host = self._host(name)
            if self._can_be_asked(host, now):
                url = self._errands.take(name)
                self._begin_visit(host, now)
                known = self.robots_file(url)
                return url, 0 if known is None else known.tries
            if host.visiting < self._rules.connections:
                self._errands.wake(name, max(host.free_at, self._address_free_at.get(host.address, 0.0)))
        return None

    def answer(self, file: RobotsFile, now: float, text: str = "", address: str = "") -> float:
        """What came for a robots.txt. `address` is where from; "": not known. Returns the seconds that hosts rest whose
        rules these are: their own wish, but never less than ours."""
        self.keep_robots(file, text)
        host = self._host(host_of(file.url))
        host.address = address or host.address
        self._adopt_rest(host)
        self._end_visit(host, now)
        for name in self._errands.answered(file.url):
            waiting = self._host(name)
            waiting.waits_for = ""
            self._adopt_rest(waiting)
            self._sleep(waiting, now)
            self._show(waiting)
        return max(file.delay, self._rules.rest)

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
        """The link from `peek` is in transit; its host is busy. Returns the number of the visit."""
        self._begin_visit(self._host(entry.host), now)
        self._leave(entry, State.IN_TRANSIT)
        self._counters.visits += 1
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
        self._end_visit(self._host(entry.host), now)

    def excuse(self, url: str, now: float) -> None:
        """A visit is over that our own side is to blame for: the URL waits as if it had not been."""
        entry = self._in_transit(url)
        self._return_uncounted(entry, entry.tries, now)
        self._end_visit(self._host(entry.host), now)

    def restore(self, url: str, tries: int, now: float) -> None:
        """Afterwards our own side turned out to be to blame for a visit that failed: the URL waits again, and was tried
        no more often than before."""
        (entry,) = self.find([url])
        if entry is not None and entry.state is State.SETTLED:
            self._return_uncounted(entry, tries, now)
        elif entry is not None and entry.state is State.RETURNING and not entry.because:
            self._return_uncounted(entry, tries, entry.again_at)

    def _return_uncounted(self, entry: Entry, tries: int, at: float) -> None:
        self._counters.excused += 1
        entry.because, entry.tries, entry.again_at = entry.because if entry.is_apart else "", tries, at
        self._enter(entry, State.RETURNING)
        self._await(entry)

    def begin_probe(self, url: str, now: float) -> bool:
        """A visit to a robots.txt for which nobody waits, if its host is free; says whether it is."""
        host = self._host(host_of(url))
        free = self._can_be_asked(host, now)
        if free:
            self._begin_visit(host, now)
        return free

    def end_in_vain(self, robots: str, now: float) -> None:
        """A visit to a robots.txt is over that our own side is to blame for: it is asked for again when the turn of a
        link has come."""
        self._end_visit(self._host(host_of(robots)), now)
        for name in self._errands.answered(robots):
            self._host(name).waits_for = ""
            self._show(self._host(name))

    def give_up(self, url: str, now: float, because: str) -> None:
        """A visit is over, and there shall be no other, whatever more is known of the URL."""
        entry = self._in_transit(url)
        entry.because, entry.again_at = because, math.inf
        self._enter(entry, State.PARKED)
        self._end_visit(self._host(entry.host), now)

    def _in_transit(self, url: str) -> Entry:
        (entry,) = self.find([url])
        if entry is None or entry.state is not State.IN_TRANSIT:
            raise BrokenContract(f"{url} was settled but is not in transit")
        return entry

    def leave_alone(self, name: str, now: float, until: float) -> None:
        """Nothing of this host is visited before `until`: the server asked for it, or its rules cannot be had."""
        host = self._host(name)
        host.free_at = max(host.free_at, until)
        self._rest(host, now)

    def wake_at(self) -> float | None:
        """When a resting host, a returning link or a robots.txt may be ready; None: waiting for that is of no use."""
        if not len(self):
            return None
        resting = self._resting[0][0] if self._resting else None
        times = (resting, self._returning.next_at(), self._errands.wake_at, self._ready_read.again_at)
        return min((time for time in times if time is not None), default=None)

    def commit(self) -> None:
        """Everything since the last commit becomes durable, all or nothing."""
        self._store.commit(self._counters)
        self._returning.committed()
        self._put_off.committed()
        if self._hosts.tidy(self._errands, self._ready_read, self._heads_read):
            self._tidy()
            for heap in (self._later, self._resting):
                heap[:] = [(at, name) for at, name in heap if name in self._hosts]
                heapq.heapify(heap)

    def _resume(self) -> None:
        if self._resumed_at is not None:
            self._store.resume(self._resumed_at)
        for entry in self._store.in_state(State.IN_TRANSIT):
            self._enter(entry, State.WAITING)
            self._came_forward(entry)

    def reopen(self, now: float, died_of: str = "", ahead: float = 0.0, longest: float = math.inf) -> bool:
        """To be called before the first visit of a crawl that is resumed. `died_of` is the URL that the process before
        this one worked on when it died; says whether that is given up. Links that may be to blame for a death come
        later. `ahead`: by so many seconds the clock was ahead of what it says now when times were written down; none
        may lie more than `longest` seconds in the future."""

        bounds = Bounds(now, ahead, longest, self.rules_last, now + LATER)
        self._store.bound(bounds)
        self._resting, self._later = [], []
        self._address_free_at.clear()
        for host in self._hosts:
            host.free_at = max(bounds.bounded(host.free_at, longest), min(host.free_at, now + host.rest))
            self._rest_since_resumed(host)
        for reading in (self._returning, self._put_off, self._ready_read, self._heads_read):
            reading.begin_again()
        return bool(died_of) and self._blame(died_of, now)

    def _take_in(self, host: Host) -> None:
        """From the store."""
        self._hosts.put(host)
        self._rest_since_resumed(host)
        self._show(host)

    def _rest_since_resumed(self, host: Host) -> None:
        if host.free_at:
            heapq.heappush(self._resting, (host.free_at, host.name))
        self._rest_address(host.address, host.free_at - host.rest if self._resumed_at is None else self._resumed_at)

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
        entry.state = state
        self._store.save(entry)

    def _leave(self, entry: Entry, state: State) -> None:
        """Out of the queue of its host, into another state."""
        host = self._host(entry.host)
        self._enter(entry, state)
        if host.order == entry.order:
            self._lead(host, self._store.first_place(host.name))
        self._show(host)

    def _came_forward(self, entry: Entry) -> None:
        """A link waits at a place where it did not wait before."""
        host = self._host(entry.host)
        if host.order is None or entry.order < host.order:
            self._lead(host, entry.order, entry)
            self._show(host)

    def _changed(self, entry: Entry, was: Order | None) -> None:
        """A waiting link has other evidence, and another place than it `was` at; None: it is still there."""
        host = self._host(entry.host)
        if was is None:
            if host.head is not None and host.head.url == entry.url:
                host.head = entry
        elif host.order != was:
            self._came_forward(entry)
        elif entry.order < was:
            self._lead(host, entry.order, entry)
            self._show(host)
        else:
            self._lead(host, self._store.first_place(host.name))
            self._show(host)

    def _lead(self, host: Host, order: Order | None, head: Entry | None = None) -> None:
        if host.lead(order, head):
            self._store.save_host(host)

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None and (host := self._store.host(name)) is not None:
            self._take_in(host)
        if host is None:
            host = Host(name, self._rules.rest)
            self._hosts.put(host)
            self._store.save_host(host)
        return host

    def _available(self, host: Host, now: float) -> bool:
        return not host.waits_for and self._can_be_asked(host, now)

    def _can_be_asked(self, host: Host, now: float) -> bool:
        return host.visiting < self._rules.connections and host.free_at <= now and self._address_is_free(host, now)

    def _adopt_rest(self, host: Host) -> None:
        host.change_rest(max(delay_for(self.robots_file, host.name), self._rules.rest))
        self._store.save_host(host)

    def _address_is_free(self, host: Host, now: float) -> bool:
        """Whether the IP address of a host has rested; if not, the host is woken when it has."""
        free_at = self._address_free_at.get(host.address, 0.0)
        if free_at > now:
            heapq.heappush(self._resting, (free_at, host.name))
        return free_at <= now

    def _show(self, host: Host) -> None:
        """Puts the head of a host where `peek` sees it, if the host has a connection left."""
        if host.order is None:
            return
        if not host.among_heads:
            heapq.heappush(self._heads, (host.order, host.name))
            host.among_heads = True
        if not host.among_ready and host.visiting < self._rules.connections:
            heapq.heappush(self._ready, (host.order, host.name))
            host.among_ready = True
        if len(self._heads) > 4 * len(self._hosts) + SLACK:
            self._tidy()

    def _tidy(self) -> None:
        """Drops outdated places, so that both queues stay as long as there are hosts at hand."""
        self._heads = [(host.order, host.name) for host in self._hosts if host.order is not None]
        self._ready = [*self._heads]
        for host in self._hosts:
            host.among_heads = host.among_ready = host.order is not None
        heapq.heapify(self._heads)
        heapq.heapify(self._ready)

    def _show_again(self, name: str) -> None:
        if (host := self._hosts.get(name)) is not None:
            self._show(host)

    def _begin_visit(self, host: Host, now: float) -> None:
        host.begin(now)
        self._rest(host, now)

    def _end_visit(self, host: Host, now: float) -> None:
        host.end(now)
        self._rest(host, now)
        self._show(host)
        self._errands.wake(host.name, host.free_at)

    def _rest_address(self, address: str, since: float) -> None:
        if address and self._rules.address_rest:
            until = since + self._rules.address_rest
            self._address_free_at[address] = max(until, self._address_free_at.get(address, 0.0))
            if len(self._address_free_at) > self._most_addresses:
                self._address_free_at = {at: until for at, until in self._address_free_at.items() if until > since}
                self._most_addresses = max(MOST_ADDRESSES, 2 * len(self._address_free_at))

    def _rest(self, host: Host, now: float) -> None:
        """As of now it was visited."""
        self._rest_address(host.address, now)
        self._sleep(host, now)

    def _sleep(self, host: Host, now: float) -> None:
        """Makes sure a host that rests is woken, whether or not anything of it waits now."""
        if host.free_at > now:
            heapq.heappush(self._resting, (host.free_at, host.name))
            self._store.save_host(host)

    def _wake(self, now: float) -> None:
        if due := [*self._returning.due(now), *self._put_off.due(now)]:
            self._return(self.find(due), now)
        self._end_rests(now)

    def _end_rests(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self._show_again(heapq.heappop(self._resting)[1])

    def _return(self, entries: Iterable[Entry | None], now: float) -> None:
        for entry in entries:
            if entry is not None and entry.state is State.RETURNING and entry.again_at <= now:
                entry.because = entry.because if entry.is_apart else ""
                self._enter(entry, State.WAITING)
                self._came_forward(entry)

    @staticmethod
    def _check(url: str, key: Key) -> None:
        if any(map(math.isnan, key)):
            raise BrokenContract(f"the key of {url} is not a number: {key}")
