"""Was every host left in peace as long as it should? Read from the events alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spoor.events import Event, Failed, HostOpened, Redirected, Visited

ROUNDING = 1e-9


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
    """`rest` is due between the end of a visit and the start of the next, until a host's own rules ask for more."""
    due: dict[str, float] = {}
    ended: dict[str, float] = {}
    visits, tightest, violations = 0, float("inf"), []
    for event in events:
        if not isinstance(event, Visited | Redirected | Failed | HostOpened):
            continue
        host, visits = event.visit.host, visits + 1
        wanted = due.get(host, rest)
        if host in ended and wanted:
            rested = event.visit.at - ended[host]
            tightest = min(tightest, (rested + ROUNDING) / wanted)
            if rested + ROUNDING < wanted:
                violations.append(Violation(host, event.visit.at, rested, wanted))
        ended[host] = event.at
        if isinstance(event, HostOpened):
            due[host] = event.rest
    return Politeness(len(ended), visits, None if tightest == float("inf") else tightest, tuple(violations))
