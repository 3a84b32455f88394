"""`python -m tests.chaos.crawling SETTINGS FOLDER`: a crawl until SIGTERM, that tells how long it held its loop."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from pathlib import Path

from spoor import config
from spoor.session import open_session
from spoor.store.crawl_folder import open_for_crawling

TICK = 0.01


class Held:
    """The most processor time that passed between two turns of the loop; that of other processes does not count."""

    def __init__(self) -> None:
        self.most = 0.0

    async def watch(self) -> None:
        before = time.process_time()
        while True:
            await asyncio.sleep(TICK)
            now = time.process_time()
            self.most, before = max(self.most, now - before), now


async def crawl(settings: Path, folder: Path) -> None:
    held = Held()
    with open_for_crawling(folder) as opened:
        async with open_session(opened, config.load(settings)) as session:
            watching = asyncio.create_task(held.watch())
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, session.stop, "it was told to")
            async for _ in session.run():
                pass
            watching.cancel()
    # Not `ru_maxrss`: that begins with what the process had that started this one.
    (memory,) = [int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    print(json.dumps({"held": held.most, "kilobytes": memory}))


if __name__ == "__main__":
    asyncio.run(crawl(Path(sys.argv[1]), Path(sys.argv[2])))
