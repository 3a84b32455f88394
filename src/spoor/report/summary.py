"""What report.html shows of a crawl, as records."""

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
    """`visits` = `pages` + `redirects` + `failures`. `sitemaps` is how often one was read, `from_sitemaps` how many
    links were let in by that. `needs_scripts` are pages of which hardly anything could be read, `rendered` those whose
    scripts were run, for `render_seconds`; `gained_by_rendering` how many of these gained text or links. Times in
    seconds since the epoch, sizes in bytes."""

    pages: int
    relevant: int
    redirects: int
    failures: int
    given_up: int
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

    @property
    def visits(self) -> int:
        return self.pages + self.redirects + self.failures

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a run; `idle`: seconds of it in which a connection was left free for better links."""

    at: float
    because: str
    idle: float


@dataclass(frozen=True, slots=True)
class Kind:
    """Pages that have something in common, and how many of them were relevant."""

    name: str
    pages: int
    relevant: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something did not come to pass: how often for good, and how often only for now."""

    because: str
    for_good: int
    for_now: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The median of the seconds that a visit to this host took."""

    host: str
    seconds: float
    visits: int


@dataclass(frozen=True, slots=True)
class Incident:
    """Something out of the ordinary. `longest`: seconds that it took at most; None: it takes no time."""

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
    """`stops` has one for each time the crawl stopped; `going_on` is True when something was done after the last of
    them: the crawl runs, or was killed. `links` counts by the states of the frontier."""

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
