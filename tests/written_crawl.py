"""A crawl on disk, made by the real crawl, frontier and journal on a web written by hand: no network, no waiting."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from spoor.crawl import Crawl
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.scope import Scope
from spoor.ordering.simple import RelevantReferrer
from spoor.ordering.trails import SinceRelevant
from spoor.pricing import Limits
from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, Visit
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal, PageFacts
from spoor.store.run_time import RunTime
from spoor.store.warc import Kept
from spoor.store.warc_records import digest_of
from spoor.strategy import Strategy

POLITE = HostRules(delay=1.0, address_delay=0.25, ask_first=True)
SETTINGS = '[target]\nscript = "mongolian"\n\n[crawl]\nseeds = ["http://a.test/"]\n\n[politeness]\nhost_delay = 1.0\n'

HOSTILE = "<script>alert(1)</script>"
HOSTILE_URL = 'http://a.test/"><img src=x onerror=alert(2)>'
"""Not a URL that a parser would let pass; a database may hold it all the same."""


class Telling:
    """Looks at a world and tells the journal what a live crawl would; languages come from outside."""

    def __init__(
        self, world: WrittenWorld, journal: Journal, duplicates: Duplicates, languages: Mapping[str, str]
    ) -> None:
        self.world, self.journal, self.duplicates, self.languages = world, journal, duplicates, languages

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        outcome, seconds = self.world.fetch(visit)
        if not isinstance(outcome, Page):
            return outcome, seconds
        facts = self._facts(outcome)
        self.journal.tell(visit.url, facts)
        return replace(outcome, duplicate_of=facts.duplicate_of), seconds

    def truth(self, url: str) -> bool:
        return self.world.truth(url)

    def _facts(self, page: Page) -> PageFacts:
        digest = digest_of(page.text.encode() or page.url.encode())
        earlier = self.duplicates.same(digest)
        self.duplicates.remember(Kept(page.url, 0.0, digest, "", "", 0))
        twin = earlier.url if earlier is not None and earlier.url != page.url else ""
        return PageFacts(page.title, self.languages.get(page.url, ""), digest, duplicate_of=twin)


def crawl_into(
    path: Path,
    world: WrittenWorld,
    strategy: Strategy,
    seeds: Iterable[str],
    rules: HostRules = POLITE,
    limits: Limits | None = None,
    languages: Mapping[str, str] | None = None,
) -> CrawlFolder:
    """Runs to its end, and says in the journal why it ended."""
    with open_for_crawling(path) as folder, contextlib.closing(SqliteStore(folder.database)) as store:
        journal, duplicates = Journal.create(store.connection), Duplicates(store.connection)
        duplicates.create(store.connection)
        for part in (journal, duplicates):
            store.write_along(part.write)
        crawl = Crawl(strategy, Frontier(store, rules), limits, journal)
        crawl.begin(seeds)
        now = 0.0
        run_time = RunTime.create(store.connection, lambda: now)
        store.write_along(run_time.write)
        run_time.begin()
        for event in simulate(crawl, Telling(world, journal, duplicates, languages or {})):
            now = max(now, event.at)
        journal.end(now, crawl.ended())
        run_time.end()
        crawl.frontier.commit()
    return folder


def small_crawl(path: Path, visits: int | None = None, redirect_to: str = "http://b.test/") -> CrawlFolder:
    """Eleven visits: five pages (three wanted, one a copy), two redirects, a page that is gone and one that fails three
    times. One link is dropped when met, one by robots.txt, one parked when its host has given enough."""
    world, scope = small_world(redirect_to), Scope(exclude=("/private",), pages_per_host=4)
    strategy = Strategy(Truth("relevant", world.truth), RelevantReferrer(), SinceRelevant(), scope)
    languages = {"http://a.test/": "mn", "http://b.test/": "mn", "http://a.test/plain": "en"}
    folder = crawl_into(path, world, strategy, ["http://a.test/"], limits=Limits(visits), languages=languages)
    folder.write_settings(SETTINGS)
    return folder


def small_world(redirect_to: str) -> WrittenWorld:
    names = ("gone", "moved", "back", "plain", "private", "copy")
    links = [Link(f"http://a.test/{name}", anchor=name) for name in names]
    links += [Link(HOSTILE_URL), Link("http://c.test/secret"), Link("http://d.test/slow"), Link("http://a.test/last")]
    outcomes: dict[str, Outcome] = {
        "http://a.test/": Page("http://a.test/", size=500, title=HOSTILE, text="start", links=tuple(links)),
        "http://a.test/gone": Failure("HTTP 404"),
        "http://a.test/moved": Redirect(redirect_to),
        "http://d.test/slow": Failure("timed out", again_after=60.0),
        "http://a.test/back": Redirect("http://a.test/"),
        "http://a.test/plain": Page("http://a.test/plain", size=300, title="\x1b[31mPlain\u202e", text="plain"),
        "http://a.test/copy": Page("http://a.test/copy", size=300, title="Copy", text="plain"),
        HOSTILE_URL: Page(HOSTILE_URL, size=200, title="", text="hostile"),
        "http://b.test/": Page("http://b.test/", size=200, title="Эхлэл", text="elsewhere"),
        "http://a.test/last": Page("http://a.test/last"),
    }
    relevant = {"http://a.test/", "http://b.test/", HOSTILE_URL}
    rules = {"c.test": RobotsRules("User-agent: *\nDisallow: /secret"), "b.test": RobotsRules(address="192.0.2.1")}
    return WrittenWorld(outcomes, relevant, {"a.test": 2.0, "b.test": 0.5}, rules)
