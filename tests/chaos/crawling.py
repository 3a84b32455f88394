"""`python -m tests.chaos.crawling SETTINGS FOLDER [fork]`: a crawl until SIGTERM, that tells how long it held its loop.
With `fork`, its processes are forked instead of started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import time
from pathlib import Path

from spoor import settings as config
from spoor.cli.main import leave
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.session import open_session
from spoor.store.crawl_folder import open_for_crawling
from tests.forked import forked_workers, warm_up

TICK = 0.01


class Held:
    """The longest time between two turns of the loop in which this process was at work: what other processes took of
    the processor does not count, nor what a thread did beside a loop that turned."""

    def __init__(self) -> None:
        self.most = 0.0

    async def watch(self) -> None:
        cpu, wall = time.process_time(), time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            cpu_now, wall_now = time.process_time(), time.monotonic()
            self.most = max(self.most, min(cpu_now - cpu, wall_now - wall - TICK))
            cpu, wall = cpu_now, wall_now


async def crawl(settings: Path, folder: Path) -> None:
    held = Held()
    with open_for_crawling(folder) as opened:
        async with open_session(opened, config.load(settings)) as session:
            watching = asyncio.create_task(held.watch())
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, session.stop, "it was told to")
            async for _ in session.run():
                pass
            watching.cancel()
    print(json.dumps({"held": held.most}))


if __name__ == "__main__":
    give_back_large_blocks()
    search_seldom_for_circles()
    settings_file, crawl_folder, *how = sys.argv[1:]
    with contextlib.ExitStack() as stack:
        if how:  # Many pages are the death of who reads them.
            warm_up()
            stack.enter_context(forked_workers())
        asyncio.run(crawl(Path(settings_file), Path(crawl_folder)))
    leave(0)
