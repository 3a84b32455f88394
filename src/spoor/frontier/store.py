"""The storage interface of the frontier: a store keeps entries and hosts, the frontier decides. And the view of waiting
links that a strategy has."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spoor.frontier.entry import OPEN, Entry, Host, Order, State
from spoor.records import Evidence, Key, WaitingLink
from spoor.robots import RobotsFile

Moment = tuple[float, int]
"""When a link may be tried again, and its arrival: the order in which links return."""
FIRST_HASH = -(2**63)
"""Less than every hash of a URL."""
ALL_MOMENTS: Moment = (math.inf, 0)
"""After every moment."""
OF_PAGE = 4_096
"""Links of a page that are compared by arrival: a page may have hundreds of thousands."""


@dataclass(slots=True)
class Counters:
    """The counters that a frontier stores besides entries and hosts."""

    arrivals: int = 0
    visits: int = 0
    excused: int = 0
    by_state: dict[State, int] = field(default_factory=lambda: dict.fromkeys(State, 0))


@dataclass(frozen=True, slots=True)
class Bounds:
    """How future times are adjusted when a crawl is resumed: the clock has been set back by `ahead` seconds since they
    were stored, and none may be more than `longest` seconds from now. A robots.txt is valid for at most `rules_last`; a
    link that may have killed the process returns at `died_until`."""

    now: float
    ahead: float
    longest: float
    rules_last: float
    died_until: float

    def bounded(self, at: float, longest: float) -> float:
        return at if at <= self.now else min(max(at - self.ahead, self.now), self.now + longest)


class LinkStore(Protocol):
    """Stores entries and hosts. Changes become durable together, at `commit`; `find` and `best` see them at once."""

    @property
    def at_hand(self) -> int | None:
        """How many hosts, and how many returning links, a frontier keeps in memory; None for all."""
        ...

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        """The entry of each URL, in the same order."""
        ...

    def save(self, entry: Entry) -> None:
        """Inserts or updates the entry. Its host was saved before."""
        ...

    def best(self, host: str) -> Entry | None:
        """The first waiting entry of a host in the order of the queue; None if nothing waits there."""
        ...

    def first_place(self, host: str) -> Order | None:
        """Its position. Faster than `best`."""
        ...

    def links_found_on(self, url: str, most: int) -> list[Entry]:
        """The waiting entries that were first found on a page, by arrival, up to `most`; only among the first `OF_PAGE`
        of them in the order of insertion."""
        ...

    def some(self, turn: int, count: int) -> list[Entry]:
        """Up to `count` of the waiting entries as of the last commit, in the order of insertion. Increasing `turn`
        cycles through all of them."""
        ...

    def waiting_keys(self) -> Iterator[tuple[Key, int]]:
        """The number of waiting entries at each key, as of the last commit, in any order; a key may occur several
        times."""
        ...

    def in_state(self, state: State) -> Iterator[Entry]:
        """All entries in a state as of the last commit, by arrival. For the few that were in transit when a crawl
        stopped."""
        ...

    def parked(self, host: str, because: str, after: int, most: int) -> tuple[list[Entry], int | None]:
        """The next links of a host that are parked for this reason, as of the last commit; and the next value for
        `after`, None if there are no more. Start with `FIRST_HASH`."""
        ...

    def host_names(self) -> Iterator[str]:
        """The names of all hosts, as of the last commit."""
        ...

    def returning(self, after: Moment, postponed: bool, most: int) -> tuple[list[tuple[float, int, str]], Moment]:
        """The next links that return after a moment, as of the last commit: time, arrival and URL; and the moment up to
        which this is complete. `postpone`: the postponed links, or the others."""
        ...

    def save_host(self, host: Host) -> None:
        """Its `order` must be that of its best waiting entry at the next commit."""
        ...

    def host(self, name: str) -> Host | None:
        """As saved, at least as of the last commit; None if it never was."""
        ...

    def hosts_after(self, order: Order, most: int, now: float, known: Container[str]) -> tuple[list[Host], Order]:
        """The next hosts with waiting links, by the position of their first link, as of the last commit; and the
        position up to which this is complete. Omits hosts whose delay since the crawl was resumed is not over at `now`,
        and hosts whose names are `known`."""
        ...

    def resume(self, at: float) -> None:
        """The delays of all known hosts start then, as reflected in `host` and `hosts_after`."""
        ...

    def next_delay_end(self, now: float) -> float | None:
        """When the next of these delays ends; None if all have ended."""
        ...

    def save_robots(self, file: RobotsFile, text: str) -> None:
        """Stores a robots.txt, replacing the earlier one."""
        ...

    def robots_file(self, url: str) -> RobotsFile | None:
        """As last saved; None if it never was."""
        ...

    def robots_text(self, url: str) -> str:
        """As last saved; "" if it never was."""
        ...

    def bound(self, bounds: Bounds) -> None:
        """Brings the times of hosts, robots.txt files and returning links within bounds, at once and durably. To be
        called first when a crawl is resumed."""
        ...

    def counters(self) -> Counters: ...

    def commit(self, counters: Counters) -> None: ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """The role `WaitingLinks`."""

    store: LinkStore
    counters: Counters

    def evidence_of(self, url: str) -> Evidence | None:
        (entry,) = self.store.find([url])
        return entry.evidence if entry is not None and entry.state in OPEN else None

    def links_found_on(self, url: str, most: int) -> list[WaitingLink]:
        return _links(self.store.links_found_on(url, most))

    def some(self, most: int) -> list[WaitingLink]:
        return _links(entry for entry in self.store.some(self.counters.visits, most) if entry.hints)


def _links(entries: Iterable[Entry]) -> list[WaitingLink]:
    return [WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints) for entry in entries]
