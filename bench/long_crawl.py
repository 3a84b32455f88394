"""A crawl that has gone on for weeks: what opening, resuming, crawling on and closing its folder take.

The folder is written by SQL, as `learned` would have left it: visits, links of which three in four still wait, hosts
with their robots.txt, duplicates, and a snapshot. Each measurement is a process of its own, and begins with none of the
folder in the page cache of the system.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench.resume import Writing
from bench.served_web import Shape, served
from spoor import settings as config
from spoor.cli.terminal import print_table
from spoor.frontier.entry import State
from spoor.frontier.rows import COLUMNS, INSERT, ROBOTS, deflated, url_hash
from spoor.frontier.sqlite import SqliteStore
from spoor.live.process import search_seldom_for_circles
from spoor.live.relearning import snapshot_of
from spoor.live.session import open_session
from spoor.ordering.learned.learned import Learned
from spoor.ordering.scope import Scope
from spoor.records import Page, Sighting, Verdict, Visit, WaitingLink
from spoor.settings import Config, Crawling, ScopeSettings, Target
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.duplicates import BANDS, bands_of
from spoor.store.journal import place_at
from spoor.store.tables import create_tables, write_heads

SAMPLES = 20_000
"""Visits of a small crawl, from whose links those of the large one are made, and from which its snapshot learned."""
SKEW = 3.0
"""How unlike hosts are: the larger, the more links the first of them have."""
NOWHERE = "http://nowhere.test/"
"""Stands for the page on which a link was found."""
RELEVANT = 0.125
"""The share of pages in Thai, in the served web and in what was learned before."""
DAY = 86_400.0
RULES = "".join(f"User-agent: bot{n}\nDisallow: /private/{n}/\nAllow: /private/{n}/open\n\n" for n in range(12))
REQUESTS = 2_000
"""Made by a crawl that is resumed."""
MOST_PAGES = 100_000_000
"""In the served web: each is made from its number when it is asked for."""


@dataclass(frozen=True)
class Size:
    visits: int
    links: int
    hosts: int

    def is_visited(self, link: int) -> bool:
        """Visits are spread evenly over the links."""
        return (link + 1) * self.visits // self.links > link * self.visits // self.links


class Sampling(Writing):
    """What is served later is relevant by chance: if anything else had been learned, all links would be re-scored."""

    def is_relevant(self, url: str, chance: float) -> bool:
        return chance < RELEVANT


class Folder:
    """Written in one go; if that is broken off, it is of no use."""

    def __init__(self, folder: CrawlFolder, size: Size) -> None:
        self._folder, self._size, self._now = folder, size, time.time()
        skewed = np.random.default_rng(1).random(size.links) ** SKEW
        self._hosts = (skewed * size.hosts).astype(np.int32)

    def write(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            small = SqliteStore(Path(scratch) / "small.db")
            writing = Sampling(small, settings_of(""))
            writing.until(SAMPLES)
            review(writing)
            samples = small.connection.execute(f"SELECT {COLUMNS} FROM links WHERE hints NOT NULL").fetchall()
            names = small.connection.execute("SELECT id, names FROM evidence_names").fetchall()
            small.close()
        with contextlib.closing(SqliteStore(self._folder.database)) as store:
            create_tables(store.connection)
        with contextlib.closing(sqlite3.connect(self._folder.database, isolation_level=None)) as db:
            self._fill(db, samples)
            db.executemany("INSERT INTO evidence_names VALUES (?, ?)", names)
            place = place_at(db, self._journal_row(self._size.visits - 1))
        assert place is not None
        self._count_hosts(writing)
        self._folder.snapshots.write(snapshot_of(writing.strategy, place, ""))

    def _fill(self, db: sqlite3.Connection, samples: list[tuple[Any, ...]]) -> None:
        """Indexes come last: to sort once is quicker than to put every row in its place."""
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -524288", "temp_store = FILE"):
            db.execute(f"PRAGMA {pragma}")
        made = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL").fetchall()
        for name, _ in made:
            db.execute(f"DROP INDEX {name}")
        db.execute("BEGIN")
        hosts = ((n + 1, f"h{n}.test", 1.0 if n % 50 else 10.0, self._now - DAY, "", None) for n in self._numbers())
        db.executemany("INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?)", hosts)
        db.executemany(f"INSERT INTO robots ({ROBOTS}, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._robots())
        db.executemany(INSERT, self._links(samples))
        db.executemany(f"INSERT INTO pages VALUES ({', '.join('?' * 23)})", self._pages())
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._events())
        db.executemany("INSERT INTO digests VALUES (?, ?, ?, ?, ?, ?)", self._digests())
        db.executemany("INSERT INTO fingerprints VALUES (?, ?, ?)", self._fingerprints())
        self._bands(db)
        self._counters(db)
        for name, statement in made:
            if name != "hosts_in_order":
                db.execute(statement)
        write_heads(db)
        db.execute(next(statement for name, statement in made if name == "hosts_in_order"))
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")

    def _numbers(self) -> range:
        return range(self._size.hosts)

    def _robots(self) -> Iterator[tuple[Any, ...]]:
        """Of every second host; half of them are too old."""
        for n in self._numbers()[::2]:
            until = self._now + (n % 4 - 1) * DAY / 2
            text = deflated(f"{RULES[: n % len(RULES)]}User-agent: *\nDisallow: /{n}/\n")
            yield f"http://h{n}.test/robots.txt", until, 0.0, "", "", 0, 0, text

    def _url(self, link: int) -> str:
        return f"http://h{self._hosts[link]}.test/{link % 7}/page-{link}.html"

    def _links(self, samples: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Four out of a page: of those that were not visited, one in 40 is parked, one in 400 returns later."""
        column = {name: place for place, name in enumerate(COLUMNS.split(", "))}
        size, waiting, per_page = self._size, int(State.WAITING), max(1, self._size.links // self._size.visits)
        for link in range(size.links):
            row = list(samples[link % len(samples)])
            url = self._url(link)
            state = State.SETTLED if size.is_visited(link) else waiting
            again_at, because = 0.0, ""
            if state == waiting and link % 400 == 1:
                state, again_at, because = (
                    State.RETURNING,
                    self._now + link % 86_400,
                    "no robots.txt" * (link % 800 == 1),
                )
            elif state == waiting and link % 40 == 2:
                state, because = State.PARKED, "20 pages like it gave nothing new"
            row[column["host"]], row[column["hash"]], row[column["url"]] = (
                int(self._hosts[link]) + 1,
                url_hash(url),
                url,
            )
            row[column["state"]], row[column["arrival"]] = int(state), link + 1
            row[column["found_on"]] = found_on = self._url(link // per_page)
            row[column["trail"]] = row[column["trail"]].replace(NOWHERE, found_on)
            row[column["hints"]] = elsewhere(row[column["hints"]], int(self._hosts[link]), link // per_page)
            row[column["again_at"]], row[column["because"]] = again_at, because
            yield (link + 1, *row)

    def _visited(self) -> Iterator[tuple[int, int]]:
        """Links that were visited, with the numbers of the visits."""
        visits = 0
        for link in range(self._size.links):
            if self._size.is_visited(link):
                yield visits, link
                visits += 1

    def _journal_row(self, visit: int) -> int:
        """A host is opened after every fifth page."""
        return visit + 1 + visit // 5

    def _at(self, visit: int) -> float:
        return self._now - DAY - 0.1 * (self._size.visits - visit)

    def _pages(self) -> Iterator[tuple[Any, ...]]:
        for visit, link in self._visited():
            url, at, relevant = self._url(link), self._at(visit), int(link % 6 == 0)
            said = ("2 of 3 words" if relevant else "no word found", None, 4, 3 * visit, f"Page {link} of a site", "en")
            place = (f"spoor-{visit // 50_000:05}.warc.gz", 9_000 * (visit % 50_000), relevant, 0, 0)
            came = (url, url.split("/")[2], visit, at, at + 0.4, 200, 9_000, relevant * 0.8)
            yield (self._journal_row(visit), *came, *said, f"sha1:{visit:032X}", self._simhash(visit), "", *place)

    def _events(self) -> Iterator[tuple[Any, ...]]:
        for visit in range(4, self._size.visits, 5):
            url, at = f"http://h{visit // 5 % self._size.hosts}.test/robots.txt", self._at(visit)
            detail = '{"purpose": "robots", "tries": 0, "delay": 1.0}'
            yield self._journal_row(visit) + 1, None, at, at, "host opened", url, url.split("/")[2], detail

    def _digests(self) -> Iterator[tuple[Any, ...]]:
        for visit, link in self._visited():
            yield (
                f"sha1:{visit:032X}",
                self._url(link),
                self._at(visit),
                f"<urn:uuid:{visit:032x}>",
                "a.warc.gz",
                9 * visit,
            )

    def _simhash(self, visit: int) -> int:
        return (visit * 0x9E3779B97F4A7C15 % 2**64) - 2**63

    def _fingerprints(self) -> Iterator[tuple[int, int, str]]:
        for visit, link in self._visited():
            yield visit + 1, self._simhash(visit), self._url(link)

    def _bands(self, db: sqlite3.Connection) -> None:
        numbers = np.fromiter(
            (band for visit in range(self._size.visits) for band in bands_of(self._simhash(visit))), np.int32
        )
        order = np.argsort(numbers, kind="stable")
        rows = zip(numbers[order].tolist(), (order // BANDS).tolist(), strict=True)
        db.executemany("INSERT INTO bands VALUES (?, ?, ?)", ((band, n + 1, self._simhash(n)) for band, n in rows))

    def _counters(self, db: sqlite3.Connection) -> None:
        size, states = self._size, dict(db.execute("SELECT state, count(*) FROM links GROUP BY state").fetchall())
        counters = {"arrivals": size.links, "visits": size.visits, "excused": 0}
        counters |= {state.name.lower(): states.get(int(state), 0) for state in State}
        db.executemany("INSERT INTO counters VALUES (?, ?)", counters.items())

    def _count_hosts(self, writing: Writing) -> None:
        """Most parts learn within a fixed space; that which counts the pages of every host does not."""
        for part in writing.strategy.learners():
            for n in self._numbers() if isinstance(part, Scope) else ():
                visit = Visit(f"http://h{n}.test/", f"h{n}.test", 0, 0.0)
                part.learn(Sighting(visit, Page(visit.url), Verdict(0.0, False, ""), None))


def elsewhere(hints: bytes, host: int, page: int) -> bytes:
    """Hints of the same link on another host and another page: what is found out of one does not concern the others."""
    moved = bytearray(hints)
    spread = (host + 1) * 0x9E3779B1
    struct.pack_into("<i", moved, 8, page * 0x85EBCA6B % 2**31)
    struct.pack_into("<5i", moved, 16, *((spread + step * 0xC2B2AE35) % 2**31 for step in range(5)))
    return bytes(moved)


def review(writing: Writing) -> None:
    """Brings links to what the strategy thinks of them at the end, as turns among waiting links do in a real crawl."""
    store, scorer = writing.store, writing.strategy.scorer
    assert isinstance(scorer, Learned)
    urls = [url for (url,) in store.connection.execute("SELECT url FROM links WHERE hints NOT NULL")]
    for entry in store.find(urls):
        assert entry is not None
        assert isinstance(entry.trail, tuple)
        entry.trail, entry.hints = (entry.trail[0], NOWHERE), elsewhere(entry.hints, -1, 0)
        entry.evidence = scorer.review(WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints))
        key = scorer.key(entry.evidence)
        entry.put_at(key if isinstance(key, tuple) else (key,), entry.arrival)
        store.save(entry)
    writing.frontier.commit()


@dataclass(frozen=True)
class Took:
    """Seconds of each phase, and the most memory that was held by its end, in bytes. `processor` is the processor time
    of the crawl in seconds: hosts have delays."""

    opened: float
    resumed: float
    crawled: float
    closed: float
    processor: float
    opening_memory: int
    resuming_memory: int
    memory: int

    def row(self, name: str) -> list[str]:
        seconds = (self.opened, self.resumed, self.crawled, self.processor, self.closed)
        held = (self.opening_memory, self.resuming_memory, self.memory)
        return [name, *(f"{one:.1f}" for one in seconds), *(f"{one / 1e6:.0f}" for one in held)]


def measure(folder: Path, requests: int) -> Took:
    """A session that makes so many requests for pages."""
    asked = config.load(folder / "crawl.toml")
    with contextlib.closing(sqlite3.connect(folder / "crawl.db")) as db:
        (visits,) = db.execute("SELECT value FROM counters WHERE name = 'visits'").fetchone()
    evict(folder)
    return asyncio.run(_measure(folder, replace(asked, crawl=replace(asked.crawl, max_pages=visits + requests))))


async def _measure(folder: Path, asked: Config) -> Took:
    times, memory = [time.perf_counter()], list[int]()

    def next_phase() -> None:
        times.append(time.perf_counter())
        memory.append(peak())

    search_seldom_for_circles()
    with open_for_crawling(folder) as opened:
        next_phase()
        async with open_session(opened, asked) as session:
            next_phase()
            began = time.process_time()
            async for _ in session.run():
                pass
            processor = time.process_time() - began
            next_phase()
    next_phase()
    opening, resuming, crawling, closing = (end - start for start, end in pairwise(times))
    return Took(opening, resuming, crawling, closing, processor, memory[0], memory[1], memory[-1])


def peak() -> int:
    """The most memory this process has held. Not by `getrusage`, which counts what the one that started it held."""
    held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(held.split()[1])


def evict(folder: Path) -> None:
    """What the system has of these files in memory is forgotten, as it would be after weeks."""
    for file in filter(Path.is_file, folder.rglob("*")):
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def settings_of(proxy: str) -> Config:
    """Every host is behind one proxy."""
    crawling = Crawling(("http://h0.test/",), strategy="learned", proxy=proxy, allow_private=True, effort=1.0)
    return Config(Target(language="th"), crawling, ScopeSettings(pages_per_host=10_000))


def timed(doing: str, work: Callable[[], None]) -> None:
    began = time.perf_counter()
    work()
    print(f"{doing}: {time.perf_counter() - began:.0f} s", flush=True)


def write(folder: Path, size: Size) -> None:
    told = f"{size.visits:,} visits, {size.links:,} links, {size.hosts:,} hosts, written"
    with open_for_crawling(folder) as opened:
        timed(told, Folder(opened, size).write)
    print(f"crawl.db: {(folder / 'crawl.db').stat().st_size / 1e9:.1f} GB", flush=True)


def compare(folder: Path) -> None:
    """A session that ends at once, and one that crawls."""
    shape = Shape(MOST_PAGES, size=8_000, anchors=20, targets=15, gzip=False, in_stock=False)
    rows = []
    with served(shape, sorted(os.sched_getaffinity(0))) as seeds:
        proxy = "/".join(seeds[0].split("/")[:3])
        (folder / "crawl.toml").write_text(config.dumps(settings_of(proxy)), "utf8")
        for requests in (0, REQUESTS):
            command = [sys.executable, "-m", "bench.long_crawl", str(folder), str(requests)]
            took = Took(**json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
            rows.append(took.row(f"{requests:,}"))
    seconds = ("opened, s", "resumed, s", "crawled, s", "of the processor", "closed, s")
    heads = ("requests", *seconds, "MB, opened", "MB, resumed", "MB, most")
    print_table(heads, rows)


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench long-crawl", description=__doc__)
    parser.add_argument("--visits", type=int, default=5_000_000, metavar="N", help="(5,000,000)")
    parser.add_argument("--links", type=int, default=20_000_000, metavar="N", help="(20,000,000)")
    parser.add_argument("--hosts", type=int, default=1_000_000, metavar="N", help="(1,000,000)")
    asked = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "crawl"
        write(folder, Size(asked.visits, asked.links, asked.hosts))
        compare(folder)


if __name__ == "__main__":
    print(json.dumps(vars(measure(Path(sys.argv[1]), int(sys.argv[2])))))
