"""The live downloader, from a visit to its outcome: fetch, store, read, judge; then scripts and duplicates."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from spoor.errors import OF_STORAGE
from spoor.fetch.cookies import RedirectChain, RedirectCookies
from spoor.fetch.http import HttpFetcher
from spoor.fetch.responses import HEALS_AFTER, conditions, understand
from spoor.live.archive import Archive, RenderedDom, ResponseArchive
from spoor.live.page_reader import Reader
from spoor.live.reading_processes import ReadingProcesses, set_aside
from spoor.live.scripts import Scripts
from spoor.live.sitemap_archive import SitemapArchive
from spoor.parse import sitemaps
from spoor.parse.demanding import demanding
from spoor.parse.documents import kind_of
from spoor.parse.html import is_html
from spoor.records import Failure, Judged, Outcome, Redirect, Response, Trouble, Visit
from spoor.render_budget import NEVER, is_for_browser
from spoor.robots import LONGEST_FILE
from spoor.roles import Downloader, Troubles
from spoor.store.incidents import MOST_BYTES, line_of
from spoor.store.warc import Kept

SHORT_SITEMAP = 50_000
"""Sitemaps of at most this many bytes are parsed in the event loop."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome of a visit. `kept` is where its response is in the archive; None if nowhere, or not yet. `response`
    only if it is still needed: its scripts may have to run, or it is not decided whether it is stored."""

    outcome: Outcome
    kept: Kept | None = None
    response: Response | None = None


class PageSource(Protocol):
    """Carries out visits to pages and robots.txt files: in this process, or in others."""

    async def fetch(self, visit: Visit) -> Fetched: ...


@dataclass(frozen=True, slots=True)
class LaterSteps:
    """What may happen to a page after it was read: its scripts run, by the `scripts` mode of the settings, or its
    verdict changes. With `relevant_only`, only relevant pages are stored, and so as soon as the verdict is final."""

    relevant_only: bool = False
    scripts: str = NEVER
    verdicts_change: bool = False

    def need(self, outcome: Outcome) -> bool:
        """Whether the response is still needed."""
        if not isinstance(outcome, Judged):
            return False
        return (self.relevant_only and self.verdicts_change) or is_for_browser(self.scripts, outcome.page.needs_scripts)


@dataclass
class PageFetcher:
    """Fetches, stores, reads and judges. Without an `archive` nothing is stored. Pages that may take long are read by
    the `processes`, which can be stopped. If reading a page raises an exception, `troubles` records it with the
    response; without `troubles` it is raised. `accept_language` is the header of that name, sent only for pages; "" for
    none. Fetched sitemaps are stored in `sitemaps`, if there is one."""

    fetcher: HttpFetcher
    reader: Reader
    archive: ResponseArchive | None = None
    processes: ReadingProcesses | None = None
    troubles: Troubles | None = None
    accept_language: str = ""
    later: LaterSteps = LaterSteps()
    sitemaps: SitemapArchive | None = None
    cookies: RedirectCookies = field(default_factory=RedirectCookies, init=False)

    async def fetch(self, visit: Visit) -> Fetched:
        if visit.purpose == "robots":
            return Fetched(await self._rules(visit))
        chain = self.cookies.chain_to(visit.url)
        fetched = await self._fetched(visit, chain)
        if isinstance(fetched.outcome, Redirect):
            return replace(fetched, outcome=self.cookies.follow(chain, visit.url, fetched.outcome))
        return fetched

    async def _fetched(self, visit: Visit, chain: RedirectChain) -> Fetched:
        response = await self._response(visit, chain)
        if isinstance(response, Failure):
            return Fetched(response)
        chain.note(response)
        archive = self.archive if visit.purpose == "page" else None
        kept = None if archive is None or self.later.relevant_only else archive.keep(response)
        is_needed = visit.purpose == "page" and self._may_need(response)
        came = _sample(response)
        get_back: Callable[[], Response] | None = None
        with contextlib.ExitStack() as files:
            try:
                outcome = self.read(visit, response)
                if isinstance(outcome, asyncio.Future):
                    get_back = files.enter_context(set_aside(response)) if is_needed else None
                    del response  # the queue of the processes holds the body, which may be large
                    outcome = await outcome
            except Exception as error:
                outcome = outcome_of(error, visit, self.troubles, came)
            if not is_needed:
                return Fetched(outcome, kept)
            held = response if get_back is None else get_back()
        if self.later.need(outcome):
            return Fetched(outcome, kept, held)
        if archive is not None and kept is None:
            kept = archive.keep_relevant(held, outcome)
        return Fetched(outcome, kept)

    def _may_need(self, response: Response) -> bool:
        """Whether the response may be needed after it was read."""
        return self.later.relevant_only or (self.later.scripts != NEVER and Scripts.may_run(response))

    def read(self, visit: Visit, response: Response) -> Outcome | asyncio.Future[Outcome]:
        is_slow = self.reader.waits or _is_long_sitemap(visit, response) or self._is_document(response)
        if self.processes is None and is_slow:
            return asyncio.ensure_future(asyncio.to_thread(self.reader.read_in_worker, visit, response))
        if self.processes is None or not (is_slow or visit.apart or _is_demanding(response)):
            return self.reader.read(visit, response)
        return self.processes.read(visit, response)

    async def _response(self, visit: Visit, chain: RedirectChain) -> Response | Failure:
        if visit.purpose == "sitemap":
            return await self._listing(visit)
        languages = {"Accept-Language": self.accept_language} if self.accept_language else {}
        return await self.fetcher.fetch(visit.url, headers={**languages, **chain.headers(visit.url)})

    async def _listing(self, visit: Visit) -> Response | Failure:
        """Fetches a sitemap. Every content type is accepted: a gzipped sitemap has that of gzip files."""
        kept = self.sitemaps
        known = {} if kept is None else kept.conditions(visit.url)
        response = await self.fetcher.fetch(visit.url, True, sitemaps.MOST_BYTES, known)
        return response if kept is None or isinstance(response, Failure) else await kept.take_in(response)

    def _is_document(self, response: Response) -> bool:
        content_type = response.headers.get("content-type", "")
        return (
            self.reader.parse_options.documents and kind_of(response.body, content_type) != "" and response.body != b""
        )

    async def _rules(self, visit: Visit) -> Outcome:
        response = await self.fetcher.fetch(visit.url, True, LONGEST_FILE, conditions(visit.etag, visit.modified))
        return response if isinstance(response, Failure) else understand(visit, response)


@dataclass
class LiveDownloader:
    """Carries out visits over HTTP. Sitemaps are fetched by `own`, in this process; other visits by the `workers`, if
    there are any. Without an `archive` nothing is stored. `last_word` may change the verdict before it is stored. With
    `scripts`, pages that need it are rendered."""

    own: PageFetcher
    archive: Archive | None = None
    workers: PageSource | None = None
    last_word: Callable[[Outcome], Outcome] | None = None
    scripts: Scripts | None = None

    async def fetch(self, visit: Visit) -> Outcome:
        away = self.workers if visit.purpose != "sitemap" else None
        fetched = await (away or self.own).fetch(visit)
        if visit.purpose != "page":
            return fetched.outcome
        drawn = None
        try:
            if fetched.response is not None and isinstance(fetched.outcome, Judged):
                fetched, drawn = await self._with_scripts(visit, fetched.response, fetched, fetched.outcome)
            if self.last_word is not None:
                fetched = replace(fetched, outcome=self.last_word(fetched.outcome))
        except Exception as error:
            fetched = replace(fetched, outcome=outcome_of(error, visit, self.own.troubles, _sample(fetched.response)))
        return fetched.outcome if self.archive is None else self._archived(self.archive, fetched, away, drawn)

    def _archived(
        self, archive: Archive, fetched: Fetched, away: PageSource | None, drawn: RenderedDom | None
    ) -> Outcome:
        outcome, kept = fetched.outcome, fetched.kept
        if kept is None and fetched.response is not None:
            kept = archive.responses.keep_relevant(fetched.response, outcome)
        if kept is not None and away is not None and (kept.file or isinstance(outcome, Judged)):
            archive.duplicates.remember(kept)
        return archive.describe(outcome, kept, drawn) if isinstance(outcome, Judged) and kept is not None else outcome

    async def _with_scripts(
        self, visit: Visit, response: Response, fetched: Fetched, judged: Judged
    ) -> tuple[Fetched, RenderedDom | None]:
        """Renders the page if needed, and reads it again if the scripts produced a DOM."""
        done = None if self.scripts is None else await self.scripts.run(visit, response, judged.page)
        if done is None:
            return fetched, None
        rendering, used = done
        if not rendering.html:
            return replace(fetched, outcome=replace(judged, page=replace(judged.page, rendering=rendering))), None
        outcome = self.own.read(visit, replace(response, rendering=rendering))
        outcome = await outcome if isinstance(outcome, asyncio.Future) else outcome
        return replace(fetched, outcome=outcome), RenderedDom(rendering.html, used)


def outcome_of(error: Exception, visit: Visit, troubles: Troubles | None, came: bytes = b"") -> Outcome:
    """The outcome of a visit whose page raised an error when it was read; errors of storage are raised."""
    if isinstance(error, OSError):  # Disk full, or no process could be started: not the fault of the page.
        return Failure(line_of("read", error), HEALS_AFTER, here=True)
    if troubles is None or isinstance(error, OF_STORAGE):
        raise error
    return Trouble(troubles.keep(visit.url, "read", error, came))


def _sample(response: Response | None) -> bytes:
    """The beginning of a response, for the record of an error."""
    return b"" if response is None else response.head + response.body[:MOST_BYTES]


def _is_long_sitemap(visit: Visit, response: Response) -> bool:
    """Whether it is long or compressed. Others take a few milliseconds, and should not wait for a process to start."""
    return visit.purpose == "sitemap" and (len(response.body) > SHORT_SITEMAP or sitemaps.is_packed(response.body))


def _is_demanding(response: Response) -> bool:
    if response.rendering is not None and demanding(response.rendering.html.encode("utf8", "replace")):
        return True
    return is_html(response.body, response.headers.get("content-type", "")) and demanding(response.body)


@dataclass
class CollectingDownloader:
    """A downloader that keeps the judged pages with their texts in `came`."""

    downloader: Downloader
    came: dict[str, Judged]

    async def fetch(self, visit: Visit) -> Outcome:
        outcome = await self.downloader.fetch(visit)
        if isinstance(outcome, Judged):
            self.came[visit.url] = outcome
        return outcome
