"""Reads a response: parses and judges it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

from spoor.compiled import Kernels, prepare
from spoor.fetch.responses import understand
from spoor.judging.detector import UNKNOWN, cld2_shares
from spoor.live.saturated import SaturatedLinks
from spoor.parse import demanding, html, simhash
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import extractor_named
from spoor.parse.simhash import text_fingerprint
from spoor.records import Hints, Judged, Link, Outcome, Page, Response, Verdict, Visit
from spoor.roles import Judge, LinkReader
from spoor.settings import USUAL_PARSING, ParseSettings
from spoor.strategy import Strategy, hinted, kernels_of, prior_of, verdicts_of, waits
from spoor.urls import canonical, first_within

MAX_LINK_CHARACTERS = 1_000_000
"""Characters of all URLs of a page together. With a long `<base>` a short page could give 32 MB of them, and the pages
of 64 hosts at once 2 GB."""
GLANCE = 2_000
"""Characters used to detect the language of a page if the judge is no language detector."""


KERNELS = (*demanding.KERNELS, *html.KERNELS, *simhash.KERNELS)
"""The compiled functions that read any page."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Parses and judges a response. Pure, so it can run in another process. `texts`: the crawl itself needs the texts
    of pages. `labels`: the label of a verdict is a language. `waits`: reading may wait for a server, so it must not run
    in the event loop. `apart`: documents are read in another process. `is_away`: what is read is sent to the process
    that has the frontier, without the `saturated` links unless it needs `texts`."""

    judge: Judge
    links: LinkReader | None
    texts: bool
    parse_options: ParseOptions
    labels: bool
    waits: bool = False
    apart: bool = False
    is_away: bool = False
    saturated: SaturatedLinks | None = None

    @staticmethod
    def of(strategy: Strategy, most_links: int | None = None, parsing: ParseSettings = USUAL_PARSING) -> Reader:
        """`most_links`: further links of a page are counted but not read."""
        links = strategy.link_reader
        on_the_way = strategy.way_reads_content
        texts = on_the_way or (links is None and strategy.scorer.reads_content)
        contexts = on_the_way or strategy.scorer.reads_content
        extractor = extractor_named(parsing.main_text) if strategy.reads_main_text else None
        later = links is not None and not on_the_way
        parse_options = ParseOptions(extractor, contexts, most_links, parsing.context, parsing.documents, later)
        labels = bool(prior_of(strategy.judge).language)
        return Reader(
            strategy.judge, links, texts, parse_options, labels, waits(strategy.judge) or waits(strategy.scorer)
        )

    def read(self, visit: Visit, response: Response) -> Outcome:
        return self.read_in_worker(visit, response) if self.is_away else self._read(visit, response)

    def _read(self, visit: Visit, response: Response) -> Outcome:
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

    @property
    def kernels(self) -> Kernels:
        """The compiled functions that reading calls."""
        return (*KERNELS, *kernels_of(self.judge), *kernels_of(self.links))

    def warm_up(self) -> None:
        """Loads compiled code: most of a second in a new process, which must not count as time of the first page."""
        prepare(self.kernels)
        read_page("http://warm.invalid/", b"<title>t</title><p>Words and <a href=/>a link", "text/html")

    def read_in_worker(self, visit: Visit, response: Response) -> Outcome:
        """Reads in another process; what the crawl no longer needs is not sent back."""
        outcome = self._read(visit, response)
        if not isinstance(outcome, Judged):
            return outcome
        page = outcome.page
        links: Sequence[Link] = page.links
        if self.saturated is not None and not self.texts:
            links = self.saturated.without(links, outcome.verdict.relevant)
        left_out = len(page.links) - len(links)
        if self.links is not None and links:
            links = hinted(self.links, page, links)
        page = replace(page, links=tuple(links), unrecorded=page.unrecorded + left_out, contexts=None)
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
    Pickling an object per link would take four times as long, and dataclasses one by one twice as long."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Judged], tuple[object, ...]]:
        links, verdict = self.page.links, self.verdict
        said = [link.url for link in links], [link.nofollow for link in links], [link.hints for link in links]
        judged = verdict.relevance, verdict.relevant, verdict.because, verdict.label
        return _received, (_OF_PAGE(self.page), *said, judged, self.language, self.seconds)


_NAMES = [part.name for part in fields(Page) if part.name != "links"]
_OF_PAGE = attrgetter(*_NAMES)
_BEFORE_LINKS = [part.name for part in fields(Page)].index("links")


def _received(
    values: tuple[Any, ...],
    urls: list[str],
    nofollow: list[bool],
    hints: list[Hints],
    judged: tuple[Any, ...],
    language: str,
    seconds: float,
) -> Judged:
    links = tuple(
        [
            Link(url, "", "", "", "", asked, "", "", "", False, read)
            for url, asked, read in zip(urls, nofollow, hints, strict=True)
        ]
    )
    of_page: tuple[Any, ...] = (*values[:_BEFORE_LINKS], links, *values[_BEFORE_LINKS:])
    return Judged(Page(*of_page), Verdict(*judged), language, seconds)


def with_canonical_links(page: Page) -> Page:
    """The page with its links by canonical URL, each once, within `MAX_LINK_CHARACTERS`. They include the URL that it
    declares as canonical."""
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
    found = tuple(links.values())[: first_within(links, MAX_LINK_CHARACTERS)]
    if found == page.links:
        return page
    contexts = None if page.contexts is None else page.contexts.renamed(names)
    return replace(page, links=found, unrecorded=page.unrecorded + len(links) - len(found), contexts=contexts)
