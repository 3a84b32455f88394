"""The records that report.html shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from spoor.events import Steered
from spoor.stopping import ExpectedFinds
from spoor.store.totals import CrawlTotals
from spoor.teaching.history import TaughtSoFar

Curve = tuple[tuple[int, int, int], ...]
"""Visits, relevant pages found, links waiting."""


@dataclass(frozen=True, slots=True)
class Totals(CrawlTotals):
    """The totals that the crawl kept, and what only a report counts. `not_kept` are pages that are not in the archive
    by choice; `began` and `ended` are in seconds since the epoch, `median_size` is in bytes."""

    hosts: int = 0
    hosts_with_pages: int = 0
    hosts_with_relevant: int = 0
    dropped: int = 0
    duplicates: int = 0
    near_duplicates: int = 0
    not_kept: int = 0
    median_size: int = 0
    began: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a run. `idle`: seconds in which a connection was left free for better links."""

    at: float
    because: str
    idle: float


@dataclass(frozen=True, slots=True)
class Kind:
    """Pages with a common property, and how many of them are relevant."""

    name: str
    pages: int
    relevant: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something did not happen: how often for good, and how often only for now."""

    because: str
    for_good: int
    for_now: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The median duration of the visits to a host, in seconds."""

    host: str
    seconds: float
    visits: int


@dataclass(frozen=True, slots=True)
class Incident:
    """An unusual event. `longest`: its maximum duration in seconds; None if it has no duration."""

    what: str
    times: int
    longest: float | None


@dataclass(frozen=True, slots=True)
class Find:
    """A relevant page."""

    url: str
    title: str
    relevance: float
    because: str


@dataclass(frozen=True, slots=True)
class Figures:
    """`stops` has an entry for each time the crawl stopped. `going_on` is True if there was activity after the last
    stop: the crawl is running, or was killed. `links` counts links by frontier state."""

    name: str
    totals: Totals
    links: Counter[str]
    stops: tuple[Stop, ...]
    going_on: bool
    curve: Curve
    statuses: tuple[Kind, ...]
    languages: tuple[Kind, ...]
    labels: tuple[Kind, ...]
    hosts: tuple[Kind, ...]
    failures: tuple[Reason, ...]
    refusals: tuple[Reason, ...]
    redirects: tuple[Reason, ...]
    slowest: tuple[Pace, ...]
    incidents: tuple[Incident, ...]
    steered: tuple[Steered, ...]
    taught: TaughtSoFar
    finds: tuple[Find, ...]
    expected: ExpectedFinds | None
