"""Was every host delay kept? Read from the events alone."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from operator import itemgetter

from spoor.events import Event, Failed, HostOpened, Redirected, SitemapRead, Visited
from spoor.robots import Known, RobotsFile, delay_for


@dataclass
class LastVisits:
    """A server as visits to it begin and end, in the order in which they begin; up to `connections` may be under way at
    once. A delay counts from the last end, and from the last beginning while that visit is under way."""

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


class RobotsHistory:
    """What was known of robots.txt files at any time."""

    def __init__(self) -> None:
        self._files: dict[str, list[tuple[float, RobotsFile]]] = {}

    def note(self, at: float, file: RobotsFile) -> None:
        """In the order in which they came."""
        self._files.setdefault(file.url, []).append((at, file))

    def as_of(self, moment: float) -> Known:
        def known(url: str) -> RobotsFile | None:
            files = self._files.get(url, ())
            place = bisect_right(files, moment, key=itemgetter(0))
            return files[place - 1][1] if place else None

        return known

    def last(self, url: str) -> float:
        """When a file came last; infinity: it never did."""
        return self._files[url][-1][0] if url in self._files else inf


@dataclass(frozen=True)
class Violation:
    """A visit that began too soon after the one before it. Times in seconds."""

    host: str
    at: float
    delay: float
    due: float


@dataclass(frozen=True)
class Politeness:
    """`tightest` is the smallest share of the due delay that any host got: 1 or more is right, None: no host
    was visited twice."""

    hosts: int
    visits: int
    tightest: float | None
    violations: tuple[Violation, ...]


def politeness(events: Iterable[Event], delay: float) -> Politeness:
    """`delay` is due between the end of a visit and the start of the next, until the rules of a host ask for more,
    wherever they lie. One visit at a time to a host; robots.txt is a visit like others."""
    files = RobotsHistory()
    hosts: dict[str, LastVisits] = {}
    visits, tightest, violations = 0, float("inf"), []
    for event in events:
        if not isinstance(event, Visited | Redirected | Failed | HostOpened | SitemapRead):
            continue
        host, began, visits = event.visit.host, event.visit.at, visits + 1
        due = max(delay, delay_for(files.as_of(began), host))
        earlier = hosts.setdefault(host, LastVisits())
        since = earlier.since(began)
        if due:
            tightest = min(tightest, share(since, began, due))
            if began < since + due:
                violations.append(Violation(host, began, began - since, due))
        earlier.visit(began, event.at)
        if isinstance(event, HostOpened):
            files.note(event.at, RobotsFile(event.visit.url, inf, event.delay))
        elif isinstance(event, Redirected) and event.visit.purpose == "robots":
            files.note(event.at, RobotsFile(event.visit.url, inf, leads_to=event.to))
    return Politeness(len(hosts), visits, None if tightest == float("inf") else tightest, tuple(violations))


def share(since: float, began: float, due: float) -> float:
    """The share of the due delay that was kept; 1 or more is all of it, however large seconds are rounded."""
    given = (began - since) / due
    return given if began < since + due else max(1.0, given)
