"""What bounds and isolation cost: the same live crawl with them and without, in turn, processor time a page."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.live import WEB_PER_CRAWL, Contestant, Run, Watch, settings
from bench.served_web import Shape, served
from spoor.cli.terminal import print_table
from spoor.live.downloader import LiveDownloader
from spoor.live.session import open_session
from spoor.store.crawl_folder import open_for_crawling

STRATEGIES = ("soft-focused", "learned")


class Nothing:
    """Nobody notes what is worked on."""

    def on(self, url: str) -> None: ...

    def off(self) -> None: ...

    def keep(self, url: str, doing: str, error: Exception, came: bytes = b"") -> str:
        raise error


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench bounds", description=__doc__)
    parser.add_argument("--pages", type=int, default=2000, metavar="N", help="visited by each crawl")
    parser.add_argument("--rounds", type=int, default=5, metavar="K", help="the median of K is printed")
    arguments = parser.parse_args(options)
    first, *others = sorted(os.sched_getaffinity(0))
    runs: dict[tuple[str, str], list[float]] = {}
    with served(Shape(arguments.pages * WEB_PER_CRAWL), others[-1:] or (first,)) as seeds:
        for _ in range(arguments.rounds):
            for strategy in STRATEGIES:
                for how in ("without", "with"):
                    command = (sys.executable, "-m", "bench.bounds", how, strategy)
                    run = Contestant(f"{strategy} {how}", command, (first,)).run(arguments.pages, seeds)
                    runs.setdefault((strategy, how), []).append(run.cost)
    rows = []
    for strategy in STRATEGIES:
        bare, bound = runs[strategy, "without"], runs[strategy, "with"]
        ratios = sorted(one / other for one, other in zip(bound, bare, strict=True))
        middle = statistics.median(ratios)
        rows.append(
            [
                strategy,
                f"{statistics.median(bare):.2f}",
                f"{statistics.median(bound):.2f}",
                f"{middle:.3f}",
                f"{ratios[0]:.3f} to {ratios[-1]:.3f}",
            ]
        )
    title = f"bounds and isolation: CPU ms a page of {arguments.pages:,} pages, median of {arguments.rounds}"
    print_table(("strategy", "without", "with", "ratio", "from to"), rows, title)


async def crawl(folder: Path, pages: int, seeds: list[str], strategy: str, bounded: bool, watch: Watch) -> None:
    asked = settings(pages, seeds, 0, strategy)
    if not bounded:
        asked = replace(asked, limits=replace(asked.limits, links_per_page=10**9))
    with open_for_crawling(folder) as opened:
        async with open_session(opened, asked) as session:
            downloader = session.driver.downloader
            assert isinstance(downloader, LiveDownloader)
            if not bounded:
                downloader.own.processes = downloader.own.troubles = None
                session.driver.troubles = Nothing()
                session.crawl._isolation.troubles = None
            async for events in session.run():
                watch(events)


def measure(bounded: bool, strategy: str, pages: int, seeds: list[str]) -> Run:
    watch = Watch(pages)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(crawl(Path(folder), pages, seeds, strategy, bounded, watch))
    return watch.run()


if __name__ == "__main__":
    how, strategy, pages, seeds = sys.argv[1:]
    print(json.dumps(vars(measure(how == "with", strategy, int(pages), json.loads(seeds)))))
