"""The order of hosts: by their best waiting links, among the hosts that are available now or soon."""

from __future__ import annotations

import heapq
from collections.abc import Container

from spoor.frontier.addresses import AGAIN, Addresses
from spoor.frontier.entry import Entry, Host, HostRules, Order, key_at
from spoor.frontier.hosts import Hosts, Reading
from spoor.frontier.queues import ALL_READ, Item
from spoor.frontier.store import Bounds, LinkStore
from spoor.records import Key

SLACK = 64
SOON = 30.0
"""Seconds: a host that is free again within this time may be worth waiting for, unless it failed."""


class HostQueue:
    """A host is closed, free, busy or delayed. Every host with a waiting link, a free connection and no delay has its
    head in `_ready`, or is in the store, beyond the position up to which `_ready_read` has been read. A position in
    `_ready` that is no longer the head of its host, or whose host is not in memory, is skipped when it surfaces.
    `_heads` is the same for hosts that are free soon; `_later` has the times when the other hosts will be. `_delayed`
    has the times when the delays of hosts end. Links of `_demoted` hosts are selected only while no others wait
    (`_only_demoted_wait`)."""

    def __init__(self, store: LinkStore, rules: HostRules, resumed_at: float | None) -> None:
        self._store = store
        self._rules = rules
        self._resumed_at = resumed_at
        self._at_hand = Hosts(store)
        self._ready_read, self._heads_read = Reading(store), Reading(store, early=SOON)
        self._ready: list[Item] = []
        self._heads: list[Item] = []
        self._later: list[tuple[float, str]] = []
        self._delayed: list[tuple[float, str]] = []
        self.addresses = Addresses(rules, self._at_hand.values(), self._show_again)
        self._reserved: dict[str, int] = {}
        self._demoted: set[str] = set()
        self._only_demoted_wait = False

    def __len__(self) -> int:
        """The number of hosts in memory."""
        return len(self._at_hand)

    def host(self, name: str) -> Host:
        host = self._at_hand.get(name)
        if host is None and (host := self._store.host(name)) is not None:
            self._take_in(host)
        if host is None:
            host = Host(name, self._rules.delay)
            self._at_hand.put(host)
            self._store.save_host(host)
        return host

    def _take_in(self, host: Host) -> None:
        """Takes in a host loaded from the store."""
        self._at_hand.put(host)
        self._delay_since_resumed(host)
        self.show(host)

    def _delay_since_resumed(self, host: Host) -> None:
        if host.free_at:
            heapq.heappush(self._delayed, (host.free_at, host.name))
        since = host.free_at - host.delay if self._resumed_at is None else self._resumed_at
        self.addresses.delay(host.address, since)

    # Selecting the next host.

    def peek(self, now: float) -> Entry | None:
        """The best link whose host is available now; None if no host is."""
        self._end_delays(now)
        self._ready_read.heed(now)
        while (host := self._first_ready(now)) is None and self._read_on(self._ready_read, now):
            pass
        return None if host is None else host.head

    def _first_ready(self, now: float) -> Host | None:
        """None if more hosts must be read first, or no host is available."""
        while self._ready and (order := self._ready[0][:-1]) <= self._ready_read.to:
            host = self._at_hand.get(self._ready[0][-1])
            if host is None or order != host.order:
                heapq.heappop(self._ready)
            elif not self._available(host, now):
                host.among_ready = False
                heapq.heappop(self._ready)
            elif self._has_head(host):
                return host
        return None

    def foremost(self, now: float) -> Entry | None:
        """The best waiting link of all hosts that are free now or soon; None if no link waits there."""
        while self._later and self._later[0][0] <= now:
            self._show_again(heapq.heappop(self._later)[1])
        self._heads_read.heed(now)
        while (host := self._first_head(now)) is None and self._read_on(self._heads_read, now):
            pass
        return None if host is None else host.head

    def best_keys(self, most: int, until: float) -> list[Key]:
        """The keys of the best waiting links of hosts that can receive a request by `until`, best first: for a page, or
        for the robots.txt that is needed first."""
        free = [host for host in self._at_hand.values() if host.visiting < self._rules.connections]
        free = [host for host in free if not self._comes_last(host)]
        orders = [host.order for host in free if host.order is not None and self._is_free_by(host, until)]
        return [key_at(order) for order in heapq.nsmallest(most, orders)]

    def _first_head(self, now: float) -> Host | None:
        """None if more hosts must be read first, or no host is free soon."""
        while self._heads and (order := self._heads[0][:-1]) <= self._heads_read.to:
            name = self._heads[0][-1]
            host = self._at_hand.get(name)
            if host is None or order != host.order:
                heapq.heappop(self._heads)
            elif not self._free_soon(host, now):
                if host.free_at > now:
                    heapq.heappush(self._later, (host.free_at - _soon(host), name))
                host.among_heads = False
                heapq.heappop(self._heads)
            elif self._has_head(host):
                return host
        return None

    def _read_on(self, reading: Reading, now: float) -> bool:
        """Reads more hosts with waiting links; False if all have been read."""
        if reading.to == ALL_READ:
            return False
        for host in reading.on(now, self._at_hand):
            self._take_in(host)
        self._end_delays(now)
        return True

    def _has_head(self, host: Host) -> bool:
        """Whether the best link of a host is at the position recorded for the host; if not, the host is moved."""
        if host.head is None:
            head = self._store.best(host.name)
            if head is None or head.order != host.order:
                self._lead(host, None if head is None else head.order, head)
                self.show(host)
                return False
            host.head = head
        return True

    def _available(self, host: Host, now: float) -> bool:
        is_held_back = host.waits_for or host.name in self._reserved or self._comes_last(host)
        return not is_held_back and self.can_be_asked(host, now)

    def _free_soon(self, host: Host, now: float) -> bool:
        """Excludes hosts that failed, busy hosts that have not answered for long, and those whose links come last."""
        if self._comes_last(host):
            return False
        busy = host.visiting >= self._rules.connections or bool(host.waits_for)
        return host.free_at <= now + _soon(host) and (not busy or now < host.free_at + SOON)

    # Changes of the best link of a host.

    def link_placed(self, entry: Entry) -> None:
        """A link waits at a new position."""
        self._only_demoted_wait = self._only_demoted_wait and entry.host in self._demoted
        self._placed(self.host(entry.host), entry, entry.order)

    def _placed(self, host: Host, entry: Entry, order: Order) -> None:
        if host.order is None or order < host.order:
            self._lead(host, order, entry)
            self.show(host)

    def changed(self, entry: Entry, was: Order | None) -> None:
        """The evidence of a waiting link changed, and its position from `was`; None if the position is the same."""
        host, order = self.host(entry.host), entry.order
        if was is None:
            if host.head is not None and host.head.url == entry.url:
                host.head = entry
        elif host.order == was and order > was:
            self._lead(host, self._store.first_place(host.name))
            self.show(host)
        else:
            self._placed(host, entry, order)

    def left(self, host: Host, entry: Entry) -> None:
        """A link of the host is no longer waiting."""
        if host.order == entry.order:
            self._lead(host, self._store.first_place(host.name))
        self.show(host)

    def _lead(self, host: Host, order: Order | None, head: Entry | None = None) -> None:
        if host.lead(order, head):
            self._store.save_host(host)

    def show(self, host: Host) -> None:
        """Puts the head of a host into the queues, into `_ready` only if the host has a connection left."""
        if host.order is None:
            return
        if not host.among_heads:
            heapq.heappush(self._heads, (*host.order, host.name))
            host.among_heads = True
        if not host.among_ready and host.visiting < self._rules.connections:
            heapq.heappush(self._ready, (*host.order, host.name))
            host.among_ready = True
        if len(self._heads) > 4 * len(self._at_hand) + SLACK:
            self._tidy()

    def _show_again(self, name: str) -> None:
        if (host := self._at_hand.get(name)) is not None:
            self.show(host)

    def _tidy(self) -> None:
        """Removes outdated positions, so that neither queue is longer than the number of hosts in memory."""
        self._heads = [(*host.order, host.name) for host in self._at_hand.values() if host.order is not None]
        self._ready = [*self._heads]
        for host in self._at_hand.values():
            host.among_heads = host.among_ready = host.order is not None
        heapq.heapify(self._heads)
        heapq.heapify(self._ready)

    # Requests and delays.

    def can_be_asked(self, host: Host, now: float) -> bool:
        return host.visiting < self._rules.connections and host.free_at <= now and self._address_is_free(host, now)

    def _address_is_free(self, host: Host, now: float) -> bool:
        """Whether the delay of the IP address of a host is over, and this shard holds the address; if not, the host is
        shown again when that changes."""
        if not self.addresses.is_turn_of(host):
            return False
        free_at = self.addresses.free_at(host.address)
        if free_at > now:
            heapq.heappush(self._delayed, (free_at, host.name))
        return free_at <= now

    def _is_free_by(self, host: Host, until: float) -> bool:
        return max(host.free_at, self.addresses.free_at(host.address)) <= until and self.addresses.is_turn_of(host)

    def free_at(self, host: Host, now: float) -> float:
        """When the delays of the host and of its IP address are over, or when to ask again."""
        turn = now if self.addresses.is_turn_of(host) else now + AGAIN
        return max(host.free_at, self.addresses.free_at(host.address), turn)

    def begin_visit(self, host: Host, now: float) -> None:
        host.begin(now)
        self._delay(host, now)

    def end_visit(self, host: Host, now: float) -> None:
        host.end(now)
        self._delay(host, now)
        self.show(host)

    def delay_until(self, host: Host, now: float, until: float) -> None:
        host.free_at = max(host.free_at, until)
        self._delay(host, now)

    def _delay(self, host: Host, now: float) -> None:
        """Starts the delays of the host and its address."""
        self.addresses.delay(host.address, now)
        self.sleep(host, now)

    def sleep(self, host: Host, now: float) -> None:
        """Schedules the end of the delay of a host, whether or not it has waiting links."""
        if host.free_at > now:
            heapq.heappush(self._delayed, (host.free_at, host.name))
            self._store.save_host(host)

    def _end_delays(self, now: float) -> None:
        while self._delayed and self._delayed[0][0] <= now:
            self._show_again(heapq.heappop(self._delayed)[1])

    def wake_times(self) -> tuple[float | None, float | None]:
        """When the next delay of a host ends, for hosts in memory and for hosts in the store; None if there is none."""
        return self._delayed[0][0] if self._delayed else None, self._ready_read.again_at

    def count_delayed(self) -> int:
        """As of the last `peek`."""
        return len({name for _, name in self._delayed})

    def reserve(self, name: str) -> None:
        """Blocks all links of the host."""
        self._reserved[name] = self._reserved.get(name, 0) + 1

    def unreserve(self, name: str) -> None:
        self._reserved[name] -= 1
        if not self._reserved[name]:
            del self._reserved[name]
            self.show(self.host(name))

    # Hosts whose links come after those of all others.

    def _comes_last(self, host: Host) -> bool:
        return host.name in self._demoted and not self._only_demoted_wait

    def demote(self, name: str) -> bool:
        is_new = name not in self._demoted
        self._demoted.add(name)
        return is_new

    def restore(self, name: str) -> bool:
        if name not in self._demoted:
            return False
        self._demoted.discard(name)
        self._only_demoted_wait = False
        self.show(self.host(name))
        return True

    def turn_to_demoted(self) -> bool:
        """After `peek` found nothing, so that all hosts with waiting links were read, except those whose delay since
        the crawl was resumed is not over."""
        if self._only_demoted_wait or not self._demoted or self._ready_read.again_at is not None:
            return False
        if any(host.order is not None and host.name not in self._demoted for host in self._at_hand.values()):
            return False
        self._only_demoted_wait = True
        for name in self._demoted:
            self.show(self.host(name))
        return True

    # Resuming a crawl; committing a batch.

    def reopen(self, bounds: Bounds) -> None:
        """Before the first visit of a resumed crawl, after the times in the store were bounded."""
        self._delayed, self._later = [], []
        self.addresses.forget_delays()
        for host in self._at_hand.values():
            own = min(host.free_at, bounds.now + host.delay)
            host.free_at = max(bounds.bounded(host.free_at, bounds.longest), own)
            self._delay_since_resumed(host)
        self._ready_read.begin_again()
        self._heads_read.begin_again()

    def committed(self, busy: Container[str]) -> None:
        """If there are too many hosts in memory, removes those that can be read again. `busy` hosts are kept."""
        if self._at_hand.tidy(busy, self._ready_read, self._heads_read):
            self._tidy()
            for heap in (self._later, self._delayed):
                heap[:] = [(at, name) for at, name in heap if name in self._at_hand]
                heapq.heapify(heap)


def _soon(host: Host) -> float:
    """How long before the end of a delay the host may be worth waiting for. A delay that is longer than the usual one
    of the host follows a failure, and may well be followed by another."""
    return min(SOON, host.delay)
