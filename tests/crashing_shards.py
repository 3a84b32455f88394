"""Shards over SQLite files in one process, any of which may crash at any point: it is closed as it is, and reopened."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from spoor.crawl import Crawl
from spoor.crawling.share import Handover, Share
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.simple import total
from spoor.records import Evidence, Handed, Link, Mailed, Page, Sighting
from spoor.roles import Merge
from spoor.store.copied_mail import mail_of
from spoor.strategy import Strategy
from tests.tiny import truth

POINTS = (
    "before the page is absorbed",
    "within the commit of the page",
    "after the commit of the page",
    "after letters are read",
    "before the receiver commits",
    "within the commit of the receiver",
    "before the answer",
    "after the letters are deleted",
)


@dataclass(frozen=True)
class AllInLinks:
    """Counts pages that link, so that every sighting of a link must arrive."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"in_links": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"in_links": 1.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["in_links"]


class Crashed(Exception):
    pass


@dataclass
class Crashes:
    """Decides at each point whether somebody crashes there."""

    rng: random.Random
    share: float
    counts: Counter[str] = field(default_factory=Counter)

    def here(self, point: str) -> None:
        if self.rng.random() < self.share:
            self.counts[point] += 1
            raise Crashed(point)


class CrashingShard:
    """Notes in its database, in the transaction of each commit, which links it was handed, which pages came, and which
    of their links it spared because another shard had said, since it was opened, that it has that page."""

    def __init__(self, number: int, table: Sequence[int], folder: Path, world: WrittenWorld, crashes: Crashes) -> None:
        self.number, self._table, self._path = number, table, folder / f"{number}.db"
        self._world, self._crashes = world, crashes
        self.fetched = Counter[str]()
        self._open()

    def _open(self) -> None:
        self._committing = ""
        self.store = SqliteStore(self._path)
        self.db = self.store.connection
        self.db.execute("CREATE TABLE IF NOT EXISTS applied (found_on TEXT, url TEXT)")
        self.db.execute("CREATE TABLE IF NOT EXISTS came (url TEXT)")
        self.db.execute("CREATE TABLE IF NOT EXISTS spared (found_on TEXT, url TEXT)")
        self._applied: list[tuple[str, str]] = []
        self._came: list[tuple[str]] = []
        self._spared: list[tuple[str, str]] = []
        self._told = set[str]()
        self.mail = mail_of(self.db, lambda: 0, Share(self.number, self._table).others)
        self.store.write_along(self.mail.write)
        self.store.write_along(self._note)
        frontier = Frontier(self.store, resumed_at=0.0, tallied=True)
        strategy = Strategy(truth(self._world), AllInLinks())
        self.crawl = Crawl(strategy, frontier, handover=Handover(Share(self.number, self._table), self.mail))
        self.crawl.begin(["http://h0.test/"])

    def reopen(self) -> None:
        self.store.close()
        self._open()

    def _note(self, db: sqlite3.Connection) -> None:
        db.executemany("INSERT INTO applied VALUES (?, ?)", self._applied)
        db.executemany("INSERT INTO came VALUES (?)", self._came)
        db.executemany("INSERT INTO spared VALUES (?, ?)", self._spared)
        self._applied, self._came, self._spared = [], [], []
        if self._committing:
            self._crashes.here(self._committing)

    def visit(self) -> bool:
        """Says whether there was anything to visit."""
        visit = self.crawl.next_visit(0.0)
        if visit is None:
            return False
        outcome, _ = self._world.fetch(visit)
        self.fetched[visit.url] += 1
        self._crashes.here("before the page is absorbed")
        self._came.append((visit.url,))
        links = outcome.links if isinstance(outcome, Page) else ()
        self._spared.extend((visit.url, link.url) for link in links if link.url in self._told)
        self._committing = "within the commit of the page"
        self.crawl.absorb([(visit, outcome)], 0.0)
        self._committing = ""
        self._crashes.here("after the commit of the page")
        return True

    def close(self) -> None:
        self.store.close()

    def take(self, mailed: list[Mailed]) -> None:
        """Of a lesson only the page is noted."""
        for one in mailed:
            applied = (one.found_on, one.link.url) if isinstance(one, Handed) else ("", one.visit.url)
            self._applied.append(applied)
        self._crashes.here("before the receiver commits")
        self._committing = "within the commit of the receiver"
        self.crawl.receive(mailed, 0.0)
        self._committing = ""
        self._told.update(one.visit.url for one in mailed if isinstance(one, Sighting))


def deliver(sender: CrashingShard, receiver: CrashingShard, crashes: Crashes) -> None:
    """One batch. Whoever crashes is reopened."""
    try:
        batch = sender.mail.batch(receiver.number, 3)
        crashes.here("after letters are read")
    except Crashed:
        sender.reopen()
        return
    try:
        receiver.take(receiver.mail.taken(sender.number, batch))
        crashes.here("before the answer")
    except Crashed:
        receiver.reopen()
        return
    try:
        sender.mail.answered(receiver.number, receiver.mail.answer(sender.number))
        crashes.here("after the letters are deleted")
    except Crashed:
        sender.reopen()


def crawled(shards: Sequence[CrashingShard], crashes: Crashes) -> None:
    """Until nothing waits and no letter is under way; in an order drawn at random."""
    while True:
        busy = False
        for shard in crashes.rng.sample(shards, len(shards)):
            try:
                busy |= shard.visit()
            except Crashed:
                busy = True
                shard.reopen()
            for to in shard.mail.receivers():
                busy = True
                if crashes.rng.random() < 0.5:
                    deliver(shard, shards[to], crashes)
        if not busy:
            return
