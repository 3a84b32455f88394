"""Fetches given URLs as politely as a crawl, and keeps the pages in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Refused, Visited
from spoor.frontier.entry import OPEN
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.live.downloader import CollectingDownloader, LiveDownloader, PageFetcher
from spoor.live.driver import LiveDriver
from spoor.live.from_settings import AGENT, fetcher_for, host_rules
from spoor.live.page_reader import Reader
from spoor.live.watchdog import SteadyClock
from spoor.ordering.scope import Scope
from spoor.ordering.simple import Arrival
from spoor.parse.html import ParseOptions
from spoor.parse.main_text import extractor_named
from spoor.pricing import Limits
from spoor.progress import Advance
from spoor.records import Judged, Page
from spoor.settings import Config
from spoor.store.incidents import SavedTroubles
from spoor.strategy import Strategy


@dataclass
class Samples:
    """Fetched `pages` by URL, after redirects; `failed`: reasons by URL."""

    pages: dict[str, Page] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


async def pages_at(urls: Sequence[str], settings: Config, advance: Advance) -> Samples:
    """Fetches `urls`, which must be normalised, but none of their links. `advance` is called for each that is done."""
    samples, relevant = Samples(), Truth("sample", lambda url: True)
    parse_options = ParseOptions(extractor_named(settings.parse.main_text), contexts=False)
    reader = Reader(relevant, None, texts=True, parse_options=parse_options, labels=False)
    strategy = Strategy(relevant, Arrival(), admission=Scope(max_depth=0))
    troubles, frontier = SavedTroubles(None), Frontier(MemoryStore(), host_rules(settings))
    crawl = Crawl(strategy, frontier, Limits(agent=AGENT, robots_tries=3), troubles=troubles)
    crawl.begin(urls)
    came: dict[str, Judged] = {}
    async with fetcher_for(settings) as fetcher:
        downloader = CollectingDownloader(LiveDownloader(PageFetcher(fetcher, reader)), came)
        async for events in LiveDriver(crawl, downloader, settings.crawl.connections, SteadyClock(), troubles).run():
            for event in events:
                advance(_noted(event, samples))
    samples.pages = {url: judged.page for url, judged in came.items()}
    postponed = [entry for entry in crawl.frontier.find(urls) if entry is not None and entry.state in OPEN]
    samples.failed |= {entry.url: entry.because for entry in postponed}
    return samples


def _noted(event: Event, samples: Samples) -> int:
    """The number of URLs that the event completes, 0 or 1."""
    match event:
        case Failed(visit, reason=reason, again_at=None) if visit.purpose == "page":
            samples.failed[visit.url] = reason
        case Refused(refusal=refusal):
            samples.failed[refusal.url] = refusal.because
        case Redirected(visit, because=because) if because:
            samples.failed[visit.url] = because
        case Visited():
            pass
        case _:
            return 0
    return 1
