"""What a dashboard in the process of a crawl costs it: processor time of that process a page, watched and not.

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
import urllib.request
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path

from bench.live import WEB_PER_CRAWL, Run, Watch, settings
from bench.served_web import Shape, served
from spoor.cli.terminal import print_table
from spoor.dashboard.guard import Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import Watched
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.session import open_session
from spoor.store.crawl_folder import open_for_crawling

CHARTS = ("relevant", "share", "waiting", "failures")
BESIDE = {False: "alone", True: "watched"}


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench watching", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, metavar="N", help="visited by each crawl (3,000)")
    parser.add_argument("--rounds", type=int, default=5, metavar="K", help="of each kind (5)")
    asked = parser.parse_args(options)
    runs: dict[bool, list[Run]] = {False: [], True: []}
    with served(Shape(asked.pages * WEB_PER_CRAWL), sorted(os.sched_getaffinity(0))) as seeds:
        for _ in range(asked.rounds):
            for watched, done in runs.items():
                command = [sys.executable, "-m", "bench.watching", BESIDE[watched], str(asked.pages), json.dumps(seeds)]
                done.append(Run(**json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)))
                print(f"  {BESIDE[watched]:<8}{done[-1].main_cost:.2f} CPU ms/page", flush=True)
    rows = [
        [BESIDE[watched], f"{statistics.median(run.main_cost for run in done):.2f}"] for watched, done in runs.items()
    ]
    print_table(("crawl", "CPU ms/page"), rows, f"{asked.pages:,} pages, median of {asked.rounds}")
    pairs = list(zip(runs[False], runs[True], strict=True))
    by_page = [watched.main_cost / alone.main_cost - 1 for alone, watched in pairs]
    by_second = [(watched.main_cost - alone.main_cost) * watched.speed / 1000 for alone, watched in pairs]
    print(f"watching costs {interval(by_page)} of the processor time of a page, {interval(by_second)} of a core")
    speeds = [statistics.mean(run.speed for run in done) for done in runs.values()]
    print(f"pages a second: {speeds[0]:.0f} alone, {speeds[1]:.0f} watched")


def interval(values: Sequence[float]) -> str:
    """The mean, and its standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):+.2%} ± {error:.2%}"


async def crawl(pages: int, seeds: Sequence[str], is_watched: bool) -> Run:
    give_back_large_blocks()
    search_seldom_for_circles()
    watch, asked = Watch(pages), settings(pages, seeds)
    with tempfile.TemporaryDirectory() as scratch, open_for_crawling(Path(scratch) / "crawl") as folder:
        async with AsyncExitStack() as opened:
            session = await opened.enter_async_context(open_session(folder, asked))
            viewer = None
            if is_watched:
                dashboard = Dashboard([Watched(folder, 1)], Guard.of("127.0.0.1"))
                link = await opened.enter_async_context(serving(dashboard, "127.0.0.1", 0))
                viewer = subprocess.Popen([sys.executable, "-m", "bench.watching", "view", link])
            async for events in session.run():
                watch(events)
            if viewer is not None:
                viewer.kill()
                viewer.wait()
    return watch.run()


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
    else:
        done = asyncio.run(crawl(int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[1] == BESIDE[True]))
        print(json.dumps(asdict(done)))
