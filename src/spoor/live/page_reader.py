"""The live downloader, from a visit to its outcome: fetch, store, parse, judge."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from spoor.errors import OF_STORAGE
from spoor.events import Event, Failed, Visited
from spoor.fetch.cookies import RedirectChain, RedirectCookies
from spoor.fetch.http import HttpFetcher
from spoor.fetch.responses import HEALS_AFTER, conditions, understand
from spoor.judging.detector import UNKNOWN, cld2_shares
from spoor.live.scripts import Scripts
from spoor.live.sitemap_archive import SitemapArchive
from spoor.live.sub_resources import SubResource
from spoor.live.workers import Workers
from spoor.parse import sitemaps
from spoor.parse.demanding import demanding
from spoor.parse.documents import kind_of
from spoor.parse.html import ParseOptions, is_html, read_page
from spoor.parse.main_text import extractor_named
from spoor.parse.simhash import text_fingerprint
from spoor.records import (
    Failure,
    Hints,
    Judged,
    Link,
    Outcome,
    Page,
    Redirect,
    Rendering,
    Response,
    Trouble,
    Verdict,
    Visit,
)
from spoor.robots import LONGEST_FILE
from spoor.roles import Downloader, Judge, LinkReader, Troubles
from spoor.settings import USUAL_PARSING, ParseSettings
from spoor.store.duplicates import Duplicates
from spoor.store.incidents import MOST_BYTES, line_of
from spoor.store.journal import Journal, PageFacts
from spoor.store.warc import Kept, WarcWriter, judgement, metadata, not_kept
from spoor.store.warc_records import digest_of
from spoor.strategy import Strategy, hinted, prior_of, reads_main_text, verdicts_of, waits
from spoor.urls import canonical

SHORT_SITEMAP = 50_000
"""Sitemaps of at most this many bytes are parsed in the event loop."""
GLANCE = 2_000
"""Characters used to detect the language of a page if the judge is no language detector."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Parses and judges a response. Pure, so it can run in another process. `texts`: the crawl itself needs the texts
    of pages. `labels`: the label of a verdict is a language. `waits`: reading may wait for a server, so it must not run
    in the event loop. `apart`: documents are read in another process."""

    judge: Judge
    links: LinkReader | None
    texts: bool
    parse_options: ParseOptions
    labels: bool
    waits: bool = False
    apart: bool = False

    @staticmethod
    def of(strategy: Strategy, most_links: int | None = None, parsing: ParseSettings = USUAL_PARSING) -> Reader:
        """`most_links`: further links of a page are counted but not read."""
        links = strategy.link_reader
        on_the_way = strategy.way_reads_content
        texts = on_the_way or (links is None and strategy.scorer.reads_content)
        contexts = on_the_way or strategy.scorer.reads_content
        extractor = extractor_named(parsing.main_text) if reads_main_text(strategy.judge) else None
        later = links is not None and not on_the_way
        parse_options = ParseOptions(extractor, contexts, most_links, parsing.context, parsing.documents, later)
        labels = bool(prior_of(strategy.judge).language)
        return Reader(
            strategy.judge, links, texts, parse_options, labels, waits(strategy.judge) or waits(strategy.scorer)
        )

    def read(self, visit: Visit, response: Response) -> Outcome:
        outcome = understand(visit, response, self.parse_options, self.apart)
        if not isinstance(outcome, Page):
            return outcome
        page = replace(
            with_canonical_links(outcome),
            text_fingerprint=text_fingerprint(outcome.text) if outcome.text else None,
        )
        began = time.perf_counter()
        (verdict,) = verdicts_of(self.judge, [page])
        seconds = time.perf_counter() - began
        return Judged(page, verdict, self._language(page, verdict), seconds)

    def warm_up(self) -> None:
        """Loads compiled code: most of a second in a new process, which must not count as time of the first page."""
        read_page("http://warm.invalid/", b"<title>t</title><p>Words and <a href=/>a link", "text/html")

    def read_in_worker(self, visit: Visit, response: Response) -> Outcome:
        """Reads in another process; what the crawl no longer needs is not sent back."""
        outcome = self.read(visit, response)
        if not isinstance(outcome, Judged):
            return outcome
        page, links = outcome.page, outcome.page.links
        if self.links is not None and links:
            links = tuple(hinted(self.links, page, links))
        page = replace(page, links=links, contexts=None)
        said = outcome.verdict, outcome.language, outcome.seconds
        if self.texts:
            return Judged(page, *said)
        return _Sent(replace(page, text="", main_text="", tag_texts={}), *said)

    def _language(self, page: Page, verdict: Verdict) -> str:
        """The label of a language judge, or else detected from the first `GLANCE` characters; "" if unknown."""
        if self.labels and verdict.label:
            return verdict.label
        found = next(iter(cld2_shares(page.text[:GLANCE])))
        return "" if found == UNKNOWN else found


class _Sent(Judged):
    """A judged page that is pickled compactly and arrives as `Judged`; its links keep only URL, nofollow and hints.
    Pickling an object per link would take four times as long."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Judged], tuple[object, ...]]:
        page, links = replace(self.page, links=()), self.page.links
        said = [link.url for link in links], [link.nofollow for link in links], [link.hints for link in links]
        return _received, (page, *said, self.verdict, self.language, self.seconds)


def _received(
    page: Page,
    urls: list[str],
    nofollow: list[bool],
    hints: list[Hints],
    verdict: Verdict,
    language: str,
    seconds: float,
) -> Judged:
    links = [
        Link(url, "", "", "", "", asked, "", "", "", False, read)
        for url, asked, read in zip(urls, nofollow, hints, strict=True)
    ]
    return Judged(replace(page, links=tuple(links)), verdict, language, seconds)


def with_canonical_links(page: Page) -> Page:
    """The page with its links by canonical URL, each once. They include the URL that it declares as canonical."""
    links: dict[str, Link] = {}
    names: dict[str, str] = {}
    if page.canonical:
        links[canonical(page.canonical)] = Link(canonical(page.canonical))
    for link in page.links:
        url = canonical(link.url)
        if url not in links:
            links[url] = link if url == link.url else link._replace(url=url)
            names[url] = link.url
    links.pop(page.url, None)
    found = tuple(links.values())
    if found == page.links:
        return page
    contexts = None if page.contexts is None else page.contexts.renamed(names)
    return replace(page, links=found, contexts=contexts)


@dataclass(frozen=True, slots=True)
class RenderedDom:
    """The DOM that scripts produced for a page, and the sub-resources that they used."""

    html: str
    used: Sequence[SubResource]


@dataclass
class Archive:
    """Stores everything of a live crawl besides the frontier: responses, verdicts, duplicates.

    A response is written to the WARC before it is parsed; with `relevant_only`, after it is judged, if it is relevant.
    `note` is called with the events of each batch and writes the verdicts to the WARC, all at once.
    """

    keeper: WarcWriter
    journal: Journal
    duplicates: Duplicates
    troubles: Troubles
    relevant_only: bool = False
    _held: dict[str, Response] = field(default_factory=dict, init=False)
    _kept: dict[str, Kept] = field(default_factory=dict, init=False)
    _languages: dict[str, str] = field(default_factory=dict, init=False)
    _rendered: dict[str, RenderedDom] = field(default_factory=dict, init=False)

    def keep(self, visit: Visit, response: Response) -> None:
        if self.relevant_only:
            self._held[visit.url] = response
        else:
            self._kept[visit.url] = self.archived(response)

    def keep_dom(self, visit: Visit, drawn: RenderedDom) -> None:
        """Keeps the DOM and sub-resources of a response that is archived, or may be."""
        self._rendered[visit.url] = drawn

    def _archived_tree(self, visit: Visit, rendering: Rendering, at: float) -> Rendering:
        """The rendering with the location of its DOM in the archive."""
        drawn, kept = self._rendered.pop(visit.url, None), self._kept[visit.url]
        if drawn is None or not kept.file:
            return rendering
        for used in drawn.used:
            if not used.is_kept:
                self.keeper.keep(used.response, kind=used.kind)
                used.is_kept = True
        file, offset = self.keeper.convert(kept, at, drawn.html)
        return replace(rendering, file=file, offset=offset)

    def archived(self, response: Response) -> Kept:
        digest = digest_of(response.payload)
        earlier = self.duplicates.same(digest) if response.payload else None
        earlier = earlier if earlier is not None and earlier.file else None
        kept = self.keeper.keep(response, digest, earlier)
        if earlier is None:
            self.duplicates.remember(kept)
        return kept

    def _decided(self, response: Response, outcome: Outcome) -> Kept:
        if isinstance(outcome, Judged) and outcome.verdict.relevant:
            return self.archived(response)
        left = not_kept(response)
        if isinstance(outcome, Judged):
            self.duplicates.remember(left)
        else:
            self.keeper.note(left, response.at, {"status": str(response.status), "because": _reason(outcome)})
        return left

    def describe(self, visit: Visit, outcome: Outcome) -> Outcome:
        """Passes facts to the journal that the event of the page does not contain. Returns the outcome, with the URL of
        which the page is a duplicate."""
        if (response := self._held.pop(visit.url, None)) is not None:
            self._kept[visit.url] = self._decided(response, outcome)
        kept = self._kept[visit.url]
        if not isinstance(outcome, Judged):
            del self._kept[visit.url]
            self._rendered.pop(visit.url, None)
            return outcome
        page = outcome.page
        if page.rendering is not None:
            at = page.rendering.fetched + page.rendering.seconds
            page = replace(page, rendering=self._archived_tree(visit, page.rendering, at))
        fingerprint = None if page.text_fingerprint is None else page.text_fingerprint.fingerprint
        # Pages rendered by scripts often share one payload, although their texts differ.
        is_scripted = page.rendering is not None and page.rendering.gained
        same = None if is_scripted else self.duplicates.same(kept.digest)
        twin = same.url if same is not None and same.url != page.url else ""
        copied = twin or self.duplicates.alike(page.url, fingerprint)
        facts = PageFacts(
            title=page.title,
            language=outcome.language,
            digest=kept.digest,
            simhash=fingerprint,
            duplicate_of=copied,
            warc_file=kept.file,
            warc_offset=kept.offset,
            noindex=page.noindex,
        )
        self.journal.tell(visit.url, facts)
        self._languages[visit.url] = outcome.language
        if copied != page.duplicate_of:
            page = replace(page, duplicate_of=copied)
        return outcome if page is outcome.page else replace(outcome, page=page)

    def note(self, events: Sequence[Event]) -> None:
        verdicts = []
        for event in events:
            if isinstance(event, Visited | Failed) and (kept := self._kept.pop(event.visit.url, None)) is not None:
                language = self._languages.pop(event.visit.url)
                if isinstance(event, Visited):
                    verdicts.append(self._verdict_record(kept, event, language))
        if verdicts:
            self.keeper.add(verdicts, events[0].at)

    def _verdict_record(self, kept: Kept, event: Visited, language: str) -> bytes:
        """b"" if an error prevents it."""
        status = {} if kept.file else {"status": str(event.status)}
        try:
            return metadata(kept, event.at, {**status, **judgement(event.visit, event.verdict, language)})
        except Exception as error:
            self.troubles.keep(event.visit.url, "recorded in the archive", error)
            return b""


def _reason(outcome: Outcome) -> str:
    """Why the outcome is not a page."""
    match outcome:
        case Redirect(to=target):
            return f"redirects to {target}"
        case Failure(reason=reason) | Trouble(reason=reason):
            return reason
        case _:
            return ""


@dataclass
class LiveDownloader:
    """Carries out visits over HTTP. Without an `archive` nothing is stored. Demanding pages, and those that failed
    before, are read and judged by the `workers`, which can be stopped; with `all_in_workers`, all pages are. If
    reading a page raises an exception, `troubles` records it with the response; without `troubles` it is raised.
    `accept_language` is the header of that name, sent only for pages; "" for none. `last_word` may change the verdict
    before it is stored. With `scripts`, pages that need it are rendered. With `sitemaps`, fetched sitemaps are stored
    there."""

    fetcher: HttpFetcher
    archive: Archive | None
    reader: Reader
    workers: Workers | None = None
    all_in_workers: bool = False
    troubles: Troubles | None = None
    accept_language: str = ""
    last_word: Callable[[Outcome], Outcome] | None = None
    sitemaps: SitemapArchive | None = None
    scripts: Scripts | None = None
    cookies: RedirectCookies = field(default_factory=RedirectCookies, init=False)

    async def fetch(self, visit: Visit) -> Outcome:
        if visit.purpose == "robots":
            return await self._rules(visit)
        chain = self.cookies.chain_to(visit.url)
        outcome = await self._page(visit, chain)
        return self.cookies.follow(chain, visit.url, outcome) if isinstance(outcome, Redirect) else outcome

    async def _page(self, visit: Visit, chain: RedirectChain) -> Outcome:
        response = await self._fetched(visit, chain)
        if isinstance(response, Failure):
            return response
        chain.note(response)
        archive = self.archive if visit.purpose == "page" else None
        if archive is not None:
            archive.keep(visit, response)
        came = response.head + response.body[:MOST_BYTES]
        is_page = visit.purpose == "page" and self.scripts is not None
        kept = response if is_page and Scripts.may_run(response) else None
        try:
            outcome = self._read(visit, response)
            del response  # the queue of the workers holds the body, which may be large
            if isinstance(outcome, asyncio.Future):
                outcome = await outcome
            if kept is not None and isinstance(outcome, Judged):
                outcome = await self._with_scripts(visit, kept, outcome)
            outcome = outcome if self.last_word is None else self.last_word(outcome)
        except OSError as error:  # Disk full, or no process could be started: not the fault of the page.
            outcome = Failure(line_of("read", error), HEALS_AFTER, here=True)
        except Exception as error:
            if self.troubles is None or isinstance(error, OF_STORAGE):
                raise
            outcome = Trouble(self.troubles.keep(visit.url, "read", error, came))
        return outcome if archive is None else archive.describe(visit, outcome)

    async def _with_scripts(self, visit: Visit, response: Response, judged: Judged) -> Outcome:
        """Renders the page if needed, and reads it again if the scripts produced a DOM."""
        assert self.scripts is not None
        done = await self.scripts.run(visit, response, judged.page)
        if done is None:
            return judged
        rendering, used = done
        if not rendering.html:
            return replace(judged, page=replace(judged.page, rendering=rendering))
        if self.archive is not None:
            self.archive.keep_dom(visit, RenderedDom(rendering.html, used))
        outcome = self._read(visit, replace(response, rendering=rendering))
        return await outcome if isinstance(outcome, asyncio.Future) else outcome

    async def _fetched(self, visit: Visit, chain: RedirectChain) -> Response | Failure:
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

    def _read(self, visit: Visit, response: Response) -> Outcome | asyncio.Future[Outcome]:
        is_slow = self.reader.waits or _is_long_sitemap(visit, response) or self._is_document(response)
        if self.workers is None and is_slow:
            return asyncio.ensure_future(asyncio.to_thread(self.reader.read_in_worker, visit, response))
        if self.workers is None or not (self.all_in_workers or is_slow or visit.apart or _is_demanding(response)):
            return self.reader.read(visit, response)
        return self.workers.read(visit, response)

    def _is_document(self, response: Response) -> bool:
        content_type = response.headers.get("content-type", "")
        return (
            self.reader.parse_options.documents and kind_of(response.body, content_type) != "" and response.body != b""
        )

    async def _rules(self, visit: Visit) -> Outcome:
        response = await self.fetcher.fetch(visit.url, True, LONGEST_FILE, conditions(visit.etag, visit.modified))
        return response if isinstance(response, Failure) else understand(visit, response)


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
