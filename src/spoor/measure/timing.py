"""When the visits of a run began and ended on the virtual clock, and what that says: idle time, time until, area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.events import Event, Failed, HostOpened, Redirected, Visited
from spoor.measure.politeness import Politeness, politeness

HORIZON = 4.0
"""The area by time counts so many times what the oracle needs for its last relevant page, as the budget by visits has
four visits for every relevant page."""


@dataclass(frozen=True)
class Timing:
    """Virtual seconds. `starts` and `ends` are those of the page visits, in the order in which they ended. `robots`
    counts requests for robots.txt; `busy` is the time of all requests added up, `elapsed` that of the last event."""

    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    robots: int
    busy: float
    elapsed: float
    connections: int
    politeness: Politeness

    @property
    def idle(self) -> float | None:
        """The share of the connections' time in which they had nothing to do; None: no time went by."""
        return 1.0 - self.busy / (self.connections * self.elapsed) if self.elapsed else None

    @property
    def pages_per_second(self) -> float:
        return len(self.ends) / self.elapsed if self.elapsed else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "elapsed": self.elapsed,
            "pages_per_second": self.pages_per_second,
            "hosts": self.politeness.hosts,
            "tightest": self.politeness.tightest,
            "violations": len(self.politeness.violations),
        }


def timing(events: Sequence[Event], connections: int, rest: float) -> Timing:
    """`rest` is the crawl delay of hosts whose own rules do not ask for more."""
    requests = [event for event in events if isinstance(event, Visited | Redirected | Failed | HostOpened)]
    pages = [event for event in requests if event.visit.purpose == "page"]
    return Timing(
        starts=np.array([event.visit.at for event in pages], np.float64),
        ends=np.array([event.at for event in pages], np.float64),
        robots=len(requests) - len(pages),
        busy=sum(event.at - event.visit.at for event in requests),
        elapsed=max((event.at for event in events), default=0.0),
        connections=connections,
        politeness=politeness(requests, rest),
    )


def time_until(found_at: Sequence[float], pages: float) -> float | None:
    """When so many relevant pages were found; None: never. `found_at` is the time of each, rising."""
    place = int(np.ceil(pages - 1e-9)) - 1
    return found_at[place] if place < len(found_at) else None


def horizon(of_oracle: Sequence[float]) -> float | None:
    """The seconds that count in the area by time; None: the oracle found nothing."""
    return HORIZON * of_oracle[-1] if of_oracle else None


def area_by_time(found_at: Sequence[float], relevant: int, until: float) -> float:
    """The mean of found(t) / relevant over the seconds from 0 to `until`."""
    return float(np.clip(until - np.array(found_at, np.float64), 0.0, None).sum()) / until / relevant
