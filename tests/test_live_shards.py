"""A live crawl as several shards, over real sockets, in one process: budget, mail, the end, and resuming."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spoor.crawling.share import Share
from spoor.errors import BadInput, UsageError
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import reachable
from spoor.lab.web import Web
from spoor.live.shards import Totals
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.sharded_folder import ShardedFolder
from tests import sharded_crawl
from tests.served import served, serving

SHARDS = 3


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 300, 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


def settings(web: Web, visits: int | None) -> Config:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())
    crawling = Crawling(seeds=seeds, connections=4, strategy="learned", max_pages=visits)
    return Config(Target(charset="th"), crawling, politeness=Politeness(host_delay=0.0))


async def crawled(web: Web, path: Path, visits: int | None) -> tuple[str, Totals]:
    """Why it ended, and what all shards have done."""
    async with served(web) as proxy:
        asked = settings(web, visits)
        asked = replace(asked, crawl=replace(asked.crawl, proxy=proxy))
        return await sharded_crawl.crawled(ShardedFolder(path), asked, SHARDS)


def rows(path: Path, query: str) -> Iterator[tuple[int, str]]:
    """Each with the number of its shard."""
    for number in range(SHARDS):
        with closing(sqlite3.connect(ShardedFolder(path).shard(number) / "crawl.db")) as db:
            yield from ((number, row[0]) for row in db.execute(query))


def test_shards_fetch_what_the_budget_allows_and_resume_where_they_stopped(web: Web, tmp_path: Path) -> None:
    ended, first = asyncio.run(crawled(web, tmp_path / "crawl", 60))
    assert ended == "the budget of 60 visits is spent"
    assert first.visits == 60
    ended, second = asyncio.run(crawled(web, tmp_path / "crawl", 100))
    assert second.visits == 100
    assert second.pages == 100
    assert second.busiest >= 1 / SHARDS
    table = ShardedFolder(tmp_path / "crawl").table(SHARDS)
    visited = list(rows(tmp_path / "crawl", "SELECT url FROM links WHERE state = 4 AND because = ''"))
    assert len(visited) == 100
    assert all(Share(0, table).owner(url) == number for number, url in visited)


def test_shards_end_when_nothing_waits_and_no_letter_is_under_way(web: Web, tmp_path: Path) -> None:
    ended, totals = asyncio.run(crawled(web, tmp_path / "crawl", None))
    assert ended == "nothing is waiting"
    fetched = Counter(url for _, url in rows(tmp_path / "crawl", "SELECT url FROM pages"))
    seeds = [number for url in settings(web, None).crawl.seeds if (number := web.urls.find(url)) is not None]
    in_reach = np.flatnonzero(reachable(*web.steps(), seeds, web.pages) & web.answers())
    assert fetched == Counter(web.urls[int(number)] for number in in_reach)
    assert not list(rows(tmp_path / "crawl", "SELECT number FROM outbox"))
    assert totals.pages == len(fetched)


def test_a_folder_of_shards_keeps_its_number(tmp_path: Path) -> None:
    folder = ShardedFolder(tmp_path)
    assert folder.table(4) == folder.table(4)
    with pytest.raises(UsageError, match="a crawl of 4 shards, not of 5; resume it with --shards 4"):
        folder.table(5)
    (tmp_path / "shards.toml").write_text("buckets = [1, 2]")
    with pytest.raises(BadInput, match=r"cannot read .*shards.toml: it needs 4096 numbers"):
        folder.table(4)


ONE_PROCESS = """
import sys
from spoor.cli.main import main
for shards in ([], ["--shards", "1"]):
    assert main([*sys.argv[2:], "--out", sys.argv[1] + "/" + (shards or ["0"])[-1], *shards]) == 0
print({"ray", "spoor.live.ray_cluster", "spoor.live.shards"} & set(sys.modules))
"""


def test_one_shard_is_a_crawl_without_shards_and_imports_nothing_of_ray(web: Web, tmp_path: Path) -> None:
    options = ["--charset", "th", "--strategy", "breadth-first", "--connections", "1", "--max-pages", "20", "--quiet"]
    with serving(web) as proxy:
        asked = ["crawl", *options, "--host-delay", "0", "--seeds", str(web.folder / "seeds.txt"), "--proxy", proxy]
        command = [sys.executable, "-c", ONE_PROCESS, str(tmp_path), *asked]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "set()"
    assert {path.name for path in (tmp_path / "1").iterdir()} == {path.name for path in (tmp_path / "0").iterdir()}
    fetched = []
    for folder in ("0", "1"):
        with closing(sqlite3.connect(tmp_path / folder / "crawl.db")) as db:
            fetched.append(db.execute("SELECT url FROM pages ORDER BY number").fetchall())
    assert len(fetched[0]) == 20 and fetched[0] == fetched[1]
