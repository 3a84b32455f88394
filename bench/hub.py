"""A hub: one page with half a million links, and what the crawl after it costs by strategy, on the SQLite store."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from spoor import registry
from spoor.crawl import Crawl
from spoor.events import Visited
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.pricing import Limits
from spoor.records import Link, Outcome, Page, Visit

HUB = "http://hub.test/"
FOLDERS = 500
"""Folders over which the links of the hub are spread; one in five holds relevant pages."""
LINKS_PER_PAGE = 40
WORDS = ("shop", "river", "engine", "garden", "museum", "letter", "winter")


@dataclass(frozen=True)
class HubWeb:
    """The hub links to `links` pages on `hosts` hosts. Each of them links to some of the others."""

    links: int
    hosts: int

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        if visit.url == HUB:
            return Page(HUB, links=tuple(map(self.link, range(self.links)))), 1.0
        number = number_of(visit.url)
        near = {(number + step * step) % self.links for step in range(1, LINKS_PER_PAGE + 1)}
        return Page(visit.url, links=tuple(map(self.link, sorted(near)))), 1.0

    def link(self, number: int) -> Link:
        folder = number % FOLDERS
        host = "hub.test" if self.hosts == 1 else f"h{number % self.hosts}.test"
        anchor = f"{WORDS[number % len(WORDS)]} {WORDS[folder % len(WORDS)]}"
        return Link(f"http://{host}/{folder}/{number}", anchor, path="html/body/ul/li/a")

    def truth(self, url: str) -> bool:
        return url != HUB and number_of(url) % FOLDERS % 5 == 0 and number_of(url) % 3 > 0


def number_of(url: str) -> int:
    return int(url.rpartition("/")[2])


class WatchedCrawl(Crawl):
    """Notes the longest time that one decision took."""

    longest = 0.0

    def next_visit(self, now: float) -> Visit | None:
        began = time.perf_counter()
        visit = super().next_visit(now)
        self.longest = max(self.longest, time.perf_counter() - began)
        return visit


@dataclass(frozen=True)
class Spent:
    """Seconds of processor time: for the hub, and for all visits after it; the longest decision; relevant pages."""

    hub: float
    after: float
    longest: float
    relevant: int


def spent(strategy: str, web: HubWeb, visits: int) -> Spent:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "frontier.db")
        crawl = WatchedCrawl(
            registry.strategy(strategy, Truth("relevant", web.truth)), Frontier(store), Limits(visits=visits + 1)
        )
        crawl.begin([HUB])
        times, relevant = [time.process_time()], 0
        for event in simulate(crawl, web):
            if isinstance(event, Visited):
                times.append(time.process_time())
                relevant += event.verdict.relevant
        store.close()
    return Spent(times[1] - times[0], times[-1] - times[1], crawl.longest, relevant)


def compare(links: int, hosts: int, visits: int) -> None:
    web = HubWeb(links, hosts)
    print(f"a hub of {links:,} links to {hosts:,} host{'s' * (hosts > 1)}, then {visits} visits", flush=True)
    sums: list[float] = []
    for strategy in ("breadth-first", "learned"):
        one = spent(strategy, web, visits)
        sums.append(one.hub + one.after)
        print(
            f"  {strategy:14} hub {one.hub:6.1f} s of CPU   after it {1000 * one.after / visits:7.2f} ms a visit   "
            f"together {sums[-1]:6.1f} s   longest decision {1000 * one.longest:5.0f} ms   {one.relevant} relevant",
            flush=True,
        )
    print(f"  learned takes {sums[1] / sums[0]:.2f} times the CPU of breadth-first")
