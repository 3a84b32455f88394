"""Was every host left in peace as long as it should? Read from the events alone."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from spoor.events import Event, Failed, HostOpened, Redirected, Visited


@dataclass
class Peace:
    """A server as visits to it begin and end. They are told in the order in which they begin; up to `connections` may
    be under way at once. A rest counts from the last end, and from the last beginning while that visit is under way."""

    connections: int = 1
    _ends: list[float] = field(default_factory=list, init=False)
    _since: float = field(default=float("-inf"), init=False)

    def since(self, now: float) -> float:
        """From when on nobody came, as of `now`: minus infinity if nobody ever did, later than `now` if too many are
        there already."""
        while self._ends and self._ends[0] <= now:
            self._since = max(self._since, heapq.heappop(self._ends))
        return self._ends[0] if len(self._ends) >= self.connections else self._since

    def visit(self, began: float, ended: float) -> None:
        heapq.heappush(self._ends, ended)
        self._since = max(self._since, began)


@dataclass(frozen=True)
class Violation:
    """A visit that began too soon after the one before it. Times in seconds."""

    host: str
    at: float
    rest: float
    due: float


@dataclass(frozen=True)
class Politeness:
    """`tightest` is the smallest share of the rest due that any host got: 1 or more is a promise kept, None: no host
    was visited twice."""

    hosts: int
    visits: int
    tightest: float | None
    violations: tuple[Violation, ...]


def politeness(events: Iterable[Event], rest: float) -> Politeness:
    """`rest` is due between the end of a visit and the start of the next, until a host's own rules ask for more. One
    visit at a time to a host."""
    due: dict[str, float] = {}
    hosts: dict[str, Peace] = {}
    visits, tightest, violations = 0, float("inf"), []
    for event in events:
        if not isinstance(event, Visited | Redirected | Failed | HostOpened):
            continue
        host, began, visits = event.visit.host, event.visit.at, visits + 1
        wanted = due.get(host, rest)
        peace = hosts.setdefault(host, Peace())
        since = peace.since(began)
        if wanted:
            tightest = min(tightest, share(since, began, wanted))
            if began < since + wanted:
                violations.append(Violation(host, began, began - since, wanted))
        peace.visit(began, event.at)
        if isinstance(event, HostOpened):
            due[host] = event.rest
    return Politeness(len(hosts), visits, None if tightest == float("inf") else tightest, tuple(violations))


def share(since: float, began: float, due: float) -> float:
    """How much of the rest due was given; 1 or more is all of it, whatever the rounding of large numbers of seconds."""
    given = (began - since) / due
    return given if began < since + due else max(1.0, given)
