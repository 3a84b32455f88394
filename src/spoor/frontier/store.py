"""The role behind the frontier: where entries and hosts are kept. It keeps; the frontier decides. And what a strategy
may see of the links that wait there."""

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
"""Before every hash of a URL."""
ALL_MOMENTS: Moment = (math.inf, 0)
"""After every moment."""


@dataclass(slots=True)
class Counters:
    """What a frontier must not forget besides entries and hosts."""

    arrivals: int = 0
    visits: int = 0
    excused: int = 0
    by_state: dict[State, int] = field(default_factory=lambda: dict.fromkeys(State, 0))


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is to become of times in the future when a crawl is resumed: by `ahead` seconds the clock was ahead of what
    it says now when they were written down, and none may lie more than `longest` seconds from now. A robots.txt counts
    no longer than `rules_last`; a link that the process may have died of returns at `died_until`."""

    now: float
    ahead: float
    longest: float
    rules_last: float
    died_until: float

    def bounded(self, at: float, longest: float) -> float:
        return at if at <= self.now else min(max(at - self.ahead, self.now), self.now + longest)


class LinkStore(Protocol):
    """Changes become durable together, at `commit`; what was saved is seen by `find` and `best` at once."""

    @property
    def at_hand(self) -> int | None:
        """How many hosts, and how many links that return, a frontier keeps in memory; None: all."""
        ...

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        """What is known of each URL, in the same order."""
        ...

    def save(self, entry: Entry) -> None:
        """Insert the entry, or note that it has changed. Its host was saved before."""
        ...

    def best(self, host: str) -> Entry | None:
        """The waiting entry of a host that is first in order; None: nothing of it waits."""
        ...

    def first_place(self, host: str) -> Order | None:
        """Where that is. It takes less time to tell."""
        ...

    def links_found_on(self, url: str, most: int) -> list[Entry]:
        """The waiting entries that were first found on a page, by arrival, up to `most`."""
        ...

    def some(self, turn: int, count: int) -> list[Entry]:
        """Up to `count` of the waiting entries that were there at the last commit, in the order they came; turn by turn
        others, and all again and again."""
        ...

    def waiting_keys(self) -> Iterator[tuple[Key, int]]:
        """How many entries wait at each key, as of the last commit, in any order; a key may come several times."""
        ...

    def in_state(self, state: State) -> Iterator[Entry]:
        """All entries in a state as of the last commit, by arrival. For the few that were in transit when a crawl
        stopped."""
        ...

    def parked(self, host: str, because: str, after: int, most: int) -> tuple[list[Entry], int | None]:
        """The next links of a host that are parked for this reason, as of the last commit; and what to give as `after`
        to go on, None: these were the last. `FIRST_HASH` begins."""
        ...

    def host_names(self) -> Iterator[str]:
        """Of all hosts, as of the last commit."""
        ...

    def returning(self, after: Moment, put_off: bool, most: int) -> tuple[list[tuple[float, int, str]], Moment]:
        """The next links that return after a moment, as of the last commit: when, their arrival and URL; and the moment
        up to which these are all. `put_off`: those for which nobody waits, or the others."""
        ...

    def save_host(self, host: Host) -> None:
        """Its `order` is that of its best waiting entry at the next commit."""
        ...

    def host(self, name: str) -> Host | None:
        """As saved, at the last commit at least; None: never."""
        ...

    def hosts_after(self, order: Order, most: int, now: float, known: Container[str]) -> tuple[list[Host], Order]:
        """The next hosts that have something waiting, by the place of their first link, as of the last commit; and the
        place up to which these are all. Left out are those whose delay since the crawl was resumed is not over at
        `now`, and those that are `known` by their names."""
        ...

    def resume(self, at: float) -> None:
        """The delays of the hosts that are known by now begin then: `host` and `hosts_after` say so."""
        ...

    def next_delay_end(self, now: float) -> float | None:
        """When the next of these delays will be over; None: all are."""
        ...

    def save_robots(self, file: RobotsFile, text: str) -> None:
        """What is known of a robots.txt, in place of what was."""
        ...

    def robots_file(self, url: str) -> RobotsFile | None:
        """As saved last; None: nothing was."""
        ...

    def robots_text(self, url: str) -> str:
        """As saved last; "" when nothing was."""
        ...

    def bound(self, bounds: Bounds) -> None:
        """Brings the times of hosts, robots.txt files and returning links within bounds, at once and durably. Before
        anything else is asked of a crawl that is resumed."""
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
