"""`spoor demo`: two live crawls on a generated web that is served locally. No network, under a minute."""

from __future__ import annotations

import argparse
import asyncio
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from spoor import settings as config
from spoor.cli.crawling import LiveLine
from spoor.cli.terminal import announced, print_json, print_table, remark, say
from spoor.compiled import prepare
from spoor.demo.plan import PageKind, Place, Plan
from spoor.demo.server import DemoServer
from spoor.demo.site import plan
from spoor.errors import BadInput, MissingExtra, UsageError
from spoor.events import Event, Visited
from spoor.live.from_settings import kernels_for
from spoor.live.process import search_seldom_for_circles
from spoor.live.session import open_session
from spoor.parse.pdf import can_be_read
from spoor.render.browser import find_browser
from spoor.report.figures import figures
from spoor.report.page import write_page
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import VERSION, CrawlFolder, open_for_crawling

STRATEGIES = ("breadth-first", "learned")
EFFORT = 0.5
"""The demo is interactive: a crawl that waits for the best links would take minutes."""
CONTACT = "mailto:demo@spoor.invalid"
"""Sent to every server of the demo web; a folder with it in its settings contains an earlier demo."""
CONNECTIONS, DELAY = 32, 0.1
"""Concurrent requests, and the host delay in seconds: a tenth of that of a live crawl, like all times of the demo
web."""
COLUMNS = ("strategy", "visits", "Thai pages", "share", "failures", "hosts", "s", "disallowed requests")


@dataclass(frozen=True)
class Result:
    strategy: str
    visits: int
    found: int
    failed: int
    hosts: int
    seconds: float
    disallowed: int
    kinds: Mapping[PageKind, int]

    def row(self) -> list[str]:
        share = f"{self.found / self.visits:.0%}"
        return [
            self.strategy,
            f"{self.visits:,}",
            f"{self.found:,}",
            share,
            f"{self.failed:,}",
            f"{self.hosts}",
            f"{self.seconds:.1f}",
            f"{self.disallowed}",
        ]


def run_demo(arguments: argparse.Namespace) -> int:
    if arguments.max_pages < 1:
        raise UsageError(f"--max-pages {arguments.max_pages}: at least 1 is needed")
    folders = {strategy: arguments.out / strategy for strategy in STRATEGIES}
    for path in folders.values():
        make_room(path)
    web = plan()
    pages = sum(len(host.pages) for host in web.hosts.values())
    links = [link.to.address in web.dead for host in web.hosts.values() for link in host.links()]
    remark(f"a web of {len(web.hosts)} hosts and {pages:,} pages on this machine; the Thai pages are relevant;")
    remark(f"{sum(links) / len(links):.0%} of its links lead to {len(web.dead)} dead hosts\n")
    prepare([kernel for strategy in STRATEGIES for kernel in kernels_for(settings_for(strategy, (), 1))], announced)
    results = [crawl_into(path, strategy, web, arguments.max_pages) for strategy, path in folders.items()]
    for path in folders.values():
        write_page(figures(CrawlFolder(path)), CrawlFolder(path).report)
    if arguments.json:
        print_json([asdict(result) for result in results])
        return 0
    print_table(COLUMNS, [result.row() for result in results])
    say("", *_beyond_html(web, results))
    say("", *(f"the crawl is in {path}, its report in {CrawlFolder(path).report}" for path in folders.values()))
    return 0


KINDS: Mapping[PageKind, str] = {
    "unlinked": "Thai pages that only a sitemap lists",
    "pdf": "PDF in Thai",
    "scripted": "Thai pages that scripts make",
}


def _beyond_html(web: Plan, results: Sequence[Result]) -> Iterator[str]:
    there, remedies = Counter(web.kinds().values()), _remedies()
    for kind, name in KINDS.items():
        found = ", ".join(f"{result.kinds[kind]} by {result.strategy}" for result in results)
        yield f"{there[kind]} {name}: {found}{remedies.get(kind, '')}"


def _remedies() -> dict[PageKind, str]:
    """Remedies for pages that cannot be read on this machine."""
    remedies: dict[PageKind, str] = {}
    if not can_be_read():
        remedies["pdf"] = "; to read it, run: pip install 'spoor[documents]'"
    try:
        find_browser()
    except MissingExtra:
        remedies["scripted"] = "; a browser is needed to read them: docs/scripted-pages.md"
    return remedies


def make_room(path: Path) -> None:
    """Removes an earlier demo, even of another version. Raises for any other content, and for a running demo."""
    earlier = CrawlFolder(path).settings()
    is_demo = earlier is not None and CONTACT in earlier
    if not is_demo or _version(path) == VERSION:
        with open_for_crawling(path):
            if earlier is not None and not is_demo:
                raise BadInput(f"{path} holds a crawl that is not a demo; give --out another folder")
    shutil.rmtree(path)


def _version(path: Path) -> str:
    file = path / "version"
    return file.read_text("utf8", "replace").strip() if file.exists() else ""


def crawl_into(path: Path, strategy: str, web: Plan, max_pages: int) -> Result:
    search_seldom_for_circles()
    with open_for_crawling(path) as folder:
        return asyncio.run(_crawl(folder, strategy, web, max_pages))


async def _crawl(folder: CrawlFolder, strategy: str, web: Plan, max_pages: int) -> Result:
    """Starts a new server for each crawl, so that hosts that recover fail again at first."""
    async with DemoServer(web) as server:
        settings = settings_for(strategy, server.seeds, max_pages)
        folder.write_settings(config.dumps(settings))
        kinds, kind_of = Counter[PageKind](), web.kinds()
        async with open_session(folder, settings) as session:
            with LiveLine(session) as line:
                async for events in session.run():
                    line.tell(events)
                    kinds.update(kind_of[place] for place in _found(events) if place in kind_of)
            totals = session.totals()
        asked, disallowed = len(server.requests), server.disallowed.total()
        counts = (totals.visits, totals.relevant, totals.failures, asked, totals.seconds)
        return Result(strategy, *counts, disallowed, kinds)


def _found(events: Iterable[Event]) -> Iterator[Place]:
    """The locations of the Thai pages."""
    for event in events:
        if isinstance(event, Visited) and event.verdict.relevant:
            where = urlsplit(event.visit.url)
            yield Place(where.hostname or "", where.path)


def settings_for(strategy: str, seeds: tuple[str, ...], max_pages: int) -> Config:
    crawling = Crawling(
        seeds=seeds,
        strategy=strategy,
        max_pages=max_pages,
        effort=EFFORT,
        contact=CONTACT,
        connections=CONNECTIONS,
        allow_private=True,
        sitemaps=True,
    )
    return Config(Target(language="th"), crawling, politeness=Politeness(host_delay=DELAY))
