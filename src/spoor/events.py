"""What happened, in the order it happened. Databases, metrics, reports and tests are made from these alone."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.actions import Action
from spoor.records import Listed, Rendering, Verdict, Visit


@dataclass(frozen=True, slots=True)
class Refusal:
    """A link that was not let in, and why. `parked` ones may come back when more is known."""

    url: str
    because: str
    parked: bool


@dataclass(frozen=True, slots=True)
class Visited:
    """A page came and was judged. `added` links began to wait, `moved` ones changed their place.

    `waiting` is the length of the queue before the links of this page were offered, this visit included.
    `needs_scripts`: hardly anything could be read of it, because scripts make it that were not run. `rendering` is
    what running them brought, or why they were not run; None where nobody thought of it.
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


@dataclass(frozen=True, slots=True)
class Redirected:
    """The page is elsewhere; `because` says why the target was not queued, "" when it was. `again`: it is asked for
    once more, with the cookies that were set on the way. `waiting`: see `Visited`."""

    visit: Visit
    at: float
    to: str
    because: str
    waiting: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """No page came. `again_at` is the time of the next try; None: given up. `waiting`: see `Visited`. `excused`: our
    own side was out of order, so the visit does not count."""

    visit: Visit
    at: float
    reason: str
    again_at: float | None
    waiting: int
    excused: bool = False


@dataclass(frozen=True, slots=True)
class HostOpened:
    """A robots.txt came, or there is none: the hosts whose rules it holds may be visited. `delay` is in seconds,
    between two visits to them."""

    visit: Visit
    at: float
    delay: float


@dataclass(frozen=True, slots=True)
class SitemapRead:
    """A sitemap or a feed came. It has `listed` URLs; `foreign` of those that were considered are of hosts for which it
    may not speak; `added` links began to wait. `claims` is what it says of pages that it let in. `cut` says why it was
    not read to its end, "" when it was. `waiting`: see `Visited`."""

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
    """A link whose turn had come was not visited after all."""

    at: float
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Troubled:
    """Something of ours failed while a URL was worked on, which went on without it; a sample was saved."""

    at: float
    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Held:
    """For `seconds` nothing else was done; the process was at work for `cpu` seconds of them. `url` is what was
    worked on, `where` the calls; "" when that is not known."""

    at: float
    seconds: float
    cpu: float
    url: str
    where: str


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing has answered `since` then, so nothing is fetched until something does. `reason` is the last failure."""

    at: float
    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """Something answered again, `seconds` after the first failure."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class ClockSet:
    """Somebody set the clock of the machine, by `seconds`; a crawl goes by the seconds that pass."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Steered:
    """A person asked for something. It was done, or `refused` says why not. `id` is that of the submission."""

    at: float
    id: str
    who: str
    action: Action
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Taught:
    """The judge has learned from all `answers` so far and has a new `version`; `changed` pages have another verdict,
    so that of those of this run `gain` more are relevant, or fewer. `surprises` are new answers that contradict what
    the version before was sure of, `contradictions` pages on which two teachers disagree."""

    at: float
    version: int
    answers: int
    changed: int
    gain: int
    surprises: int
    contradictions: int


Aside = Refused | Troubled | Held | Paused | Resumed | ClockSet | Steered | Taught
"""What happens between visits."""

Event = Visited | Redirected | Failed | HostOpened | SitemapRead | Aside
