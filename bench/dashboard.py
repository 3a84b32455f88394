"""The dashboard of a large crawl: how soon it opens, and how soon each view answers.

The folder is that of `python -m bench long-crawl`: a million pages, ten million links. It is opened with none of it in
the page cache of the system; views are asked while everything is still being counted, and again afterwards. The time
until an answer is there depends on what else the machine does; the processor time of the thread that answers does
not."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from bench.long_crawl import Folder, Size, evict, settings_of
from spoor import settings as config
from spoor.cli.terminal import print_table
from spoor.dashboard.guard import Guard
from spoor.dashboard.reading import Reading
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import WatchedCrawl, answer_promptly
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling

Answer = TypeVar("Answer")
ROUNDS = 5
VIEWS = {
    "overview": "crawls/1",
    "chart, over requests": "chart?what=share",
    "chart, over time": "chart?what=waiting&over=time",
    "hosts, by relevant pages": "crawls/1/hosts",
    "hosts, by mean seconds": "crawls/1/hosts?sort=seconds",
    "hosts, searched": "crawls/1/hosts?search=h77&sort=share",
    "pages, newest": "crawls/1/pages",
    "pages, best": "crawls/1/pages?order=best",
    "pages, borderline": "crawls/1/pages?order=borderline",
    "pages, best of a host": "crawls/1/pages?order=best&host=h3.test",
    "pages, of a language and verdict": "crawls/1/pages?language=en&verdict=relevant&order=best",
    "pages, searched": "crawls/1/pages?search=site",
    "pages, searched, best": "crawls/1/pages?search=site&order=best",
    "a page": "crawls/1/pages/{page}",
    "queue": "crawls/1/queue",
    "queue, of a host": "crawls/1/queue?host=h3.test",
    "why, of a link that waits": "crawls/1/why?url={waiting}",
    "why, of a URL that is not known": "crawls/1/why?url=http://h3.test/unheard-of",
    "failures": "crawls/1/failures",
    "log": "crawls/1/events",
    "settings": "crawls/1/settings",
}


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench dashboard", description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000, metavar="N", help="(1,000,000)")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="one that was made before, or is to be kept")
    asked = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch) / "crawl"
        if not folder.exists():
            write(folder, asked.pages)
        for name in ("dashboard.db", "dashboard.db-wal", "dashboard.db-shm"):
            (folder / name).unlink(missing_ok=True)
        evict(folder)
        asyncio.run(measure(CrawlFolder(folder)))


def write(folder: Path, pages: int) -> None:
    began = time.perf_counter()
    with open_for_crawling(folder) as opened:
        opened.write_settings(config.dumps(settings_of("")))
        Folder(opened, Size(pages, 10 * pages, max(10, pages // 10))).write()
    print(f"{pages:,} pages written in {time.perf_counter() - began:.0f} s", flush=True)


async def measure(folder: CrawlFolder) -> None:
    began = time.perf_counter()
    answer_promptly()
    crawl = TimedCrawl(folder, 1)
    dashboard = Dashboard([crawl], Guard.of("127.0.0.1"))
    async with serving(dashboard, "127.0.0.1", 0) as link, aiohttp.ClientSession(link) as client:
        first = (await _ask(client, crawl, "crawls")).seconds
        print(f"opened after {time.perf_counter() - began:.2f} s, the first overview took {first:.2f} s", flush=True)
        counting = {name: await _ask(client, crawl, view) for name, view in VIEWS.items()}
        while (await _json(client, "crawls/1"))["counted"] < 1.0:
            await asyncio.sleep(1.0)
        print(
            f"everything counted after {time.perf_counter() - began:.1f} s, {time.process_time():.1f} s of work",
            flush=True,
        )
        rounds = {name: [await _ask(client, crawl, view) for _ in range(ROUNDS)] for name, view in VIEWS.items()}
    rows = [[name, _milliseconds(counting[name].seconds), *_shown(rounds[name])] for name in VIEWS]
    print_table(("view", "while counting, ms", "median, ms", "slowest, ms", "processor, ms", "at most, ms"), rows)


@dataclass(frozen=True)
class Took:
    """Until an answer was there, by the clock and by the processor."""

    seconds: float
    processor: float


@dataclass
class TimedCrawl(WatchedCrawl):
    """`worked` is the processor time of the last answer, in seconds."""

    worked: float = field(default=0.0, init=False)

    def _answer(self, question: Callable[[Reading], Answer]) -> Answer:
        began = time.thread_time()
        try:
            return super()._answer(question)
        finally:
            self.worked = time.thread_time() - began


async def _ask(client: aiohttp.ClientSession, crawl: TimedCrawl, view: str) -> Took:
    if "{" in view:
        (page,) = (await _json(client, "crawls/1/pages?limit=1"))["items"]
        (link,) = (await _json(client, "crawls/1/queue?limit=1"))["items"]
        view = view.format(page=page["id"], waiting=link["url"])
    began = time.perf_counter()
    async with client.get(f"/api/v1/{view}") as answer:
        await answer.read()
        assert answer.status == 200, f"{view}: {answer.status} {await answer.text()}"
    return Took(time.perf_counter() - began, crawl.worked)


async def _json(client: aiohttp.ClientSession, view: str) -> Any:
    async with client.get(f"/api/v1/{view}") as answer:
        return await answer.json()


def _shown(rounds: Sequence[Took]) -> list[str]:
    """By the clock and by the processor, each the median and the longest."""
    kinds = [one.seconds for one in rounds], [one.processor for one in rounds]
    return [_milliseconds(summary(times)) for times in kinds for summary in (statistics.median, max)]


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"
