"""How many of the pages listed in a sitemap or feed are queued: a few at first, more if these turn out relevant.

A sitemap is a link in the frontier, so host delays, robots.txt, retries and resuming apply to it; its counts (see
`_STARTED`) are its evidence. It is queued before all other links of its host, like a seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from spoor.crawling.scoring import Offered, Scoring
from spoor.events import SitemapRead
from spoor.frontier.entry import INDEX_DEPTH, Entry, State
from spoor.frontier.frontier import Frontier
from spoor.parse.sitemaps import evenly
from spoor.records import (
    SOONEST,
    Evidence,
    Handed,
    Link,
    Listed,
    Page,
    Sighting,
    SitemapFile,
    Verdict,
    Visit,
    sighting_elsewhere,
)
from spoor.roles import Admission, HostBounds
from spoor.urls import host_of, origin_of, robots_url

MOST_ANNOUNCED, MOST_FEEDS = 3, 2
"""The most sitemaps of a robots.txt and feeds of a page that are fetched."""
FIRST_PAGES, FIRST_SITEMAPS = 50, 3
"""The first number taken from one file, evenly spread: pages of a sitemap, sitemaps of an index. Then the total
doubles."""
PAYS = 0.25
"""The share of admitted pages that must have been relevant before more are admitted."""
DEEPEST_INDEX = 1
"""Number of indexes allowed between robots.txt and an index: the protocol allows none, some sites have one."""

TOO_DEEP = "an index nested too deeply"
_SITEMAP_NAME = re.compile(r"sitemap|feed|rss|atom|\.xml|\.txt|\.gz", re.IGNORECASE)
_STARTED: Evidence = {INDEX_DEPTH: 0.0, "index": 0.0, "left": 0.0, "let_in": 0.0, "fetched": 0.0, "relevant": 0.0}
"""Number of indexes above it; whether it is an index; unknown URLs left over when it was read, and URLs admitted; pages
fetched that were found in it, and how many of these were relevant."""


def may_be_sitemap(url: str) -> bool:
    """Decided by its name. Without a sitemap, many hosts redirect to their home page, which must remain a page."""
    return _SITEMAP_NAME.search(url[len(origin_of(url)) :]) is not None


class SitemapBudget:
    """The sitemaps and feeds of a host are fetched once it has a relevant page. Each file is read once, and again
    whenever a quarter of the admitted pages were relevant and it lists more: its contents are not stored in between."""

    def __init__(
        self, frontier: Frontier, scoring: Scoring, announced: Callable[[str], Sequence[str]], admission: Admission
    ) -> None:
        """`announced` returns the sitemaps named in the robots.txt of a URL."""
        self._frontier = frontier
        self._scoring = scoring
        self._announced = announced
        self._bounds = admission if isinstance(admission, HostBounds) else None
        self._asked: set[str] = set()

    def page_came(self, sighting: Sighting) -> None:
        """To be called for every page, once it is settled."""
        self._count(sighting.visit.found_on, sighting.is_find)
        origin = origin_of(sighting.visit.url)
        if sighting.verdict.relevant and origin not in self._asked:
            self._asked.add(origin)
            self._ask(sighting)

    def _ask(self, sighting: Sighting) -> None:
        """Skipped if an earlier process has done it."""
        visit, host = sighting.visit, sighting.visit.host
        announced = self._announced(visit.url)[:MOST_ANNOUNCED] or [f"{origin_of(visit.url)}/sitemap.xml"]
        if any(map(self._is_sitemap, announced)):
            return
        feeds = [feed for feed in sighting.page.feeds if host_of(feed) == host][:MOST_FEEDS]
        for url in dict.fromkeys([*announced, *feeds]):
            self._add(url, _STARTED, sighting.visit, robots_url(visit.url), sighting.trail)

    def _is_sitemap(self, url: str) -> bool:
        (entry,) = self._frontier.find([url])
        return entry is not None and entry.is_sitemap

    def _add(self, url: str, evidence: Evidence, visit: Visit, found_on: str, trail: object) -> bool:
        """A URL known as a page remains a page, and hosts out of scope are skipped. A sitemap on a host of another
        shard is read there."""
        if not self._covers(url):
            return False
        if self._scoring.is_foreign(url):
            page = sighting_elsewhere(found_on, visit.depth - 1, trail)
            self._scoring.hand_over(Handed(Link(url), evidence, page, is_seed=True))
            return False
        if self._frontier.find([url]) != [None]:
            return False
        self._frontier.add(Entry(url, host_of(url), SOONEST, evidence, trail, visit.depth, found_on))
        return True

    def _covers(self, url: str) -> bool:
        return self._bounds is None or self._bounds.covers(host_of(url))

    def refusal(self, url: str) -> str:
        """Why the redirect of a sitemap is not followed; "" if it is."""
        if not may_be_sitemap(url):
            return "not a sitemap by its name"
        return "" if self._covers(url) else "outside scope"

    def _count(self, sitemap: str, relevant: bool) -> None:
        """Updates the sitemap in which a page was found, and the indexes above it."""
        while sitemap:
            (entry,) = self._frontier.find([sitemap])
            if entry is None or not entry.is_sitemap:
                return
            known = entry.evidence
            self._note(entry, {"fetched": known["fetched"] + 1, "relevant": known["relevant"] + relevant})
            if entry.state is State.SETTLED and _pays(entry.evidence):
                self._frontier.admit(entry)
            sitemap = entry.found_on

    def _note(self, entry: Entry, known: Evidence) -> None:
        self._frontier.change(entry, entry.key, {**entry.evidence, **known}, entry.trail)

    def take_in(self, visit: Visit, file: SitemapFile, now: float, waiting: int) -> SitemapRead:
        """Processes a sitemap. `waiting` is the length of the queue."""
        self._frontier.settle(visit.url, now)
        own = self._own(visit, file.listed)
        known = self._frontier.find([listed.url for listed in own])
        new = [listed for listed, entry in zip(own, known, strict=True) if entry is None]
        is_index = file.kind == "index"
        let_in = int(visit.evidence["let_in"])
        chosen = evenly(new, let_in or (FIRST_SITEMAPS if is_index else FIRST_PAGES))
        offered = self._offer_sitemaps(visit, chosen) if is_index else self._offer_pages(visit, file.kind, chosen)
        (entry,) = self._frontier.find([visit.url])
        assert entry is not None
        left = float(len(new) - len(chosen))
        self._note(entry, {"index": float(is_index), "left": left, "let_in": float(let_in + len(chosen))})
        counts = (file.count, len(file.listed) - len(own), offered.added, tuple(offered.refused))
        claims = tuple(listed for listed in chosen if listed.language or listed.date)
        cut = TOO_DEEP if is_index and _is_too_deep(visit) else file.cut
        return SitemapRead(visit, now, file.kind, *counts, claims, cut, waiting)

    def _own(self, visit: Visit, listed: Sequence[Listed]) -> list[Listed]:
        """The URLs of the host of the file and of the host that announced it: a sitemap has no authority for others."""
        announcer = self._announcer(visit)
        hosts = {visit.host, host_of(announcer) if announcer else ""}
        return [each for each in listed if host_of(each.url) in hosts and each.url != visit.url]

    def _announcer(self, visit: Visit) -> str:
        """The robots.txt or page in which the topmost of the sitemaps that lead here was found."""
        found_on = visit.found_on
        while found_on and (entry := self._frontier.find([found_on])[0]) is not None and entry.is_sitemap:
            found_on = entry.found_on
        return found_on

    def _offer_sitemaps(self, visit: Visit, listed: Sequence[Listed]) -> Offered:
        if _is_too_deep(visit):
            return Offered()
        evidence = {**_STARTED, INDEX_DEPTH: visit.evidence[INDEX_DEPTH] + 1}
        return Offered(sum(self._add(each.url, evidence, visit, visit.url, visit.trail) for each in listed))

    def _offer_pages(self, visit: Visit, kind: str, listed: Sequence[Listed]) -> Offered:
        """Offered like the links of a page as relevant as the pages found through the file so far."""
        relevance = (visit.evidence["relevant"] + 1) / (visit.evidence["fetched"] + 2)
        verdict = Verdict(relevance, True, "a sitemap of a host with relevant pages")
        links = tuple(
            Link(each.url, hreflang=each.language, rel="sitemap", path=kind, navigation=True) for each in listed
        )
        return self._scoring.offer(Sighting(visit, Page(visit.url, links=links), verdict, visit.trail))


def _is_too_deep(index: Visit) -> bool:
    return index.evidence[INDEX_DEPTH] > DEEPEST_INDEX


def _pays(known: Evidence) -> bool:
    """Whether more of its URLs should be admitted."""
    pages = known["let_in"] * (FIRST_PAGES if known["index"] else 1)
    return known["left"] > 0 and known["relevant"] >= PAYS * pages > 0
