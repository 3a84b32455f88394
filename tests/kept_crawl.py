"""A small crawl on disk with everything that a live one keeps: frontier, journal, duplicates and WARC files."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from pathlib import Path

from spoor import registry
from spoor.crawl import Crawl
from spoor.events import Event, Visited
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.pricing import Limits
from spoor.records import Link, Outcome, Page, RobotsRules, Visit
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal, PageFacts
from spoor.store.warc import Kept, WarcWriter, judgement
from spoor.store.warc_records import digest_of
from tests.kept_responses import NOON, response
from tests.written_crawl import POLITE

ABOUT = {"software": "spoor", "robots": "obey"}


def kept_crawl(path: Path, pages: int = 40, largest: int = 16_000, seed: int = 4) -> CrawlFolder:
    """Ended by its budget of so many visits, while links wait; a fifth of the pages are copies of others."""
    world, urls = _world(pages, random.Random(seed))
    with open_for_crawling(path) as folder, WarcWriter(folder.warcs, ABOUT, largest) as keeper:
        with contextlib.closing(SqliteStore(folder.database)) as store:
            archive = _Archive(keeper, Journal(), Duplicates(store.connection))
            for part in (archive.journal, archive.duplicates):
                part.create(store.connection)
                store.write_along(part.write)
            strategy = registry.strategy("learned", Truth("relevant", world.truth))
            crawl = Crawl(strategy, Frontier(store, POLITE), Limits(visits=pages), archive.journal)
            crawl.begin(urls[:2])
            for event in simulate(crawl, _Looking(world, archive)):
                archive.note([event])
            archive.journal.end(NOON + 9000, crawl.ended())
            crawl.frontier.commit()
        folder.write_settings('[target]\nscript = "thai"\n\n[crawl]\nseeds = ["http://a.test/0"]\n')
    return folder


def _world(pages: int, chance: random.Random) -> tuple[WrittenWorld, list[str]]:
    urls = [f"http://{chance.choice('abc')}.test/{number}" for number in range(pages)]
    outcomes: dict[str, Outcome] = {}
    for number, url in enumerate(urls):
        targets = [urls[(number * 3 + step) % pages] for step in (1, 2, 3)] + [f"http://d.test/{number}/?q=ä"]
        links = tuple(Link(target, anchor=f"to {target}") for target in dict.fromkeys(targets) if target != url)
        words = " ".join(str(chance.randrange(10**9)) for _ in range(40))
        text = "a copy of a copy" if number % 5 == 4 else f"page {number} {words}"
        outcomes[url] = Page(url, size=len(text), title=f"Page {number}", text=text, links=links)
    rules = {host: RobotsRules("User-agent: *\nDisallow: /private\n") for host in ("a.test", "b.test")}
    return WrittenWorld(outcomes, set(urls[::2]), {}, rules), urls


class _Archive:
    """Keeps what came before anybody reads it, as a live crawl does."""

    def __init__(self, keeper: WarcWriter, journal: Journal, duplicates: Duplicates) -> None:
        self.keeper, self.journal, self.duplicates = keeper, journal, duplicates
        self._kept: dict[str, Kept] = {}

    def keep(self, page: Page, at: float) -> None:
        came = response(page.url, f"<p>{page.text}".encode(), at=NOON + at)
        digest = digest_of(came.payload)
        earlier = self.duplicates.same(digest)
        kept = self._kept[page.url] = self.keeper.keep(came, digest, earlier)
        self.duplicates.remember(kept)
        number = int(page.url.rpartition("/")[2])
        twin = earlier.url if earlier is not None else ""
        facts = PageFacts(page.title, "en", digest, number * 0x0101_0101_0101_01, twin, kept.file, kept.offset)
        self.duplicates.alike(page.url, facts.simhash)
        self.journal.tell(page.url, facts)

    def note(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Visited):
                self.keeper.note(self._kept[event.visit.url], NOON + event.at, judgement(event.visit, event.verdict))


class _Looking:
    def __init__(self, world: WrittenWorld, archive: _Archive) -> None:
        self._world, self._archive = world, archive

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        outcome, seconds = self._world.fetch(visit)
        if isinstance(outcome, Page):
            self._archive.keep(outcome, visit.at)
        return outcome, seconds

    def truth(self, url: str) -> bool:
        return self._world.truth(url)
