"""A live crawl whose shards work on disks of their own, over real sockets, in one process: a disk is lost, and nothing
else is but time."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from spoor import settings as config
from spoor.actions import Block
from spoor.crawling.share import Lease, Share
from spoor.frontier.addresses import AddressGrant
from spoor.live.copying import copied
from spoor.live.shards import Coordinator, Shard, ShardReport, Totals, Unavailable
from spoor.settings import Config, Crawling, Politeness, ShardSettings, Target
from spoor.steering.submitting import Receipt, outcome, submit
from spoor.store.copies import CopyPlace
from spoor.store.crawl_folder import CrawlFolder, FolderInUse, open_for_reading
from spoor.store.local_folder import local_path
from spoor.store.mail import Answer, Batch
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder
from tests.linked_hosts import LinkedHosts, serving

SHARDS = 2


@dataclass
class Machine:
    """A `ShardHandle` of a shard whose machine may die with its disk, and is replaced by another."""

    folder: Path
    share: Share
    asked: Config
    disks: int = 0
    shard: Shard = field(init=False)
    peers: Sequence[Machine] = ()

    def start(self) -> None:
        shards = self.asked.shards
        disk = replace(shards, local=f"{shards.local}/{self.disks}") if shards.local else shards
        asked = replace(self.asked, shards=disk)
        self.shard = Shard(self.folder, self.share, asked, lease_seconds=0.2)
        self.shard.peers = self.peers

    async def die(self) -> None:
        """Without a last copy."""
        running = self.shard._running
        assert running is not None
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        shutil.rmtree(local_path(f"{self.asked.shards.local}/{self.disks}", self.folder))
        self.disks += 1
        self.start()

    async def report(self, most: int) -> ShardReport:
        return await self.shard.report(most)

    async def grant(self, lease: Lease, addresses: AddressGrant) -> None:
        await self.shard.grant(lease, addresses)

    async def deliver(self) -> None:
        await self.shard.deliver()

    async def take(self, sender: int, batch: Batch) -> Answer:
        return await self.shard.take(sender, batch)

    async def stop(self, why: str) -> None:
        await self.shard.stop(why)


async def crawled(
    folder: ShardedFolder,
    asked: Config,
    look: Callable[[list[Machine]], None] = lambda machines: None,
    tell: Callable[[Totals], None] = lambda totals: None,
) -> tuple[str, Totals]:
    """Why it ended, and what it has done. `look` is given the machines at first, `tell` hears of every round."""
    folder.path.mkdir(exist_ok=True)
    CrawlFolder(folder.path).write_settings(config.dumps(asked))
    table = folder.table(SHARDS)
    machines = [Machine(folder.shard(number), Share(number, table), asked) for number in range(SHARDS)]
    for machine in machines:
        machine.peers = machines
        machine.start()
    with closing(GrantedVisits(folder.coordinator)) as granted:
        coordinator = Coordinator(machines, granted, asked.crawl.max_pages)
        look(machines)
        return await coordinator.run(tell), coordinator.totals()


def settings(tmp_path: Path, linked: LinkedHosts, visits: int | None = None, copy_minutes: float = 60.0) -> Config:
    crawling = Crawling(
        seeds=tuple(linked.pages[:1]),
        connections=4,
        strategy="breadth-first",
        allow_private=True,
        max_pages=visits,
    )
    local = ShardSettings(str(tmp_path / "disks"), copy_minutes)
    return Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.0), shards=local)


def fetched(folder: ShardedFolder) -> Counter[str]:
    """By the copies."""
    found = Counter[str]()
    for part in open_for_reading(folder.path).parts:
        with closing(sqlite3.connect(part.database)) as db:
            found += Counter(url for (url,) in db.execute("SELECT url FROM pages"))
    return found


def archived(folder: ShardedFolder) -> set[str]:
    found = set[str]()
    for path in folder.path.glob("shards/*/warc/*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type == "response":
                    record.content_stream().read()
                    found.add(record.rec_headers.get_header("WARC-Target-URI"))
    return {url for url in found if not url.endswith("/robots.txt")}


@pytest.mark.parametrize("is_local", [True, False], ids=["begun on disks", "begun without"])
def test_a_crawl_that_was_stopped_goes_on_on_any_machine(is_local: bool, tmp_path: Path) -> None:
    async def twice() -> tuple[Totals, LinkedHosts]:
        async with serving(LinkedHosts(most=80), ["127.0.61.1", "127.0.61.2"], 3) as linked:
            folder = ShardedFolder(tmp_path / "crawl")
            first = settings(tmp_path, linked, 30)
            await crawled(folder, first if is_local else replace(first, shards=ShardSettings()))
            shutil.rmtree(tmp_path / "disks", ignore_errors=True)
            _, totals = await crawled(folder, settings(tmp_path, linked, 60))
            return totals, linked

    totals, linked = asyncio.run(twice())
    assert totals.visits == 60
    pages = fetched(ShardedFolder(tmp_path / "crawl"))
    assert pages.total() == len(pages) == 60
    asked_for = {url: count for url, count in linked.requests.items() if not url.endswith("/robots.txt")}
    assert asked_for == dict.fromkeys(pages, 1)


def test_what_persons_ask_for_is_left_with_the_copies_and_done_by_the_shards(tmp_path: Path) -> None:
    folder = ShardedFolder(tmp_path / "crawl")

    async def blocked() -> tuple[CrawlFolder, Receipt]:
        async with serving(LinkedHosts(most=80), ["127.0.61.1", "127.0.61.2"], 3) as linked:
            await crawled(folder, settings(tmp_path, linked, 10))
            part = CrawlFolder(folder.shard(0))
            receipt = submit(part, Block("nowhere.test"))
            await crawled(folder, settings(tmp_path, linked, 20))
            return part, receipt

    part, receipt = asyncio.run(blocked())
    assert receipt.done is None
    assert (done := outcome(part, receipt.id)) is not None and done.refused == ""


def test_a_lease_counts_for_a_while_only(tmp_path: Path) -> None:
    folder = ShardedFolder(tmp_path / "crawl")

    async def cut_off() -> tuple[int | None, int]:
        """Visits that a shard may make in all, and those that it has made."""
        async with serving(LinkedHosts(), ["127.0.61.1"], 1) as linked:
            folder.path.mkdir()
            asked = settings(tmp_path, linked)
            shard = Shard(folder.shard(0), Share(0, folder.table(1)), asked, lease_seconds=0.1)
            while shard._session is None:
                with suppress(Unavailable):
                    await shard.report(1)
                await asyncio.sleep(0.01)
            await shard.grant(Lease(10_000_000), AddressGrant())
            await asyncio.sleep(0.5)
            lease, spent = shard._session.crawl.turns.lease, shard._session.crawl.frontier.spent
            await shard.stop("it is enough")
            return lease.visits, spent

    allowed, made = asyncio.run(cut_off())
    assert allowed is not None and allowed <= made


def test_a_shard_waits_for_the_folder_of_the_crawl_instead_of_beginning_anew(tmp_path: Path) -> None:
    async def opened() -> None:
        async with copied(tmp_path / "crawl" / "shards" / "000", ShardSettings(str(tmp_path)), 0.0):
            pass

    with pytest.raises(FolderInUse, match="crawl is not there; is it mounted on "):
        asyncio.run(opened())


def test_a_copy_that_fails_is_told_and_the_crawl_goes_on(tmp_path: Path) -> None:
    folder, warnings = ShardedFolder(tmp_path / "crawl"), set[str]()
    in_the_way = folder.shard(0) / "copies"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.touch()

    async def ended() -> str:
        async with serving(LinkedHosts(), ["127.0.61.1", "127.0.61.2"], 3) as linked:

            def tell(totals: Totals) -> None:
                if totals.warnings and not warnings:
                    warnings.update(totals.warnings)
                    in_the_way.unlink()
                    linked.most = 0

            return (await crawled(folder, settings(tmp_path, linked, copy_minutes=0.01), tell=tell))[0]

    assert asyncio.run(ended()) == "nothing is waiting"
    assert {warning.startswith("cannot copy ") for warning in warnings} == {True}


def test_a_shard_whose_disk_is_lost_goes_on_from_a_copy_and_reaches_all_that_others_reach(tmp_path: Path) -> None:
    async def with_losses() -> tuple[str, LinkedHosts]:
        async with serving(LinkedHosts(most=400), ["127.0.61.1", "127.0.61.2"], 3) as linked:

            async def lose(machines: list[Machine]) -> None:
                for machine in machines:
                    place = CopyPlace(machine.folder)
                    while len(list(place.candidates(place.generation() + 1))) < 2:
                        await asyncio.sleep(0.01)
                    await machine.die()
                linked.most = 0

            losing = list[asyncio.Task[None]]()
            linked.most = 100_000
            asked = settings(tmp_path, linked, copy_minutes=0.01)
            ended, _ = await crawled(
                ShardedFolder(tmp_path / "crawl"),
                asked,
                lambda machines: losing.append(asyncio.create_task(lose(machines))),
            )
            await losing[0]
            return ended, linked

    ended, linked = asyncio.run(with_losses())
    assert ended == "nothing is waiting"
    assert fetched(ShardedFolder(tmp_path / "crawl")) == Counter(dict.fromkeys(linked.pages, 1))
    assert archived(ShardedFolder(tmp_path / "crawl")) == set(linked.pages)
