"""Deciding what to fetch next, or to wait for a better link: the time it takes with a million links on many hosts."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from spoor.crawl import Crawl
from spoor.frontier.entry import Entry, HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.topic_judges import Pattern
from spoor.pricing import Limits
from spoor.records import Evidence, Failure, Key, Link, Sighting, Visit
from spoor.roles import Merge
from spoor.strategy import Strategy

RULES = HostRules(delay=1.0)
CONNECTIONS = 64


@dataclass(frozen=True)
class Promised:
    """Every link promises what its key says; nothing is scored here."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"promise": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"promise": 0.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["promise"]

    def gain(self, key: Key) -> float:
        return key[0]


def filled(store: MemoryStore | SqliteStore, links: int, hosts: int) -> Frontier:
    rng, frontier = random.Random(1), Frontier(store, RULES)
    for number in range(links):
        host, promise = f"h{rng.randrange(hosts)}.test", round(rng.random() ** 4, 4)
        frontier.add(Entry(f"http://{host}/{number}", host, (promise,), {"promise": promise}))
        if number % 10_000 == 9_999:
            frontier.commit()
    frontier.commit()
    return frontier


@dataclass
class Spent:
    """Seconds, of the wall clock and of the processor alone, which other work on the machine hardly disturbs."""

    wall: float = 0.0
    processor: float = 0.0

    def __enter__(self) -> None:
        self.wall -= time.perf_counter()
        self.processor -= time.process_time()

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.processor += time.process_time()

    def each(self, visits: int) -> str:
        return f"{1000 * self.wall / visits:.4f} ms ({1000 * self.processor / visits:.4f} ms of CPU)"


def decided(frontier: Frontier, visits: int) -> tuple[Spent, Spent, int]:
    """What deciding took and what the rest of the core, and how often it was decided to wait. Every visit fails after a
    second, so that nothing else costs time; 64 are under way at once."""
    crawl = Crawl(Strategy(Pattern("x"), Promised()), frontier, Limits(visits=visits, effort=0.2))
    now, deciding, other, waits = 0.0, Spent(), Spent(), 0
    while crawl.frontier.visits < visits:
        under_way: list[Visit] = []
        with deciding:
            while len(under_way) < CONNECTIONS and (visit := crawl.next_visit(now)) is not None:
                under_way.append(visit)
        waits += len(under_way) < CONNECTIONS
        now += 1.0
        with other:
            crawl.absorb([(visit, Failure("gone")) for visit in under_way], now)
    return deciding, other, waits


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench deciding", description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--visits", type=int, default=20_000)
    asked = parser.parse_args(options)
    print(f"deciding: {asked.links:,} links waiting on {asked.hosts:,} hosts, {asked.visits:,} visits")
    with tempfile.TemporaryDirectory() as folder:
        for name, store in (("memory", MemoryStore()), ("SQLite", SqliteStore(Path(folder) / "frontier.db"))):
            frontier = filled(store, asked.links, asked.hosts)
            decided(frontier, 1)  # every host is asked for its best link once
            deciding, other, waits = decided(frontier, asked.visits)
            print(f"  {name:8} to decide a visit {deciding.each(asked.visits)}")
            print(f"  {'':8} for the rest of the core {other.each(asked.visits)}")
            print(f"  {'':8} {waits:,} times a connection was left free for better links")


if __name__ == "__main__":
    main()
