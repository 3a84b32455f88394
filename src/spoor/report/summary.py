"""The records that report.html shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from spoor.events import Steered
from spoor.stopping import ExpectedFinds
from spoor.teaching.history import TaughtSoFar

Curve = tuple[tuple[int, int, int], ...]
"""Visits, relevant pages found, links waiting."""


@dataclass(frozen=True, slots=True)
class Totals:
    """`visits` = `pages` + `redirects` + `failures`. `relevant_duplicates` are duplicates and near-duplicates among the
    relevant pages. `internal_errors` are visits of any kind, robots.txt included, that failed because of an error of
    spoor. `sitemaps` counts reads of sitemaps, `from_sitemaps` the links admitted from them. `needs_scripts` are pages
    with hardly any readable text, `rendered` those whose scripts were run, in `render_seconds`; `gained_by_rendering`
    how many of these gained text or links. `seconds` is how long the crawl ran, without the time between its runs;
    `began` and `ended` are in seconds since the epoch, sizes in bytes."""

    pages: int
    relevant: int
    relevant_duplicates: int
    redirects: int
    failures: int
    given_up: int
    internal_errors: int
    hosts: int
    hosts_with_pages: int
    hosts_with_relevant: int
    dropped: int
    duplicates: int
    near_duplicates: int
    not_kept: int
    sitemaps: int
    from_sitemaps: int
    needs_scripts: int
    rendered: int
    gained_by_rendering: int
    render_seconds: float
    bytes: int
    median_size: int
    began: float
    ended: float
    seconds: float

    @property
    def visits(self) -> int:
        return self.pages + self.redirects + self.failures


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
