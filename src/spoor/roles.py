"""What can be swapped. Every implementation passes the tests in tests/contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from spoor.events import Event
from spoor.files import State
from spoor.records import (
    Evidence,
    Failure,
    Hints,
    Key,
    Link,
    Mailed,
    Miss,
    Outcome,
    Page,
    Question,
    Response,
    Ruling,
    Sighting,
    SubRequest,
    TargetPrior,
    TrailState,
    Verdict,
    Visit,
    WaitingLink,
)

Merge = Callable[[float, float], float]
"""How two sightings of one evidence become one: the old value and the new, to the value kept."""


class Judge(Protocol):
    """Says of pages whether they are relevant, and why. A verdict never depends on the rest of the batch."""

    @property
    def reads_content(self) -> bool:
        """False: looks at attributes only (URL, status, charset), so a simulation need not load texts."""
        ...

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """One verdict per page, in the same order."""
        ...


@runtime_checkable
class HasTargetPrior(Protocol):
    """A judge that knows beforehand what it will look for, so that strategies can start with a prior of the target."""

    @property
    def target_prior(self) -> TargetPrior: ...


@runtime_checkable
class MainTextReader(Protocol):
    """A judge that would rather read what a page has to say than everything on it: `page.main_text`, where it is."""

    @property
    def reads_main_text(self) -> bool: ...


@runtime_checkable
class Comparing(Protocol):
    """A judge that can also say how near any pieces of text are to what is relevant: anchors, words of a URL."""

    def similarities(self, texts: Sequence[str]) -> Sequence[float]:
        """Each between 0 and 1, 0 for a text that says nothing."""
        ...


class Translator(Protocol):
    """Puts texts into one language. Never fails: what it cannot translate it returns as it came."""

    @property
    def waits(self) -> bool:
        """True: it asks somebody else and waits for the answer, so it must not be asked in an event loop."""
        ...

    def translate(self, texts: Sequence[str]) -> list[str]:
        """One for each text, in the same order. A translation never depends on the rest of the batch."""
        ...


@runtime_checkable
class Waiting(Protocol):
    """A judge or scorer that may wait for somebody else while it reads a page, so that pages are not read in the event
    loop. Without this role it never does."""

    @property
    def waits(self) -> bool: ...


class Teacher(Protocol):
    """Knows better than a judge whether a page is relevant. It may take its time, so it is asked beside the crawl. What
    goes wrong is a Failure, never an exception."""

    @property
    def who(self) -> str:
        """By which its answers are known: `person`, `file`, or `model:` and the name of a model."""
        ...

    @property
    def spent(self) -> str:
        """Why it is asked no more; "" while it may be."""
        ...

    def may_know(self, url: str) -> bool:
        """False: there is no use in asking it about this page."""
        ...

    async def answer(self, question: Question) -> bool | Failure | None:
        """Relevant, not relevant, or None: it cannot say. A Failure where it could not be asked."""
        ...


class Trail(Protocol):
    """What a path remembers, carried by each link from its best parent. States never change."""

    def root(self) -> TrailState:
        """The state of a seed."""
        ...

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        """The state that the links of `page` carry, when the page itself was reached with `state`."""
        ...

    def rank(self, state: TrailState) -> float:
        """Which of two states a link keeps when both parents give it the same key: the larger."""
        ...


@runtime_checkable
class ContentReader(Protocol):
    """A trail that looks at more of a page than its verdict, or an admission that looks at more of a link than its URL.
    Without this role it does not."""

    @property
    def reads_content(self) -> bool:
        """True: the texts of every page and its links must be there."""
        ...


class LinkScorer(Protocol):
    """Gathers evidence about links and turns evidence into a place in the queue."""

    @property
    def reads_content(self) -> bool:
        """False: never looks at texts or at the context of links."""
        ...

    @property
    def merge(self) -> Mapping[str, Merge]:
        """For each evidence: how a later sighting of a waiting link changes it."""
        ...

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        """One evidence per link, in the same order. `links` are those of the page that are still open; the out-degree
        is `sighting.page.out_degree`."""
        ...

    def key(self, evidence: Evidence) -> float | Key:
        """Larger is sooner; always a number, or always a tuple of one length. Never NaN."""
        ...


@runtime_checkable
class LinkReader(Protocol):
    """A scorer that reads links where pages are read, in another process when there are workers. So it may use nothing
    that was learned on the way; what it found is in the `hints` of the links when `evidence` is asked for."""

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """One for each of `links`, in the same order; never empty."""
        ...


@runtime_checkable
class ContentUser(Protocol):
    """A scorer that makes use of texts where a web has them. Without this role it needs those that it reads."""

    @property
    def does_without_content(self) -> bool: ...


@runtime_checkable
class Reviewer(Protocol):
    """A scorer that thinks otherwise of a link as it learns. It is asked again when the turn of the link has come; a
    link that is worth less by then goes back to where it belongs. Its hints stay with the link."""

    def review(self, link: WaitingLink) -> Evidence:
        """What is known of it now; asked again with nothing learned in between, the same."""
        ...


@runtime_checkable
class Heir(Protocol):
    """A scorer whose evidence follows in part from the verdict on the page that a link was found on."""

    def inherit(self, evidence: Evidence, trail: TrailState, found_on: Verdict) -> tuple[Evidence, TrailState]:
        """The evidence and the trail of a link if that verdict is the one given; the same, to the last bit, if it was
        so already. What other pages that link there added stays."""
        ...


@runtime_checkable
class Saturating(Protocol):
    """A scorer to whom one more page that links to a URL says nothing new, when enough others do."""

    def is_saturated(self, evidence: Evidence, sighting: Sighting) -> bool:
        """By what is known of a link that waits; `sighting` is the next page that links to the same URL."""
        ...


class Admission(Protocol):
    """Whether a link may wait, and whether it may be visited when its turn comes."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling: ...

    def at_pop(self, visit: Visit) -> Ruling: ...


@runtime_checkable
class HostBounds(Protocol):
    """An admission that knows which hosts may be asked for anything at all, pages or not."""

    def covers(self, host: str) -> bool: ...


@runtime_checkable
class Learner(Protocol):
    """A part that learns from how visits turn out. Without this role there is nothing to learn."""

    def learn(self, sighting: Sighting) -> None: ...


@runtime_checkable
class MissLearner(Protocol):
    """A learner that also learns from links that brought no page. Without this role only pages teach."""

    def learn_miss(self, miss: Miss) -> None:
        """Told again, with the same miss, when a crawl is resumed."""
        ...


@runtime_checkable
class PendingCounter(Protocol):
    """A learner that takes requests under way into account until they are over."""

    def begun(self, visit: Visit) -> None: ...

    def over(self, visit: Visit) -> None:
        """Told before it learns how the visit turned out, if that teaches anything."""
        ...


@runtime_checkable
class Forecast(Protocol):
    """Says how many relevant pages a link is expected to bring, so that links can be compared with their price."""

    def gain(self, key: Key) -> float:
        """By the key of the link; above 0."""
        ...


@runtime_checkable
class Relearner(Protocol):
    """A learner that learns again from what was kept of earlier visits, when a crawl is resumed."""

    def relearn(self, sighting: Sighting) -> None:
        """The page has its URL and status, no texts and no links."""
        ...


@runtime_checkable
class Snapshotted(Protocol):
    """A learner that can hand over all it has learned, so that a resumed crawl need not learn it again. What it has
    learned depends on nothing but its parameters, which `repr` shows, and on what it was told."""

    def state(self) -> State:
        """A copy, quickly made: a running crawl waits for it. Without visits under way: they are made again."""
        ...

    def restore(self, state: State) -> None:
        """Takes the place of everything learned so far. BadInput where it cannot be a state of such a part; what is
        known after that is not defined."""
        ...


@runtime_checkable
class Composite(Protocol):
    """A part made of other parts, each of which learns for itself."""

    @property
    def parts(self) -> Sequence[object]: ...


class WaitingLinks(Protocol):
    """What upkeep may see of the frontier."""

    def evidence_of(self, url: str) -> Evidence | None:
        """None: the link is not waiting or parked."""
        ...

    def links_found_on(self, url: str, most: int) -> Sequence[WaitingLink]:
        """Waiting links that were first found on a page, those that wait longest at their places first."""
        ...

    def some(self, most: int) -> Sequence[WaitingLink]:
        """A few of all that wait; asked after every visit, all in turn."""
        ...


class Upkeep(Protocol):
    """Housekeeping every N visits: may change the evidence of links that wait."""

    @property
    def every(self) -> int:
        """Visits between two calls."""
        ...

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        """URLs whose evidence is replaced and key computed anew; an URL that is not waiting is passed over."""
        ...


class BacklinkSource(Protocol):
    """Pages by number, who links to them, and what they say: what a model of paths is trained on."""

    def pages(self) -> NDArray[np.int64]:
        """The numbers of all pages, rising."""
        ...

    def links_to(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every link to one of these pages: the numbers of the page that links and of the page it links to."""
        ...

    def said(self, page: int) -> tuple[str, str]:
        """Its title and its text."""
        ...


class World(Protocol):
    """A web that can be crawled without a network."""

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        """What comes back, and the seconds it takes."""
        ...

    def truth(self, url: str) -> bool:
        """Is the page really relevant? For measuring; no strategy sees it unless its judge is openly `truth`."""
        ...


class Downloader(Protocol):
    """Carries out visits on a real network. What goes wrong there is a Failure, never an exception."""

    async def fetch(self, visit: Visit) -> Outcome: ...


class SubResources(Protocol):
    """Answers what scripts of a page ask for: with what a server sent, or with a refusal and its reason. All that holds
    for pages holds here: robots.txt, delays, limits, refused addresses. It alone sends requests; a redirect is an
    answer, after which the page asks again."""

    async def answer(self, request: SubRequest) -> Response | Failure:
        """Never raises. Cancelled when the page waits no longer."""
        ...


class Troubles(Protocol):
    """Is told which URL is worked on, and of exceptions that cost one URL instead of the crawl."""

    def on(self, url: str) -> None:
        """From now on, and until `off`, this URL is to blame if the process dies."""
        ...

    def off(self) -> None: ...

    def keep(self, url: str, doing: str, error: Exception, came: bytes = b"") -> str:
        """Saves a sample, and says in one line what went wrong. `doing` is what was done with the URL, such as "read";
        `came` the beginning of the response, if that is at hand."""
        ...


class Post(Protocol):
    """Takes what is for other shards of a crawl: links to their hosts, and how visits turned out. Told before the batch
    is committed, as the journal is."""

    def send(self, to: int, mailed: Mailed) -> None: ...


class Journal(Protocol):
    """Is told of every batch of events before the batch is committed."""

    def note(self, events: Sequence[Event]) -> None: ...
