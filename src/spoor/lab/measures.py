"""Measures computed from events: harvest, coverage, area, virtual time, and the measures of the Mongolian paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.events import Event, Failed, HostOpened, Redirected, SitemapRead, Visited
from spoor.lab.delays import Politeness, politeness

# Start and end of the visits of a run on the virtual clock: idle time, time until a share was found, area by time.


HORIZON = 4.0
"""The area by time extends to this many times the seconds that the oracle needs for its last relevant page, just as the
budget has four visits per relevant page."""


@dataclass(frozen=True)
class Timing:
    """Times in virtual seconds. `starts` and `ends` are those of the page visits, in order of their ends. `robots`
    counts all other requests (robots.txt, sitemaps); `busy` is the sum of all request durations, `elapsed` the time of
    the last event."""

    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    robots: int
    busy: float
    elapsed: float
    connections: int
    politeness: Politeness

    @property
    def idle(self) -> float | None:
        """The idle share of the time of all connections; None if no time passed."""
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


def timing(events: Sequence[Event], connections: int, delay: float) -> Timing:
    """`delay` is the host delay unless the robots.txt of a host demands more."""
    requests = [
        event for event in events if isinstance(event, Visited | Redirected | Failed | HostOpened | SitemapRead)
    ]
    pages = [event for event in requests if event.visit.purpose == "page"]
    return Timing(
        starts=np.array([event.visit.at for event in pages], np.float64),
        ends=np.array([event.at for event in pages], np.float64),
        robots=len(requests) - len(pages),
        busy=sum(event.at - event.visit.at for event in requests),
        elapsed=max((event.at for event in events), default=0.0),
        connections=connections,
        politeness=politeness(requests, delay),
    )


def time_until(found_at: Sequence[float], pages: float) -> float | None:
    """When that many relevant pages were found; None if never. `found_at` has the time of each, ascending."""
    place = int(np.ceil(pages - 1e-9)) - 1
    return found_at[place] if place < len(found_at) else None


def horizon(of_oracle: Sequence[float]) -> float | None:
    """The number of seconds that count in the area by time; None if the oracle found nothing."""
    return HORIZON * of_oracle[-1] if of_oracle else None


def area_by_time(found_at: Sequence[float], relevant: int, until: float) -> float:
    """The mean of found(t) / relevant over the seconds from 0 to `until`."""
    return float(np.clip(until - np.array(found_at, np.float64), 0.0, None).sum()) / until / relevant


# How soon a crawl found the relevant pages: harvest, coverage, area, queue.


CURVE_POINTS = 200


@dataclass(frozen=True)
class Run:
    """A crawl visit by visit: page number, whether it found a relevant page, queue length before it (itself included),
    whether the judge found it relevant, and bytes. A URL unknown to the web has the number -1; a visit without a page
    has 0 bytes. `seconds` is computing time. `failed` marks visits without a page, including redirects; None if
    unknown. `timing` is None in the lab, where nothing takes time."""

    order: NDArray[np.int32]
    found: NDArray[np.bool_]
    queue: NDArray[np.int32]
    stored: NDArray[np.bool_]
    sizes: NDArray[np.int32]
    seconds: float
    failed: NDArray[np.bool_] | None = None
    timing: Timing | None = None

    def beginning(self, visits: int) -> Run:
        """The run as if it had ended after that many visits."""
        order, found, queue = self.order[:visits], self.found[:visits], self.queue[:visits]
        return Run(order, found, queue, self.stored[:visits], self.sizes[:visits], self.seconds)


@dataclass(frozen=True)
class Yardstick:
    """Reference values of a task: reachable relevant pages, visits that count, and hosts with relevant pages.
    `page_hosts` has the host number of each page. The last two are None if hosts are unknown."""

    relevant: int
    budget: int
    relevant_hosts: int | None = None
    page_hosts: NDArray[np.int32] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class OrderScore:
    """The score of a strategy from one order of the seeds."""

    normalised: float | None
    normalised_time: float | None
    found: float
    visits: float
    failed: float | None
    elapsed: float | None
    half_time: float | None


@dataclass(frozen=True)
class Score:
    """One strategy on one web; field names are those of the JSON. `normalised`, `normalised_time` and `horizon` are
    None until the oracle is known, or if it found nothing. Figures that need a clock are None in the lab.
    `relevant_hosts`, the hosts with a relevant page found, is None if hosts are unknown. Over several orders of the
    seeds, figures are means, `spread` and `spread_time` are standard deviations of the normalised areas, and the curves
    are those of the first order. `found_at` has the virtual second of each relevant page of a single run."""

    strategy: str
    visits: float
    found: float
    area: float
    normalised: float | None
    r_precision: float
    n90: float | None
    coverage: float
    max_queue: float
    seconds: float
    curve: tuple[tuple[int, int, int], ...]
    relevant_hosts: float | None = None
    failed: float | None = None
    requests: float = 0
    requests_per_relevant: float | None = None
    normalised_time: float | None = None
    horizon: float | None = None
    elapsed: float | None = None
    idle: float | None = None
    half_time: float | None = None
    n90_time: float | None = None
    curve_time: tuple[tuple[float, int], ...] | None = None
    spread: float | None = None
    spread_time: float | None = None
    orders: tuple[OrderScore, ...] = ()
    found_at: tuple[float, ...] | None = field(default=None, repr=False)

    def as_json(self) -> dict[str, Any]:
        figures = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "found_at"}
        return figures | {"orders": [asdict(order) for order in self.orders]}


def measure(strategy: str, run: Run, against: Yardstick, ceiling: float | None = None) -> Score:
    """`ceiling` is the area of the oracle on the same task."""
    found = np.cumsum(run.found[: against.budget], dtype=np.int64)
    total = int(found[-1]) if len(found) else 0
    area = _area(found, against)
    score = Score(
        strategy=strategy,
        visits=len(found),
        found=total,
        area=area,
        normalised=share_of(ceiling, area),
        r_precision=float(_after(found, against.relevant)) / against.relevant,
        n90=_visits_until(found, 0.9 * against.relevant),
        coverage=total / against.relevant,
        max_queue=int(run.queue.max(initial=0)),
        seconds=round(run.seconds, 3),
        curve=_curve(found, run.queue),
        relevant_hosts=_hosts(run.beginning(against.budget), against),
        failed=None if run.failed is None or not len(found) else float(run.failed[: against.budget].mean()),
        requests=len(found),
        requests_per_relevant=len(found) / total if total else None,
    )
    return score if run.timing is None else _timed(score, run.timing, run.found, against)


def _timed(score: Score, timing: Timing, found: NDArray[np.bool_], against: Yardstick) -> Score:
    """A run with a clock ends with its budget, so all of it counts."""
    found_at = tuple(timing.ends[found].tolist())
    return replace(
        score,
        requests=score.visits + timing.robots,
        requests_per_relevant=(score.visits + timing.robots) / score.found if score.found else None,
        elapsed=timing.elapsed,
        idle=timing.idle,
        half_time=time_until(found_at, 0.5 * against.relevant),
        n90_time=time_until(found_at, 0.9 * against.relevant),
        curve_time=tuple((round(float(timing.ends[visits - 1]), 2), found) for visits, found, _ in score.curve),
        found_at=found_at,
    )


def beside(score: Score, oracle: Score, against: Yardstick) -> Score:
    """The score with its areas normalised by those of the oracle on the same task."""
    until = horizon(oracle.found_at or ())
    share = replace(score, normalised=share_of(oracle.area, score.area), horizon=until)
    if until is None or score.found_at is None or oracle.found_at is None:
        return share
    ceiling, area = (area_by_time(one, against.relevant, until) for one in (oracle.found_at, score.found_at))
    return replace(share, normalised_time=share_of(ceiling, area))


def share_of(ceiling: float | None, area: float) -> float | None:
    """None if there is no oracle, or if it found nothing."""
    return area / ceiling if ceiling else None


def _area(found: NDArray[np.int64], against: Yardstick) -> float:
    """The mean of found(n) / relevant over n = 1 .. budget; a crawl that ended early keeps its last value."""
    rest = (against.budget - len(found)) * (int(found[-1]) if len(found) else 0)
    return float(found.sum() + rest) / against.relevant / against.budget


def _after(found: NDArray[np.int64], visits: int) -> int:
    return int(found[min(visits, len(found)) - 1]) if len(found) else 0


def _visits_until(found: NDArray[np.int64], relevant: float) -> int | None:
    place = int(np.searchsorted(found, relevant - 1e-9))
    return place + 1 if place < len(found) else None


def _hosts(run: Run, against: Yardstick) -> int | None:
    return None if against.page_hosts is None else len(np.unique(against.page_hosts[run.order[run.found]]))


def _curve(found: NDArray[np.int64], queue: NDArray[np.int32]) -> tuple[tuple[int, int, int], ...]:
    if not len(found):
        return ()
    visits = np.unique(np.linspace(1, len(found), min(CURVE_POINTS, len(found))).round().astype(int))
    return tuple((int(n), int(found[n - 1]), int(queue[n - 1])) for n in visits)


# How much was collected, how much of it is relevant, and how fast: the measures of the Mongolian paper.


BYTES_OF_A_MEGABYTE = 1_000_000
SECONDS_OF_AN_HOUR = 3600


@dataclass(frozen=True)
class Collected:
    """Collected pages, and how many of them are relevant. `accurate` and `fault` are the megabytes of the relevant
    (AIS) and the irrelevant (FIS) pages."""

    pages: int
    correct: int
    accurate: float
    fault: float

    @property
    def total(self) -> float:
        """Total megabytes, IS in the paper."""
        return self.accurate + self.fault

    @property
    def accuracy(self) -> float | None:
        """The accuracy rate AR; None if nothing was collected."""
        return self.correct / self.pages if self.pages else None


@dataclass(frozen=True)
class Information:
    """Everything a crawl downloaded, and the part that the judge found relevant and stored. `hours` is None without a
    clock."""

    downloaded: Collected
    stored: Collected
    hours: float | None = None

    @property
    def speed(self) -> float | None:
        """The collection speed CS: megabytes of relevant pages per hour."""
        return speed(self.downloaded.accurate, self.hours) if self.hours else None

    def as_json(self) -> dict[str, Any]:
        return {
            "is": self.downloaded.total,
            "ais": self.downloaded.accurate,
            "fis": self.downloaded.fault,
            "ar": self.downloaded.accuracy,
            "stored": self.stored.pages,
            "is_stored": self.stored.total,
            "ar_stored": self.stored.accuracy,
            "cs": self.speed,
        }


def information(run: Run, seconds: float | None = None) -> Information:
    """A visit without a page counts as irrelevant, with 0 bytes."""
    everything = np.ones(len(run.found), np.bool_)
    hours = None if seconds is None else seconds / SECONDS_OF_AN_HOUR
    return Information(_collected(run, everything), _collected(run, run.stored), hours)


def speed(accurate: float, hours: float) -> float:
    return accurate / hours


def _collected(run: Run, these: NDArray[np.bool_]) -> Collected:
    megabytes = run.sizes / BYTES_OF_A_MEGABYTE
    right, wrong = these & run.found, these & ~run.found
    return Collected(int(these.sum()), int(right.sum()), float(megabytes[right].sum()), float(megabytes[wrong].sum()))
