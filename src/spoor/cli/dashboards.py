"""`spoor dashboard`: watches crawls in the browser, running or not; also the dashboard within the process of a
crawl."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator

from spoor.cli.terminal import remark, say
from spoor.dashboard.guard import Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import WatchedCrawl, answer_promptly
from spoor.store.crawl_folder import CrawlFolder, open_for_reading


def run_dashboard(arguments: argparse.Namespace) -> int:
    answer_promptly()
    folders = [part for path in arguments.folders for part in open_for_reading(path).parts]
    crawls = [WatchedCrawl(folder, number) for number, folder in enumerate(folders, 1)]
    asyncio.run(_serve(Dashboard(crawls, Guard.of(arguments.address)), arguments.address, arguments.port))
    return 0


async def _serve(dashboard: Dashboard, address: str, port: int) -> None:
    """Serves until a signal arrives."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(name, ended.set)
    async with serving(dashboard, address, port) as link:
        say(f"the dashboard is at {link}", always=True)  # The link is required.
        remark("Ctrl-C ends it")
        await ended.wait()


@contextlib.asynccontextmanager
async def beside_crawl(folder: CrawlFolder, port: int) -> AsyncIterator[str]:
    """Yields a line with the address."""
    address = "127.0.0.1"
    async with serving(Dashboard([WatchedCrawl(folder, 1)], Guard.of(address)), address, port) as link:
        yield f"the dashboard is at {link}"
