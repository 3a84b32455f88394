"""The events of a crawl, in order. Databases, metrics, reports and tests are derived from these alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spoor.actions import Action
from spoor.records import Listed, Rendering, Trouble, Verdict, Visit


@dataclass(frozen=True, slots=True)
class Refusal:
    """A link that was not admitted, and why. A `parked` link may be admitted later."""

    url: str
    because: str
    parked: bool


@dataclass(frozen=True, slots=True)
class Visited:
    """A page was fetched and judged. `added` links were queued, `moved` ones changed their position.

    `waiting` is the length of the queue before the links of this page were offered, including this visit.
    `needs_scripts`: hardly any text could be read, because the page is built by scripts that were not run. `rendering`
    is the result of running them, or why they were not run; None if that was not considered. `duplicate_of`: see
    `Page`.
    """

    visit: Visit
    at: float
    status: int
    size: int
    verdict: Verdict
    added: int
    moved: int
    refused: tuple[Refusal, ...]
    waiting: int
    needs_scripts: bool = False
    rendering: Rendering | None = None
    duplicate_of: str = ""


@dataclass(frozen=True, slots=True)
class Redirected:
    """The response was a redirect; `because` is the reason why its target was not queued, "" if it was. `again`: the
    target is fetched again, with the cookies that were set on the way. `waiting`: see `Visited`."""

    visit: Visit
    at: float
    to: str
    because: str
    waiting: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """No page came. `again_at` is the time of the next try, None if given up. `waiting`: see `Visited`. `excused`: the
    cause was on our side, so the visit does not count. `trouble` is the error of spoor, if that was the reason."""

    visit: Visit
    at: float
    reason: str
    again_at: float | None
    waiting: int
    excused: bool = False
    trouble: Trouble | None = None


class Result(StrEnum):
    """The result of a visit to a page; each finished visit has exactly one. `EXCUSED`: the cause was on our side, so
    the budget is not charged."""

    PAGE = "page"
    REDIRECT = "redirect"
    FAILURE = "failure"
    RETRY = "to be tried again"
    EXCUSED = "excused"


@dataclass(frozen=True, slots=True)
class Excused:
    """A visit to a page turned out not to count. `before` is how it was counted, if the cause of its failure turned out
    later to be on our side; None if the process ended before the visit did."""

    at: float
    url: str
    because: str
    before: Result | None


@dataclass(frozen=True, slots=True)
class HostOpened:
    """A robots.txt came, or the host has none: the hosts to which it applies may be visited. `delay` is their host
    delay in seconds."""

    visit: Visit
    at: float
    delay: float


@dataclass(frozen=True, slots=True)
class SitemapRead:
    """A sitemap or a feed was read. It has `listed` URLs; `foreign` counts those of hosts that it has no authority for,
    among the URLs considered; `added` links were queued. `claims` are its entries for the admitted pages. `cut` is the
    reason why it was not read to its end, "" if it was. `waiting`: see `Visited`."""

    visit: Visit
    at: float
    kind: str
    listed: int
    foreign: int
    added: int
    refused: tuple[Refusal, ...]
    claims: tuple[Listed, ...]
    cut: str
    waiting: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A waiting link was refused when it was about to be visited."""

    at: float
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Troubled:
    """An error of spoor while a URL was processed, which continued without the failed step; a sample was saved."""

    at: float
    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Held:
    """The event loop was blocked for `seconds`, of which the process used `cpu` seconds of processor time. `url` is the
    URL being processed, `where` the call stack; "" if not known."""

    at: float
    seconds: float
    cpu: float
    url: str
    where: str


@dataclass(frozen=True, slots=True)
class Paused:
    """An outage began: no response `since` then, so no pages are fetched until one arrives. `reason` is the last
    failure."""

    at: float
    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """The outage is over, `seconds` after the first failure."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class HttpsPaused:
    """No certificate of an https host has been accepted `since` then, so https links wait. `reason` is the last
    failure."""

    at: float
    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class HttpsResumed:
    """A certificate was accepted again, `seconds` after the first failure."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class ClockSet:
    """The system clock was set, by `seconds`; the crawl measures time by a monotonic clock."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class HostDemoted:
    """The links of a host come after those of all other hosts from now on, and why; `because` is "" if they no longer
    do."""

    at: float
    host: str
    because: str


@dataclass(frozen=True, slots=True)
class Steered:
    """An action of a person, applied, or not if `refused` has a reason. `id` is that of the submission."""

    at: float
    id: str
    who: str
    action: Action
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Taught:
    """The judge was retrained on all `answers` so far and has a new `version`. `changed` pages have a different
    verdict; `gain` is the change in the number of relevant pages of this run. `surprises` are new answers that
    contradict confident verdicts of the previous version, `contradictions` pages on which two teachers disagree."""

    at: float
    version: int
    answers: int
    changed: int
    gain: int
    surprises: int
    contradictions: int


Aside = (
    Refused
    | Excused
    | Troubled
    | Held
    | Paused
    | Resumed
    | HttpsPaused
    | HttpsResumed
    | ClockSet
    | HostDemoted
    | Steered
    | Taught
)
"""Events between visits."""

Event = Visited | Redirected | Failed | HostOpened | SitemapRead | Aside


def result_of(event: Event) -> Result | None:
    """None if no visit to a page ended: requests for robots.txt and sitemaps are none."""
    match event:
        case Visited():
            return Result.PAGE
        case Redirected(visit) if visit.purpose == "page":
            return Result.REDIRECT
        case Failed(visit, again_at=again_at, excused=excused) if visit.purpose == "page":
            if excused:
                return Result.EXCUSED
            return Result.FAILURE if again_at is None else Result.RETRY
        case _:
            return None
