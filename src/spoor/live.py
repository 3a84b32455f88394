"""Looking at the real web: what a live crawl does between a visit and its outcome. Fetch, keep, understand, judge."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from spoor.events import Event, Visited
from spoor.fetch.http import HttpFetcher
from spoor.fetch.understanding import understand
from spoor.records import Failure, Judged, Link, Outcome, Page, Redirect, Response, RobotsRules, Visit
from spoor.roles import Judge
from spoor.store.duplicates import Duplicates, simhash
from spoor.store.journal import Journal, PageFacts
from spoor.store.record import digest_of
from spoor.store.warc import Kept, WarcKeeper, judgement
from spoor.urls import canonical

ROBOTS_REDIRECTS = 5
"""As many as RFC 9309 asks crawlers to follow."""


@dataclass(frozen=True, slots=True)
class Read:
    """A response understood: the outcome, and the fingerprint of the text if it is a page."""

    outcome: Outcome
    fingerprint: int | None = None


def read(visit: Visit, response: Response, judge: Judge) -> Read:
    """Pure, so that it can be done in another process."""
    outcome = understand(visit, response)
    if not isinstance(outcome, Page):
        return Read(outcome)
    page = replace(outcome, links=canonical_links(outcome))
    return Read(Judged(page, judge.judge([page])[0]), simhash(page.text))


def canonical_links(page: Page) -> tuple[Link, ...]:
    """The links of a page by their canonical URLs, each once; the URL that a page calls its own is one of them."""
    links: dict[str, Link] = {}
    if page.canonical:
        links[canonical(page.canonical)] = Link(canonical(page.canonical))
    for link in page.links:
        url = canonical(link.url)
        links.setdefault(url, link if url == link.url else replace(link, url=url))
    links.pop(page.url, None)
    return tuple(links.values())


_judge: Judge
"""The judge of a worker process."""


def prepare_worker(judge: Judge) -> None:
    """Given to the pool as its initializer. An interrupt is for the crawl, which lets its workers finish."""
    global _judge
    _judge = judge
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def read_in_worker(visit: Visit, response: Response) -> Read:
    return read(visit, response, _judge)


@dataclass
class Archive:
    """Everything that is kept of a live crawl besides the frontier: responses, what was thought of them, duplicates.

    A response is in the WARC before anybody reads it. `told` is called with the events of each batch, so that the
    verdicts reach the WARC too.
    """

    keeper: WarcKeeper
    journal: Journal
    duplicates: Duplicates
    _kept: dict[str, Kept] = field(default_factory=dict, init=False)

    def keep(self, visit: Visit, response: Response) -> None:
        digest = digest_of(response.payload)
        earlier = self.duplicates.same(digest) if response.payload else None
        kept = self.keeper.keep(response, digest, earlier)
        self.duplicates.remember(kept)
        self._kept[visit.url] = kept

    def describe(self, visit: Visit, done: Read) -> None:
        """What the journal should know of a page and the event does not say."""
        kept = self._kept[visit.url]
        if not isinstance(done.outcome, Judged):
            del self._kept[visit.url]
            return
        page = done.outcome.page
        same = self.duplicates.same(kept.digest)
        twin = same.url if same is not None and same.url != page.url else ""
        facts = PageFacts(
            title=page.title,
            digest=kept.digest,
            simhash=done.fingerprint,
            duplicate_of=twin or self.duplicates.alike(page.url, done.fingerprint),
            warc_file=kept.file,
            warc_offset=kept.offset,
            noindex=page.noindex,
        )
        self.journal.tell(visit.url, facts)

    def told(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Visited) and (kept := self._kept.pop(event.visit.url, None)) is not None:
                self.keeper.note(kept, event.at, judgement(event.visit, event.verdict))


@dataclass
class LiveLooker:
    """Carries out visits over HTTP. With a `pool`, pages are read and judged in its processes."""

    fetcher: HttpFetcher
    archive: Archive
    judge: Judge
    pool: Executor | None = None

    async def look(self, visit: Visit) -> Outcome:
        if visit.purpose == "robots":
            return await self._rules(visit)
        response = await self.fetcher.fetch(visit.url)
        if isinstance(response, Failure):
            return response
        self.archive.keep(visit, response)
        done = await self._read(visit, response)
        self.archive.describe(visit, done)
        return done.outcome

    async def _read(self, visit: Visit, response: Response) -> Read:
        if self.pool is None:
            return read(visit, response, self.judge)
        # The payload stays here: only the decoded body is of use to a reader.
        slim = replace(response, payload=b"", request=b"")
        return await asyncio.get_running_loop().run_in_executor(self.pool, read_in_worker, visit, slim)

    async def _rules(self, visit: Visit) -> Outcome:
        """Follows redirects by itself: rules are for the host that was asked, wherever they lie."""
        url = visit.url
        for _ in range(ROBOTS_REDIRECTS + 1):
            response = await self.fetcher.fetch(url, every_type=True)
            if isinstance(response, Failure):
                return response if response.again_after is not None else RobotsRules()
            outcome = understand(replace(visit, url=url), response)
            if not isinstance(outcome, Redirect):
                return outcome
            url = outcome.to
        return RobotsRules()
