"""Shards as actors of Ray, killed while they crawl. Without Ray this is skipped; `make soak` kills more often."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.live.shards import Coordinator, Totals
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.sharded_folder import ShardedFolder
from tests.served import served

pytest.importorskip("ray", reason="Ray is not installed: pip install 'spoor[ray]'")

from spoor.live.ray_cluster import connected, crawl_in_actors

SHARDS = 2
KILLS = int(os.environ.get("SPOOR_ACTOR_KILLS", "2"))


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 250 * max(1, KILLS // 8), 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


@dataclass
class Killer:
    """Kills one shard after another, each time when some more pages have come."""

    folder: ShardedFolder
    kills: int
    pages_between: int = 15
    done: int = 0
    _visits: int = field(default=0, init=False)

    def tell(self, totals: Totals) -> None:
        if self.done < self.kills and totals.visits - self._visits >= self.pages_between:
            with suppress(OSError, ValueError):
                os.kill(int((self.folder.shard(self.done % SHARDS) / "lock").read_text()), signal.SIGKILL)
                self.done += 1
                self._visits = totals.visits


async def crawled(web: Web, killer: Killer) -> str:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())
    crawling = Crawling(seeds=seeds, connections=4, strategy="breadth-first")
    async with served(web) as proxy:
        asked = Config(Target(charset="th"), replace(crawling, proxy=proxy), politeness=Politeness(host_delay=0.02))
        with connected(SHARDS):
            return await crawl_in_actors(killer.folder, asked, SHARDS, killer.tell, _nothing)


def _nothing(coordinator: Coordinator) -> None:
    """Nobody stops it."""


def rows(folder: ShardedFolder, query: str) -> Iterator[tuple[object, ...]]:
    for number in range(SHARDS):
        with closing(sqlite3.connect(folder.shard(number) / "crawl.db")) as db:
            yield from db.execute(query)


def test_killed_actors_come_back_and_nothing_is_lost_or_fetched_twice(web: Web, tmp_path: Path) -> None:
    folder = ShardedFolder(tmp_path)
    killer = Killer(folder, KILLS)
    began = time.monotonic()
    assert asyncio.run(crawled(web, killer)) == "nothing is waiting"
    assert killer.done == KILLS, f"in {time.monotonic() - began:.0f} seconds"
    settled = Counter(url for (url,) in rows(folder, "SELECT url FROM links WHERE state = 4"))
    fetched = Counter(url for (url,) in rows(folder, "SELECT url FROM pages"))
    failed = {url for (url,) in rows(folder, "SELECT url FROM events WHERE kind IN ('failed', 'redirected')")}
    assert set(fetched.values()) == set(settled.values()) == {1}
    assert set(fetched) | failed >= set(settled)
    assert not list(rows(folder, "SELECT 1 FROM outbox UNION ALL SELECT 1 FROM links WHERE state < 4 AND state <> 2"))
    sent = sorted(rows(folder, "SELECT number FROM sent"))
    assert sent == sorted(rows(folder, "SELECT number FROM inbox"))
