"""The hosts that are in memory: those that are busy, those whose links are soonest, and those of the last batches."""

from __future__ import annotations

from collections.abc import Container, Iterator

from spoor.frontier.entry import Order
from spoor.frontier.host import Host
from spoor.frontier.read_ahead import ALL_READ, NOTHING_READ
from spoor.frontier.store import LinkStore

BLOCK = 256
"""Hosts that are read at once."""


class Reading:
    """How far the hosts that have something waiting were read: all whose first link is at a place up to `to` are in
    memory, but for those that have not rested `early` seconds from now since the crawl was resumed. When more of them
    have, it begins again."""

    def __init__(self, store: LinkStore, early: float = 0.0) -> None:
        self._store = store
        self._early = early
        self.begin_again()

    def begin_again(self) -> None:
        self.to: Order = NOTHING_READ
        self.again_at: float | None = None
        """When more hosts will have rested; None: all have, or nobody has asked yet."""
        self._is_heeded = False

    def heed(self, now: float) -> None:
        """To be called before `to` is relied on."""
        if not self._is_heeded or (self.again_at is not None and self.again_at <= now):
            rested = self._store.next_rested(now + self._early)
            self.to, self.again_at = NOTHING_READ, None if rested is None else rested - self._early
            self._is_heeded = True

    def on(self, now: float, known: Container[str]) -> list[Host]:
        """The next hosts, in order, but for those that are `known`."""
        found, self.to = self._store.hosts_after(self.to, BLOCK, now + self._early, known)
        return found

    def back_to(self, order: Order) -> None:
        self.to = min(self.to, order)


class Hosts:
    """By name. What a host that is not here is like, the store knows: since the last commit nothing has changed."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._at_hand: dict[str, Host] = {}
        self._most = 2 * (store.at_hand or 0)

    def __len__(self) -> int:
        return len(self._at_hand)

    def __iter__(self) -> Iterator[Host]:
        return iter(self._at_hand.values())

    def __contains__(self, name: object) -> bool:
        return name in self._at_hand

    def get(self, name: str) -> Host | None:
        return self._at_hand.get(name)

    def put(self, host: Host) -> None:
        self._at_hand[host.name] = host

    def tidy(self, busy: Container[str], *readings: Reading) -> bool:
        """After a commit: too many hosts, and those that can be read again go. `busy` are those that must stay besides
        the ones that are visited. Says whether any went."""
        if self._store.at_hand is None or len(self) <= self._most:
            return False
        orders = sorted(host.order for host in self if host.order is not None)
        last = orders[self._store.at_hand - 1] if len(orders) > self._store.at_hand else ALL_READ
        for reading in readings:
            reading.back_to(last)
        last = max(reading.to for reading in readings)
        self._at_hand = {
            host.name: host
            for host in self
            if host.visiting or host.waits_for or host.name in busy or (host.order is not None and host.order <= last)
        }
        self._most = 2 * max(len(self), self._store.at_hand)
        return True
