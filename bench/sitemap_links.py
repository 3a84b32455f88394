"""What are sitemaps worth to a crawl? `learned` on generated webs that are given sitemaps, under field conditions, with
and without asking for them.

As on 153 real sites, 43 % of the hosts have a sitemap that lists 77 % of their pages, and 11 % of the pages in it are
reached by no link. The figures are relevant pages found, with the same number of fetches; intervals are of the means
over seeds, two standard errors."""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

from spoor import registry
from spoor.cli.terminal import print_table
from spoor.crawl import Crawl
from spoor.events import SitemapRead, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.simulated import simulate
from spoor.lab.web import Web
from spoor.lab.worlds import FIELD, Network, RecordedWorld
from spoor.pricing import Limits
from spoor.records import Failure, Listed, Outcome, Page, RobotsRules, SitemapFile, Visit
from spoor.settings import seeds_in
from spoor.urls import host_of, origin_of

HAS_SITEMAP, LISTED, UNLINKED = 0.43, 0.77, 0.11
LIKE = "thai topical mongolian"


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench sitemap-links", description=__doc__)
    parser.add_argument("--like", default=LIKE, metavar="NAMES", help="generators (%(default)s)")
    parser.add_argument("--pages", type=int, default=8_000, metavar="N", help="of each web (%(default)s)")
    parser.add_argument("--seeds", type=int, default=6, metavar="N", help="webs of each kind (%(default)s)")
    parser.add_argument("--visits", default="500,2000", metavar="N,…", help="fetches (%(default)s)")
    parser.add_argument("--unlinked", type=float, default=UNLINKED, metavar="P", help="of listed pages (%(default)s)")
    asked = parser.parse_args(options)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.like.split():
            webs = [_web(name, asked.pages, seed, Path(folder)) for seed in range(1, asked.seeds + 1)]
            rows += [_row(name, webs, int(visits), asked.unlinked) for visits in asked.visits.split(",")]
    print_table(("web", "fetches", "without", "with", "gain", "unlinked found", "sitemaps read", "time"), rows)


def _web(name: str, pages: int, seed: int, folder: Path) -> Web:
    out = folder / f"{name}-{seed}"
    generate(Request(name, pages, seed), out, lambda done: None)
    return Web.open(out)


def _row(name: str, webs: Sequence[Web], visits: int, unlinked: float) -> list[str]:
    both = [[_crawled(web, visits, unlinked, sitemaps) for sitemaps in (False, True)] for web in webs]
    without, with_them = (mean(pair[on].found for pair in both) for on in (0, 1))
    gains = [pair[1].found / pair[0].found - 1 for pair in both]
    spread = 2 * stdev(gains) / sqrt(len(gains)) if len(gains) > 1 else 0.0
    slower = mean(pair[1].seconds / pair[0].seconds for pair in both)
    counts = (f"{mean(pair[1].unlinked for pair in both):.0f}", f"{mean(pair[1].read for pair in both):.0f}")
    gain = f"{mean(gains):+.1%} ± {spread:.1%}"
    return [name, f"{visits:,}", f"{without:.0f}", f"{with_them:.0f}", gain, *counts, f"{slower:.2f} ×"]


@dataclass(frozen=True)
class Found:
    """Relevant pages, those of them to which nobody links, how often a sitemap was read, virtual seconds."""

    found: int
    unlinked: int
    read: int
    seconds: float


def _crawled(web: Web, visits: int, unlinked: float, sitemaps: bool) -> Found:
    world = ListedWorld(RecordedWorld(web, web.labelled("relevant") & web.answers(), web.has_content), unlinked)
    strategy = registry.strategy("learned", Truth("relevant", world.truth))
    limits = Limits(visits=visits, sitemaps=sitemaps)
    crawl = Crawl(strategy, Frontier(MemoryStore(), HostRules(delay=FIELD.delay, ask_first=True)), limits)
    crawl.begin(seeds_in(web.folder / "seeds.txt"))
    events = list(simulate(crawl, Network(world, FIELD), FIELD.connections))
    found = [event.visit.url for event in events if isinstance(event, Visited) and world.truth(event.visit.url)]
    read = sum(isinstance(event, SitemapRead) for event in events)
    return Found(len(found), sum(map(world.is_unlinked, found)), read, events[-1].at)


class ListedWorld:
    """A web whose hosts have sitemaps: which, what they list, and to what nobody links, is drawn from the URLs."""

    def __init__(self, world: RecordedWorld, unlinked: float) -> None:
        self._world, self._unlinked = world, unlinked
        self._seeds = frozenset(seeds_in(world.web.folder / "seeds.txt"))
        self._urls: dict[str, list[str]] = {}
        for number in range(world.web.pages):
            url = world.web.urls[number]
            if self._lists(url):
                self._urls.setdefault(host_of(url), []).append(url)

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        if visit.purpose == "robots":
            return RobotsRules(f"Sitemap: {origin_of(visit.url)}/sitemap.xml\n"), 0.0
        if visit.purpose == "sitemap":
            urls = self._urls.get(visit.host)
            return SitemapFile("urlset", tuple(map(Listed, urls)), len(urls)) if urls else Failure("HTTP 404"), 0.0
        outcome, seconds = self._world.fetch(visit)
        if isinstance(outcome, Page):
            outcome = replace(outcome, links=tuple(link for link in outcome.links if not self.is_unlinked(link.url)))
        return outcome, seconds

    def truth(self, url: str) -> bool:
        return self._world.truth(url)

    def is_unlinked(self, url: str) -> bool:
        return _drawn("unlinked", url) < self._unlinked and url not in self._seeds and self._lists(url)

    @staticmethod
    def _lists(url: str) -> bool:
        return _drawn("has", host_of(url)) < HAS_SITEMAP and _drawn("lists", url) < LISTED


@cache
def _drawn(what: str, whose: str) -> float:
    return int.from_bytes(hashlib.blake2b(f"{what} {whose}".encode(), digest_size=6).digest(), "big") / 2**48
