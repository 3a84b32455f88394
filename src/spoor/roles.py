"""The interfaces of the replaceable parts. Every implementation passes the tests in tests/contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

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

if TYPE_CHECKING:  # numba takes half a second to import.
    from spoor.compiled import Kernels

Merge = Callable[[float, float], float]
"""Merges the evidence of two sightings of a link: maps the old and the new value to the value stored."""


class Judge(Protocol):
    """Decides whether pages are relevant, and why. A verdict never depends on the rest of the batch."""

    @property
    def reads_content(self) -> bool:
        """False if it uses only attributes (URL, status, charset), so that a simulation need not load texts."""
        ...

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """One verdict per page, in the same order."""
        ...


@runtime_checkable
class HasTargetPrior(Protocol):
    """A judge with a prior of the target, with which strategies can start."""

    @property
    def target_prior(self) -> TargetPrior: ...


@runtime_checkable
class MainTextReader(Protocol):
    """A judge or scorer that prefers the main text of a page, `page.main_text`, to the whole text, where it has been
    extracted."""

    @property
    def reads_main_text(self) -> bool: ...


@runtime_checkable
class Comparing(Protocol):
    """A judge that can also compare any text with the target: anchors, words of a URL."""

    def similarities(self, texts: Sequence[str]) -> Sequence[float]:
        """One per text, each from 0 to 1; 0 for a text without evidence."""
        ...


class Translator(Protocol):
    """Translates texts into one language. Never fails: returns a text that it cannot translate unchanged."""

    @property
    def waits(self) -> bool:
        """True if it sends requests and waits for the responses: not to be called in an event loop."""
        ...

    def translate(self, texts: Sequence[str]) -> list[str]:
        """One per text, in the same order. A translation never depends on the rest of the batch."""
        ...


@runtime_checkable
class Waiting(Protocol):
    """A judge or scorer that may block on a request while it reads a page, so that pages must not be read in the event
    loop. Parts without this role never block."""

    @property
    def waits(self) -> bool: ...


@runtime_checkable
class UsesKernels(Protocol):
    """A part that calls compiled functions: these are compiled before the first request. Those of parts without this
    role are compiled by the invented pages with which a crawl begins, one after the other."""

    @property
    def kernels(self) -> Kernels: ...


class Teacher(Protocol):
    """A source of labels, more reliable than a judge. It may be slow, so it is asked beside the crawl. Errors are
    returned as a Failure, never raised."""

    @property
    def who(self) -> str:
        """The name stored with its answers: `person`, `file`, or `model:` and the name of a model."""
        ...

    @property
    def spent(self) -> str:
        """Why it must not be asked any more; "" while it may be."""
        ...

    def may_know(self, url: str) -> bool:
        """False if it certainly cannot answer for this page."""
        ...

    async def answer(self, question: Question) -> bool | Failure | None:
        """Whether the page is relevant, None if it cannot say, a Failure if it could not be asked."""
        ...


class Trail(Protocol):
    """The state carried along a path; each link takes it from its best parent. States are immutable."""

    def root(self) -> TrailState:
        """The state of a seed."""
        ...

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        """The state that the links of `page` carry, when the page itself was reached with `state`."""
        ...

    def rank(self, state: TrailState) -> float:
        """Orders states: when two parents give a link the same key, it keeps the state with the larger rank."""
        ...


@runtime_checkable
class ContentReader(Protocol):
    """A trail that reads more of a page than its verdict, or an admission that reads more of a link than its URL. Parts
    without this role do not."""

    @property
    def reads_content(self) -> bool:
        """True if it needs the texts of every page and its links."""
        ...


class LinkScorer(Protocol):
    """Collects evidence about links and computes their priority from it."""

    @property
    def reads_content(self) -> bool:
        """False if it never uses texts or the context of links."""
        ...

    @property
    def merge(self) -> Mapping[str, Merge]:
        """For each evidence name: how to combine the stored value with that of a further sighting."""
        ...

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        """The evidence of each link, in the same order. `links` are the links of the page that are still open; the
        out-degree is `sighting.page.out_degree`."""
        ...

    def key(self, evidence: Evidence) -> float | Key:
        """The priority: larger is sooner. Always a number, or always a tuple of the same length. Never NaN."""
        ...


@runtime_checkable
class BatchScorer(Protocol):
    """A reviewer that computes evidence and keys together, of many links in one call."""

    def offered(
        self, sighting: Sighting, links: Sequence[Link], known: Sequence[Evidence | None]
    ) -> Sequence[tuple[Evidence, Key]]:
        """For each link the result of `evidence`, merged by `merge` with what is `known` of it (None for a new link),
        and the `key` of that. The known evidence itself if it stays the same."""
        ...

    def keys(self, evidence: Sequence[Evidence]) -> Sequence[Key]:
        """The `key` of each."""
        ...

    def saturated(self, evidence: Sequence[Evidence], sighting: Sighting) -> Sequence[bool]:
        """For the evidence of each waiting link: whether it is saturated; see `Saturating`."""
        ...

    def reviewed(self, link: WaitingLink) -> tuple[Evidence, Key]:
        """The result of `review`, and the `key` of that."""
        ...


@runtime_checkable
class LinkReader(Protocol):
    """A scorer that reads links where pages are parsed, in a worker process if there are workers. It must not use
    anything learned during the crawl; its results are in the `hints` of the links when `evidence` is called."""

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """One for each of `links`, in the same order; never empty."""
        ...


@runtime_checkable
class ContentUser(Protocol):
    """A scorer for which texts are optional. A scorer without this role needs the texts that it reads."""

    @property
    def does_without_content(self) -> bool: ...


@runtime_checkable
class Reviewer(Protocol):
    """A scorer whose scores change as it learns. A link is re-scored when it gets to the front of the queue, and goes
    back if its score has dropped. Its hints are stored with the link."""

    def review(self, link: WaitingLink) -> Evidence:
        """The current evidence of the link; the same again if nothing was learned in between."""
        ...


@runtime_checkable
class Heir(Protocol):
    """A scorer whose evidence depends in part on the verdict on the referring page."""

    def inherit(self, evidence: Evidence, trail: TrailState, found_on: Verdict) -> tuple[Evidence, TrailState]:
        """The evidence and the trail of a link as they would be with this verdict on the page it was found on;
        unchanged to the last bit if that was the verdict already. Contributions of other referring pages are kept."""
        ...


@runtime_checkable
class Saturating(Protocol):
    """A scorer for which further referring pages add nothing once a link has enough of them. Worker processes leave
    such links out of their pages."""

    def is_saturated(self, evidence: Evidence, sighting: Sighting) -> bool:
        """`evidence` is that of a waiting link, `sighting` the next page that links to it."""
        ...


class Saturated(Protocol):
    """Is told of links to which further referring pages add nothing."""

    def add(self, url: str, relevant: bool) -> None:
        """`relevant`: neither do relevant pages; otherwise no other pages."""
        ...


class Admission(Protocol):
    """Decides whether a link may be queued, and again whether it may be fetched when it gets to the front."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling: ...

    def at_pop(self, visit: Visit) -> Ruling: ...


@runtime_checkable
class HostBounds(Protocol):
    """An admission that restricts which hosts may receive any requests at all, for pages or other resources."""

    def covers(self, host: str) -> bool: ...


@runtime_checkable
class Learner(Protocol):
    """A part that learns from the outcomes of visits. Parts without this role learn nothing."""

    def learn(self, sighting: Sighting) -> None: ...


@runtime_checkable
class MissLearner(Protocol):
    """A learner that also learns from links that brought no page. Without this role, it learns from pages only."""

    def learn_miss(self, miss: Miss) -> None:
        """Called again with the same miss when a crawl is resumed."""
        ...


@runtime_checkable
class HostDemoter(Protocol):
    """A learner that notices hosts which bring nothing new. Their links come after those of all other hosts, until a
    page that is not a duplicate comes from there."""

    def learn_redirect(self, visit: Visit, to: str) -> None:
        """The response was a redirect, whether or not it is followed."""
        ...

    def demotion_of(self, host: str) -> str:
        """Why the links of the host come last; "" if they do not."""
        ...


@runtime_checkable
class PendingCounter(Protocol):
    """A learner that counts the requests in flight."""

    def begun(self, visit: Visit) -> None: ...

    def over(self, visit: Visit) -> None:
        """Called before the outcome of the visit is learned, if there is anything to learn."""
        ...


@runtime_checkable
class Forecast(Protocol):
    """Predicts how many relevant pages a link will bring, so that links can be compared with the price of a request."""

    def gain(self, key: Key) -> float:
        """For a link with this key; above 0."""
        ...


@runtime_checkable
class Relearner(Protocol):
    """A learner that relearns from the journal of earlier visits when a crawl is resumed."""

    def relearn(self, sighting: Sighting) -> None:
        """The page has its URL and status, but no texts and no links."""
        ...


@runtime_checkable
class Snapshotted(Protocol):
    """A learner whose state can be saved and restored, so that a resumed crawl need not relearn. The state depends only
    on the parameters, as shown by `repr`, and on what it has learned from."""

    def state(self) -> State:
        """A copy; must be quick, since the crawl waits for it. Excludes visits in flight, which are repeated."""
        ...

    def restore(self, state: State) -> None:
        """Replaces everything learned so far. BadInput if `state` is invalid; the state of the part is undefined after
        that."""
        ...


@runtime_checkable
class Composite(Protocol):
    """A part made of other parts, each of which learns for itself."""

    @property
    def parts(self) -> Sequence[object]: ...


class WaitingLinks(Protocol):
    """The view of the frontier that upkeep has."""

    def evidence_of(self, url: str) -> Evidence | None:
        """None if the link is neither waiting nor parked."""
        ...

    def links_found_on(self, url: str, most: int) -> Sequence[WaitingLink]:
        """Waiting links that were first found on this page, by arrival, oldest first."""
        ...

    def some(self, most: int) -> Sequence[WaitingLink]:
        """A sample of the waiting links. Successive calls after each visit cycle through all of them."""
        ...


class Upkeep(Protocol):
    """Periodic housekeeping: may change the evidence of waiting links."""

    @property
    def every(self) -> int:
        """Number of visits between two calls."""
        ...

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        """URLs with new evidence, for which the key is recomputed; a URL that is not waiting is skipped."""
        ...


class BacklinkSource(Protocol):
    """Numbered pages with their backlinks and texts: the training data of a path model."""

    def pages(self) -> NDArray[np.int64]:
        """The numbers of all pages, in ascending order."""
        ...

    def links_to(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All links to these pages, as two arrays: numbers of the linking pages and of the linked pages."""
        ...

    def said(self, page: int) -> tuple[str, str]:
        """The title and the text of a page."""
        ...


class World(Protocol):
    """A simulated web, to be crawled without a network."""

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        """The outcome, and how many seconds it takes."""
        ...

    def truth(self, url: str) -> bool:
        """Whether the page is really relevant. For measurement; strategies do not see it unless their judge is
        `truth`."""
        ...


class Downloader(Protocol):
    """Carries out visits on a real network. Network errors are returned as a Failure, never raised."""

    async def fetch(self, visit: Visit) -> Outcome: ...


class SubResources(Protocol):
    """Answers the requests of the scripts of a page, with a response or a refusal and its reason. Robots.txt, delays,
    limits and refused addresses apply as for pages. It is the only sender of these requests; a redirect is returned as
    a response, and the page asks again."""

    async def answer(self, request: SubRequest) -> Response | Failure:
        """Never raises. Cancelled when the page no longer waits."""
        ...


class Troubles(Protocol):
    """Records which URL is being processed, and exceptions that cost one URL instead of the crawl."""

    def on(self, url: str) -> None:
        """From now until `off`, this URL is blamed if the process dies."""
        ...

    def off(self) -> None: ...

    def keep(self, url: str, doing: str, error: Exception, came: bytes = b"") -> str:
        """Saves a sample and returns a one-line message. `doing` is the failed step, such as "read"; `came` the
        beginning of the response, if available."""
        ...


class Post(Protocol):
    """Sends links and outcomes of visits to other shards of the crawl. Called before the batch is committed, like the
    journal. `may_go_back`: a shard may lose visits, because it is restored from a copy."""

    @property
    def may_go_back(self) -> bool: ...

    def send(self, to: int, mailed: Mailed) -> None: ...


class Journal(Protocol):
    """Receives every batch of events before the batch is committed."""

    def note(self, events: Sequence[Event]) -> None: ...
