"""What a dashboard costs a crawl: in its process, by the processor time of a page, watched and not; and in another
process, by the processor time of the dashboard itself, which others on the machine disturb less.

Somebody watches from another process as the page does: the stream of figures, and four charts whenever they change.
Crawls with and without take turns, so that what else the machine does is the same for both. What watching takes goes by
the second, so a crawl that others slow down pays more of it by the page: both are printed."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.live import WEB_PER_CRAWL, Run, Watch, settings
from bench.served_web import Shape, served
from spoor.cli.terminal import print_table
from spoor.dashboard.guard import Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import WatchedCrawl
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.session import open_session
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling

CHARTS = ("relevant", "share", "waiting", "failures")
KINDS = ("alone", "watched", "watched from beside")


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench watching", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, metavar="N", help="visited by each crawl (3,000)")
    parser.add_argument("--rounds", type=int, default=5, metavar="K", help="of each kind (5)")
    asked = parser.parse_args(options)
    runs: dict[str, list[WatchedRun]] = {kind: [] for kind in KINDS}
    with served(Shape(asked.pages * WEB_PER_CRAWL), sorted(os.sched_getaffinity(0))) as seeds:
        for _ in range(asked.rounds):
            for kind, done in runs.items():
                command = [sys.executable, "-m", "bench.watching", kind, str(asked.pages), json.dumps(seeds)]
                done.append(WatchedRun.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
                print(f"  {kind:<20}{done[-1].shown}", flush=True)
    rows = [[kind, f"{statistics.median(one.run.main_cost for one in done):.2f}"] for kind, done in runs.items()]
    print_table(("crawl", "CPU ms/page"), rows, f"{asked.pages:,} pages, median of {asked.rounds}")
    pairs = zip(runs["alone"], runs["watched"], strict=True)
    by_page = [watched.run.main_cost / alone.run.main_cost - 1 for alone, watched in pairs]
    beside = runs["watched from beside"]
    print(f"watched: {interval(by_page)} of the processor time of a page")
    print(f"beside: {interval([one.dashboard for one in beside])} of a core, {interval([one.share for one in beside])}")


@dataclass(frozen=True)
class WatchedRun:
    """`dashboard` is the processor time of a dashboard beside, in seconds of each second that it watched."""

    run: Run
    dashboard: float

    @staticmethod
    def loads(text: bytes) -> WatchedRun:
        content = json.loads(text)
        return WatchedRun(Run(**content["run"]), content["dashboard"])

    @property
    def share(self) -> float:
        """Of what the crawl works."""
        return self.dashboard * self.run.seconds / self.run.main

    @property
    def shown(self) -> str:
        beside = f", dashboard {self.dashboard:.2%} of a core, {self.share:.2%} of the crawl" if self.dashboard else ""
        return f"{self.run.main_cost:.2f} CPU ms/page, {self.run.speed:.0f} pages/s{beside}"


def interval(values: Sequence[float]) -> str:
    """The mean, and its standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):+.2%} ± {error:.2%}"


async def crawl(pages: int, seeds: Sequence[str], kind: str) -> WatchedRun:
    give_back_large_blocks()
    search_seldom_for_circles()
    watch, asked = Watch(pages), settings(pages, seeds)
    with tempfile.TemporaryDirectory() as scratch, open_for_crawling(Path(scratch) / "crawl") as folder:
        async with AsyncExitStack() as opened:
            session = await opened.enter_async_context(open_session(folder, asked))
            link, beside = "", None
            if kind == "watched":
                link = await opened.enter_async_context(serving(dashboard_of(folder.path), "127.0.0.1", 0))
            elif kind == "watched from beside":
                beside = _started("serve", str(folder.path), pipe=subprocess.PIPE)
                assert beside.stdout is not None
                link = beside.stdout.readline().decode().strip()
            viewer = _started("view", link) if link else None
            async for events in session.run():
                watch(events)
            if viewer is not None:
                viewer.kill()
                viewer.wait()
            share = float(beside.communicate()[0]) if beside else 0.0
    return WatchedRun(watch.run(), share)


def _started(*command: str, pipe: int | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "bench.watching", *command], stdin=pipe, stdout=pipe)


def dashboard_of(folder: Path) -> Dashboard:
    return Dashboard([WatchedCrawl(CrawlFolder(folder), 1)], Guard.of("127.0.0.1"))


async def serve(folder: Path) -> None:
    """Until nothing comes from whoever started it; then the share of a core that it worked is printed."""
    async with serving(dashboard_of(folder), "127.0.0.1", 0) as link:
        print(link, flush=True)
        began, worked = time.perf_counter(), time.process_time()
        await asyncio.to_thread(sys.stdin.read)
        print((time.process_time() - worked) / (time.perf_counter() - began))


def view(link: str) -> None:
    """As the page does, until it is killed."""
    with urllib.request.urlopen(f"{link}api/v1/stream") as stream:
        for _ in (line for line in stream if line.startswith(b"data:")):
            for what in CHARTS:
                with urllib.request.urlopen(f"{link}api/v1/chart?what={what}") as chart:
                    chart.read()


if __name__ == "__main__":
    if sys.argv[1] == "view":
        view(sys.argv[2])
    elif sys.argv[1] == "serve":
        asyncio.run(serve(Path(sys.argv[2])))
    else:
        print(json.dumps(asdict(asyncio.run(crawl(int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[1])))))
