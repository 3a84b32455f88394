"""The hosts in memory, the links that return later, and the pending robots.txt requests."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Container

from spoor.frontier.entry import Entry, Host, Order
from spoor.frontier.queues import ALL_READ, NOTHING_READ
from spoor.frontier.store import ALL_MOMENTS, LinkStore, Moment

# The hosts in memory: busy hosts, hosts with the best links, and those of the last batches.


BLOCK = 256
"""Number of hosts read at once."""


class Reading:
    """How far the hosts with waiting links have been read: all whose first link is at a position up to `to` are in
    memory, except those whose delay since the crawl was resumed will not be over in `early` seconds. Reading starts
    over when more of these delays end."""

    def __init__(self, store: LinkStore, early: float = 0.0) -> None:
        self._store = store
        self._early = early
        self.begin_again()

    def begin_again(self) -> None:
        self.to: Order = NOTHING_READ
        self.again_at: float | None = None
        """When the delays of more hosts end; None if all have ended or this is not known yet."""
        self._is_heeded = False

    def heed(self, now: float) -> None:
        """To be called before `to` is used."""
        if not self._is_heeded or (self.again_at is not None and self.again_at <= now):
            end = self._store.next_delay_end(now + self._early)
            self.to, self.again_at = NOTHING_READ, None if end is None else end - self._early
            self._is_heeded = True

    def on(self, now: float, known: Container[str]) -> list[Host]:
        """The next hosts, in order, without the `known` ones."""
        found, self.to = self._store.hosts_after(self.to, BLOCK, now + self._early, known)
        return found

    def back_to(self, order: Order) -> None:
        self.to = min(self.to, order)


class Hosts(dict[str, Host]):
    """The hosts in memory, by name. All others are unchanged in the store since the last commit. A dict, because a host
    is looked up for every link that moves."""

    def __init__(self, store: LinkStore) -> None:
        super().__init__()
        self._store = store
        self._most = 2 * (store.at_hand or 0)

    def put(self, host: Host) -> None:
        self[host.name] = host

    def tidy(self, busy: Container[str], *readings: Reading) -> bool:
        """After a commit: if there are too many hosts, removes those that can be read again. Keeps `busy` hosts and
        hosts with visits in flight. Returns whether any were removed."""
        if self._store.at_hand is None or len(self) <= self._most:
            return False
        orders = sorted(host.order for host in self.values() if host.order is not None)
        last = orders[self._store.at_hand - 1] if len(orders) > self._store.at_hand else ALL_READ
        for reading in readings:
            reading.back_to(last)
        last = max(reading.to for reading in readings)
        kept = {
            name: host
            for name, host in self.items()
            if host.visiting or host.waits_for or name in busy or (host.order is not None and host.order <= last)
        }
        self.clear()
        self.update(kept)
        self._most = 2 * max(len(self), self._store.at_hand)
        return True


# Links that return later, soonest first; only the first are in memory, however many there are.


NO_MOMENT: Moment = (-math.inf, 0)


class Returning:
    """All links whose moment is up to `_read_to`, and all added since the last commit. The caller skips links that have
    returned already."""

    def __init__(self, store: LinkStore, postponed: bool) -> None:
        """`postpone`: the postponed links, for which the crawl does not wait, or the others."""
        self._store = store
        self._postponed = postponed
        self.begin_again()

    def begin_again(self) -> None:
        """To be called when the contents of the store have changed."""
        self._moments: list[tuple[float, int, str]] = []
        self._read_to = NO_MOMENT

    def add(self, entry: Entry) -> None:
        heapq.heappush(self._moments, (entry.again_at, entry.arrival, entry.url))

    def due(self, now: float) -> list[str]:
        """URLs of links that are due, possibly including some that have returned already."""
        due: list[str] = []
        while (next_at := self.next_at()) is not None and next_at <= now:
            due.append(heapq.heappop(self._moments)[2])
        return due

    def next_at(self) -> float | None:
        """When the next one may be due; None if there is none."""
        while self._read_to != ALL_MOMENTS and (not self._moments or self._moments[0][:2] > self._read_to):
            found, self._read_to = self._store.returning(self._read_to, self._postponed, BLOCK)
            for moment in found:
                heapq.heappush(self._moments, moment)
        return self._moments[0][0] if self._moments else None

    def committed(self) -> None:
        """The added links are in the store now."""
        kept = self._store.at_hand
        if kept is not None and len(self._moments) > 2 * kept:
            self._moments = heapq.nsmallest(kept, self._moments)
            self._read_to = min(self._read_to, self._moments[-1][:2])


# Pending requests for robots.txt: by the host that receives the request, with the hosts that wait for the result.


class RobotsQueue:
    """A URL is queued at its host, then requested, then answered; it is requested once, however many hosts wait for it.
    Every host with a queue has a time in `_due`, unless it is busy: `wake` is called at the end of a visit."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[str]] = {}
        self._queues: dict[str, dict[str, None]] = {}
        self._due: list[tuple[float, str]] = []

    def __contains__(self, host: object) -> bool:
        """Whether requests for robots.txt are queued at the host."""
        return host in self._queues

    def add(self, url: str, host: str, asked_by: str) -> bool:
        """`host` receives the request. Returns whether the URL is new here."""
        if url in self._waiting:
            self._waiting[url].append(asked_by)
            return False
        self._waiting[url] = [asked_by]
        self._queues.setdefault(host, {})[url] = None
        return True

    def wake(self, host: str, at: float) -> None:
        """Schedules a check of the queue of a host."""
        if host in self._queues:
            heapq.heappush(self._due, (at, host))

    def due(self, now: float) -> str | None:
        """The next host to be checked."""
        while self._due and self._due[0][0] <= now:
            host = heapq.heappop(self._due)[1]
            if host in self._queues:
                return host
        return None

    def take(self, host: str) -> str:
        """Removes and returns the next URL of a host that is due."""
        queue = self._queues[host]
        url = next(iter(queue))
        del queue[url]
        if not queue:
            del self._queues[host]
        return url

    def call_off(self, refused: Callable[[str], bool]) -> list[str]:
        """Cancels the requests not sent yet whose URLs are `refused`. Returns the hosts that waited for them."""
        off = [(host, url) for host, queue in self._queues.items() for url in queue if refused(url)]
        for host, url in off:
            del self._queues[host][url]
        self._queues = {host: queue for host, queue in self._queues.items() if queue}
        return [name for _, url in off for name in self.answered(url)]

    def answered(self, url: str) -> list[str]:
        """Returns and removes the hosts that waited for it, in the order they were added."""
        return self._waiting.pop(url, [])

    @property
    def wake_at(self) -> float | None:
        return self._due[0][0] if self._due else None
