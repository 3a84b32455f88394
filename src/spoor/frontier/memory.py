"""A store in memory: fast, not durable."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter

from spoor.frontier.entry import DIED, Entry, Host, Order, State
from spoor.frontier.queues import ALL_READ, Queue
from spoor.frontier.store import ALL_MOMENTS, OF_PAGE, Bounds, Counters, Moment
from spoor.records import Key
from spoor.robots import RobotsFile

BLOCK = 1024
"""Rows per block. Waiting links are counted by block, so that a search can skip blocks without any."""


class MemoryStore:
    """Entries by URL and by the page they were found on, and a queue for each host."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._queues: dict[str, Queue] = {}
        self._found_on: dict[str, list[Entry]] = {}
        self._rows: list[Entry] = []
        self._waiting_in: list[int] = []
        self._committed = 0
        self._hosts: dict[str, Host] = {}
        self._resumed_at: float | None = None
        self._delay_ends: list[float] = []
        self._robots: dict[str, tuple[RobotsFile, str]] = {}
        self._counters = Counters()

    @property
    def at_hand(self) -> None:
        """None: all are in memory."""
        return None

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        return list(map(self._entries.get, urls))

    def save(self, entry: Entry) -> None:
        if entry.url not in self._entries:
            self._insert(entry)
        queue = self._queues[entry.host]
        waited, waits = entry.url in queue, entry.state is State.WAITING
        self._waiting_in[_row(entry) // BLOCK] += waits - waited
        if waits:
            queue.put(entry.url, entry.order)
        else:
            queue.remove(entry.url)

    def _insert(self, entry: Entry) -> None:
        entry.row = len(self._rows)
        self._entries[entry.url] = entry
        self._rows.append(entry)
        self._found_on.setdefault(entry.found_on, []).append(entry)
        if entry.host not in self._queues:
            self._queues[entry.host] = Queue()
        if entry.row % BLOCK == 0:
            self._waiting_in.append(0)

    def best(self, host: str) -> Entry | None:
        first = self._queues[host].first() if host in self._queues else None
        return None if first is None else self._entries[first[1]]

    def first_place(self, host: str) -> Order | None:
        best = self.best(host)
        return None if best is None else best.order

    def links_found_on(self, url: str, most: int) -> list[Entry]:
        waiting = (entry for entry in self._found_on.get(url, ()) if entry.state is State.WAITING)
        return heapq.nsmallest(most, islice(waiting, OF_PAGE), key=attrgetter("arrival"))

    def some(self, turn: int, count: int) -> list[Entry]:
        after = turn * count % max(1, self._committed)
        return list(islice(self._waiting_from(after), count))

    def _waiting_from(self, row: int) -> Iterator[Entry]:
        """The waiting entries among the committed rows, starting at `row`."""
        for block in range(row // BLOCK, len(self._waiting_in)):
            if self._waiting_in[block]:
                rows = range(max(row, block * BLOCK), min(self._committed, (block + 1) * BLOCK))
                yield from (self._rows[one] for one in rows if self._rows[one].state is State.WAITING)

    def waiting_keys(self) -> Iterator[tuple[Key, int]]:
        return ((entry.key, 1) for entry in self._entries.values() if entry.state is State.WAITING)

    def in_state(self, state: State) -> Iterator[Entry]:
        return iter(sorted((e for e in self._entries.values() if e.state is state), key=attrgetter("arrival")))

    def parked(self, host: str, because: str, after: int, most: int) -> tuple[list[Entry], int | None]:
        return [e for e in self.in_state(State.PARKED) if e.host == host and e.because == because], None

    def host_names(self) -> Iterator[str]:
        return iter([*self._hosts])

    def returning(self, after: Moment, postponed: bool, most: int) -> tuple[list[tuple[float, int, str]], Moment]:
        found = (entry for entry in self._entries.values() if entry.state is State.RETURNING)
        moments = [(e.again_at, e.arrival, e.url) for e in found if e.is_postponed == postponed]
        return sorted(moment for moment in moments if moment[:2] > after), ALL_MOMENTS

    def save_host(self, host: Host) -> None:
        self._hosts[host.name] = host

    def host(self, name: str) -> Host | None:
        host = self._hosts.get(name)
        return None if host is None else self._as_resumed(host)

    def hosts_after(self, order: Order, most: int, now: float, known: Container[str]) -> tuple[list[Host], Order]:
        waiting = (host for host in self._hosts.values() if host.order is not None and host.order > order)
        asked = (host for host in waiting if self._delay_is_over(host, now) and host.name not in known)
        free = [self._as_resumed(host) for host in asked]
        return sorted(free, key=attrgetter("order")), ALL_READ

    def resume(self, at: float) -> None:
        self._resumed_at = at
        self._delay_ends = sorted({at + host.delay for host in self._hosts.values()})

    def next_delay_end(self, now: float) -> float | None:
        return next(iter(self._delay_ends[bisect_right(self._delay_ends, now) :]), None)

    def _delay_is_over(self, host: Host, now: float) -> bool:
        return self._resumed_at is None or self._resumed_at + host.delay <= now

    def _as_resumed(self, host: Host) -> Host:
        since = -math.inf if self._resumed_at is None else self._resumed_at
        free_at = max(host.free_at, since + host.delay)
        return Host(host.name, host.delay, free_at, host.address, order=host.order)

    def save_robots(self, file: RobotsFile, text: str) -> None:
        self._robots[file.url] = file, text

    def robots_file(self, url: str) -> RobotsFile | None:
        return self._robots[url][0] if url in self._robots else None

    def robots_text(self, url: str) -> str:
        return self._robots[url][1] if url in self._robots else ""

    def bound(self, bounds: Bounds) -> None:
        for host in self._hosts.values():
            own = min(host.free_at, bounds.now + host.delay)
            host.free_at = max(bounds.bounded(host.free_at, bounds.longest), own)
        for url, (file, text) in self._robots.items():
            until = bounds.bounded(file.until, min(bounds.longest, bounds.rules_last))
            self._robots[url] = replace(file, until=until), text
        for entry in self.in_state(State.RETURNING):
            bounded = bounds.bounded(entry.again_at, bounds.longest)
            entry.again_at = bounds.died_until if entry.because == DIED else bounded

    def counters(self) -> Counters:
        return self._counters

    def commit(self, counters: Counters) -> None:
        """Nothing is durable; only `some` depends on what was committed."""
        self._committed = len(self._rows)


def _row(entry: Entry) -> int:
    assert entry.row is not None
    return entry.row
