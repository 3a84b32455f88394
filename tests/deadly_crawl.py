"""A live crawl that dies of the page /deadly when it is to be read or learned from. `main` takes a folder, a seed and
`read` or `learn`. To be imported, not run: another process must find the judge by its name."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from spoor.live.downloader import LiveDownloader
from spoor.live.session import open_session
from spoor.origins import pack
from spoor.records import Page, Sighting, Verdict
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling


def die_of(url: str) -> None:
    if url.endswith("/deadly"):
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class DeadlyJudge:
    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        for page in pages:
            die_of(page.url)
        return [Verdict(1.0, True, "") for _ in pages]


class DeadlyLearner:
    def learn(self, sighting: Sighting) -> None:
        die_of(sighting.visit.url)


async def crawl(folder: Path, seed: str, where: str) -> None:
    crawling = Crawling(seeds=(seed,), strategy="breadth-first", allow_private=True, connections=2)
    asked = Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.0))
    with open_for_crawling(folder) as opened:
        async with open_session(opened, asked) as session:
            downloader = session.driver.downloader
            assert isinstance(downloader, LiveDownloader) and downloader.own.processes is not None
            if where == "read":
                downloader.own.reader = replace(downloader.own.reader, judge=DeadlyJudge())
                for process in downloader.own.processes.processes:
                    process.reader = pack(downloader.own.reader)
            else:
                session.crawl._parts.learners.append(DeadlyLearner())
            async for _ in session.run():
                pass


def main() -> None:
    asyncio.run(crawl(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
