"""Checks from the events whether every host delay was kept."""

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
    """The visits to a server, added in the order in which they began; up to `connections` may overlap. A delay counts
    from the latest end, or from the latest start while that visit is still running."""

    connections: int = 1
    _ends: list[float] = field(default_factory=list, init=False)
    _since: float = field(default=float("-inf"), init=False)

    def since(self, now: float) -> float:
        """The time since which no visit began or ended, as of `now`. Minus infinity if there was none; later than `now`
        if all connections are in use."""
        while self._ends and self._ends[0] <= now:
            self._since = max(self._since, heapq.heappop(self._ends))
        return self._ends[0] if len(self._ends) >= self.connections else self._since

    def visit(self, began: float, ended: float) -> None:
        heapq.heappush(self._ends, ended)
        self._since = max(self._since, began)


class RobotsHistory:
    """The known robots.txt files as of any point in time."""

    def __init__(self) -> None:
        self._files: dict[str, list[tuple[float, RobotsFile]]] = {}

    def note(self, at: float, file: RobotsFile) -> None:
        """Call in chronological order."""
        self._files.setdefault(file.url, []).append((at, file))

    def as_of(self, moment: float) -> Known:
        def known(url: str) -> RobotsFile | None:
            files = self._files.get(url, ())
            place = bisect_right(files, moment, key=itemgetter(0))
            return files[place - 1][1] if place else None

        return known

    def last(self, url: str) -> float:
        """When the file was last received; infinity if never."""
        return self._files[url][-1][0] if url in self._files else inf


@dataclass(frozen=True)
class Violation:
    """A visit that began too soon after the previous one. Times in seconds."""

    host: str
    at: float
    delay: float
    due: float


@dataclass(frozen=True)
class Politeness:
    """`tightest` is the smallest ratio of kept to due delay of any host: at least 1 if all delays were kept, None if no
    host was visited twice."""

    hosts: int
    visits: int
    tightest: float | None
    violations: tuple[Violation, ...]


def politeness(events: Iterable[Event], delay: float) -> Politeness:
    """`delay` is due between the end of a visit and the start of the next, unless the robots.txt of the host, possibly
    behind a redirect, demands more. One visit at a time per host; fetching robots.txt is a visit like any other."""
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
    """The ratio of kept to due delay. At least 1 if the delay was kept, even if rounding of large timestamps would give
    less."""
    given = (began - since) / due
    return given if began < since + due else max(1.0, given)
