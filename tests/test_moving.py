"""Buckets move between shards while nobody crawls: nothing is lost, nothing is there twice, wherever it is killed."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import spoor
from spoor.cli.main import main
from spoor.crawling.share import BUCKETS, bucket_of, even_table
from spoor.frontier.evidence import EvidenceNames
from spoor.lab.worlds import WrittenWorld
from spoor.records import Handed
from spoor.report.figures import figures
from spoor.store.crawl_folder import open_for_reading
from spoor.store.mail import lessons_of_others, unpacked
from spoor.store.moving import Databases, move_buckets, moving, open_to_move, rebalanced, waiting_by_bucket
from spoor.store.sharded_folder import ShardedFolder
from spoor.urls import host_of
from tests.crashing_shards import Crashes, CrashingShard, crawled
from tests.sharded_crawl import PAGES, small_crawl

Rows = Counter[tuple[Any, ...]]


def a_tree(rng: random.Random, hosts: int, pages: int) -> WrittenWorld:
    """Each page is linked from one other, so that a lost link is a lost page."""
    urls = [f"http://h{n % hosts}.test/{n // hosts or ''}" for n in range(pages)]
    links: dict[str, list[str]] = {url: [] for url in urls}
    for n, url in enumerate(urls[1:], 1):
        links[urls[rng.randrange(n // 4, (n + 1) // 2)]].append(url)
    return WrittenWorld.of_links(links, set(urls[::3]))


def begun(folder: Path, world: WrittenWorld, table: Sequence[int], rng: random.Random) -> None:
    """A crawl in the middle: some letters are under way, some were received and the sender does not know."""
    shards = [CrashingShard(number, table, folder, world, Crashes(rng, 0.0)) for number in range(max(table) + 1)]
    for _ in range(12):
        for shard in shards:
            shard.visit()
            for to in shard.mail.receivers():
                if rng.random() < 0.4:
                    shards[to].take(shards[to].mail.opened(shard.number, shard.mail.letters(to, 2)))
                    if rng.random() < 0.8:
                        shard.mail.delivered(to, shards[to].mail.last_received(shard.number))
    for shard in shards:
        shard.store.close()


@contextmanager
def opened(folder: Path, shards: int) -> Iterator[Databases]:
    databases = {number: open_to_move(folder / f"{number}.db") for number in range(shards)}
    yield databases
    for db in databases.values():
        db.close()


def owner(table: Sequence[int], url: str) -> int:
    return table[bucket_of(host_of(url))]


def open_links(databases: Databases, table: Sequence[int]) -> Rows:
    """What waits, each with all that is known of it, and nowhere but with its owner."""
    found = Rows()
    columns = "url, evidence, state, key1, key2, trail, depth, found_on, tries, because, hints"
    for number, db in databases.items():
        names = EvidenceNames.of(db)
        for url, evidence, *known in db.execute(f"SELECT {columns} FROM links"):
            if owner(table, url) == number:
                found[(url, tuple(sorted(names.unpack(evidence).items())), *known)] += 1
            else:
                assert known[0] == 4, f"{url} is open with shard {number}, which does not have its host"
    return found


def under_way(databases: Databases, table: Sequence[int] | None = None) -> Counter[tuple[str, str]]:
    """Links in letters that were not received, each with the page where it was found."""
    found = Counter[tuple[str, str]]()
    for sender, db in databases.items():
        for receiver, number, body in db.execute("SELECT receiver, number, body FROM outbox").fetchall():
            heard = databases[receiver].execute("SELECT number FROM inbox WHERE sender = ?", (sender,)).fetchone()
            for mailed in unpacked(body) if heard is None or number > heard[0] else ():
                if isinstance(mailed, Handed):
                    found[mailed.link.url, mailed.found_on] += 1
                    assert table is None or owner(table, mailed.link.url) == receiver == sender
    return found


@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 1), (3, 2)])
def test_a_move_that_is_killed_at_every_point_comes_to_the_same(before: int, after: int, tmp_path: Path) -> None:
    rng = random.Random(before * 10 + after)
    world, old = a_tree(rng, hosts=9, pages=90), even_table(before)
    begun(tmp_path, world, old, rng)
    with opened(tmp_path, max(before, after)) as databases:
        new = rebalanced(old, after, waiting_by_bucket(databases, old))
        links, letters = open_links(databases, old), under_way(databases)
        assert any(row[2] == 0 and owner(new, row[0]) != owner(old, row[0]) for row in links)
        assert letters
    points, done = 0, False
    while not done:
        points += 1
        with opened(tmp_path, max(before, after)) as databases:
            steps, done = moving(databases, old, new), True
            for step, _ in enumerate(steps, 1):
                if step == points:
                    steps.close()  # type: ignore[attr-defined]
                    done = False
                    break
    assert points > 10
    with opened(tmp_path, max(before, after)) as databases:
        assert open_links(databases, new) == links
        assert under_way(databases, new) == letters
    shards = [CrashingShard(number, new, tmp_path, world, Crashes(rng, 0.0)) for number in range(after)]
    crawled(shards, Crashes(rng, 0.0))
    came = Counter[str]()
    for shard in shards:
        shard.store.close()
    for number in range(max(before, after)):
        with sqlite3.connect(tmp_path / f"{number}.db") as db:
            came.update(url for (url,) in db.execute("SELECT url FROM came"))
        db.close()
    assert came == Counter(dict.fromkeys(world.outcomes, 1))


def test_few_buckets_move_and_each_shard_gets_its_part() -> None:
    old, even = even_table(4), [1] * BUCKETS
    for shards in (1, 2, 3, 5, 8):
        new = rebalanced(old, shards, even)
        counts = Counter(new)
        assert set(counts) == set(range(shards))
        assert max(counts.values()) - min(counts.values()) <= 0.15 * BUCKETS / shards
        moved = sum(one != other for one, other in zip(old, new, strict=True))
        assert moved <= BUCKETS * max(1 - shards / 4, 1 - 4 / shards) + 0.05 * BUCKETS
    assert rebalanced(old, 4, even) == old


def test_an_overloaded_shard_gives_buckets_away() -> None:
    weights = [50 if bucket % 4 == 1 else 1 for bucket in range(BUCKETS)]
    new = rebalanced(even_table(4), 4, weights)
    loads = Counter[int]()
    for bucket, shard in enumerate(new):
        loads[shard] += weights[bucket]
    assert max(loads.values()) <= 1.05 * sum(weights) / 4


def test_a_crawl_goes_on_with_more_shards_and_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl, folder = tmp_path / "small", ShardedFolder(tmp_path / "small")
    assert asyncio.run(small_crawl(crawl, visits=3)) == "the budget of 3 visits is spent"
    move_buckets(folder, 3)
    assert (folder.shards, folder.moving_to()) == (3, None)
    assert figures(open_for_reading(crawl)).totals.pages == 3
    assert main(["check", str(crawl)]) == 0
    assert asyncio.run(small_crawl(crawl, visits=5, shards=3)) == "the budget of 5 visits is spent"
    with sqlite3.connect(folder.shard(2) / "crawl.db") as db:
        taught = [lesson.visit.url for _, lesson in lessons_of_others(db, 0)]
        taught += [url for (url,) in db.execute("SELECT url FROM pages")]
    db.close()
    assert len(taught) == len(set(taught)) == 5
    move_buckets(folder, 1)
    assert asyncio.run(small_crawl(crawl, visits=6, shards=1)) == "the budget of 6 visits is spent"
    assert asyncio.run(small_crawl(crawl, shards=1)) == "nothing is waiting"
    stored = spoor.open_crawl(crawl)
    assert Counter(page.url for page in stored.pages(texts=False)) == Counter(list(PAGES))
    assert Counter(link.url for link in stored.links()) == Counter(list(PAGES))
    assert {host.name: host.pages for host in stored.hosts()}["one.test"] == 3
    found = figures(open_for_reading(crawl))
    assert (found.links["settled"], found.links["waiting"], found.totals.pages, found.totals.hosts) == (7, 0, 7, 4)
    assert stored.why("http://one.test/copy").state == "visited"
    assert main(["check", str(crawl)]) == 0
    assert "but the counter" not in capsys.readouterr().out
    assert main(["--quiet", "report", str(crawl), "--politeness"]) == 0


def test_a_move_that_was_begun_is_finished_before_another(tmp_path: Path) -> None:
    folder = ShardedFolder(tmp_path)
    folder.table(2)
    folder.plan(rebalanced(folder.buckets(), 4, [1] * BUCKETS))
    assert folder.shards == 4
    move_buckets(folder, 3)
    assert folder.moving_to() is None
    assert {*folder.buckets()} == {0, 1, 2}
    assert [path.name for path in folder.folders()] == ["000", "001", "002", "003"]
    move_buckets(folder, 3, rebalance=True)
    assert {*folder.buckets()} == {0, 1, 2}
