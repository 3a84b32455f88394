"""A simulated crawl as several shards: one clock, mail between shards, and leases of visits.

Time is divided into rounds. At the start of a round, mail is delivered, and each shard is granted as many visits as it
has among the best waiting links of all shards. A round ends when all granted visits have begun, or after a fixed time
if anything has happened.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.crawl import Crawl
from spoor.crawling.share import Lease, even_table, leases, visits_of_round
from spoor.events import Event
from spoor.records import Mailed, Outcome, Visit
from spoor.roles import World

ROUND = 0.25
"""Seconds after which unspent visits are granted again, if anything has happened: about as in a live crawl."""


@dataclass(frozen=True)
class Sharding:
    """The number of shards, and the delay of mail in rounds."""

    shards: int = 1
    late: int = 0


def drawn_table(shards: int, order: int) -> tuple[int, ...]:
    """The shard of each bucket, different for each order of the seeds: where each seed is on its own shard, all begin
    at once, and the order of the seeds alone makes no difference."""
    table = list(even_table(shards))
    if order:
        random.Random(order).shuffle(table)
    return tuple(table)


@dataclass
class Mailbag:
    """The messages that one shard sends in a round."""

    letters: list[tuple[int, Mailed]] = field(default_factory=list)

    may_go_back: ClassVar[bool] = False

    def send(self, to: int, mailed: Mailed) -> None:
        self.letters.append((to, mailed))


@dataclass
class SimulatedShard:
    """A crawl of some of the hosts, its outgoing messages, and the number of its visits under way."""

    crawl: Crawl
    world: World
    bag: Mailbag
    under_way: int = 0


class ShardedSimulation:
    """Simulates shards. Deterministic: simultaneous arrivals are processed in the order in which their visits began,
    first shards first. A single shard has no rounds and gives the same result as `simulate`."""

    def __init__(self, shards: Sequence[SimulatedShard], visits: int | None, connections: int, late: int = 0) -> None:
        """`connections` is the total, divided equally among the shards; `late` the delay of mail in rounds."""
        self._shards = shards
        self._visits = visits
        self._connections = max(1, connections // len(shards))
        self._bags: list[list[tuple[int, Mailed]]] = [[] for _ in range(late)]
        self._arrivals: list[tuple[float, int, int, Visit, Outcome]] = []
        self._started = 0
        self._now = 0.0
        self._round_ends = 0.0
        self._round_began_with = 0
        self._is_idle = True
        for shard in shards if len(shards) > 1 else ():
            shard.crawl.turns.lease = Lease(0)

    def run(self) -> Iterator[Event]:
        """Yields events as they happen, until no more are possible."""
        fruitless = False
        while True:
            if self._begin_visits():
                fruitless = False
            if self._is_round_over():
                yield from self._begin_round()
                if not self._is_round_over():
                    continue
            if (at := self._next_moment()) is not None:
                yield from self._proceed(at)
            elif fruitless or len(self._shards) == 1:
                break
            else:
                fruitless = not self._mail_is_under_way()
                yield from self._begin_round()
        for shard in self._shards:
            yield from shard.crawl.absorb([], self._now)

    def _mail_is_under_way(self) -> bool:
        return any(self._bags) or any(shard.bag.letters for shard in self._shards)

    def _begin_visits(self) -> int:
        """Begins all visits that are possible now. Returns how many began."""
        before = self._started
        for number, shard in enumerate(self._shards):
            while shard.under_way < self._connections and (visit := shard.crawl.next_visit(self._now)) is not None:
                outcome, seconds = shard.world.fetch(visit)
                heapq.heappush(self._arrivals, (self._now + seconds, self._started, number, visit, outcome))
                shard.under_way += 1
                self._started += 1
                self._is_idle = False
        return self._started - before

    def _next_moment(self) -> float | None:
        """The next time when an outcome arrives, a host is free again or a round with any activity ends; None if
        never."""
        if any(shard.crawl.interrupted for shard in self._shards):
            return self._now
        moments = [wake for shard in self._shards if (wake := self._wake_at(shard)) is not None]
        if self._arrivals:
            moments.append(self._arrivals[0][0])
        if len(self._shards) > 1 and moments and not self._is_idle:
            moments.append(max(self._round_ends, self._now))
        return min(moments, default=None)

    def _wake_at(self, shard: SimulatedShard) -> float | None:
        if shard.under_way >= self._connections or self._left() == 0:
            return None
        if not shard.crawl.is_spent():
            return shard.crawl.wake_at()
        wake = shard.crawl.frontier.wake_at()
        return None if wake is None else max(wake, self._round_ends)

    def _left(self) -> int | None:
        """Visits left in the budget; None if there is no limit."""
        return None if self._visits is None else self._visits - sum(s.crawl.frontier.spent for s in self._shards)

    def _proceed(self, at: float) -> Iterator[Event]:
        self._now = at
        interrupted = [shard.crawl for shard in self._shards if shard.crawl.interrupted]
        if self._arrivals and self._arrivals[0][0] <= at:
            _, _, number, visit, outcome = heapq.heappop(self._arrivals)
            self._shards[number].under_way -= 1
            self._is_idle = False
            yield from self._shards[number].crawl.absorb([(visit, outcome)], at)
        elif interrupted:
            for crawl in interrupted:
                yield from crawl.absorb([], at)
        elif len(self._shards) > 1 and at >= self._round_ends:
            yield from self._begin_round()

    def _is_round_over(self) -> bool:
        return len(self._shards) > 1 and all(shard.crawl.is_spent() for shard in self._shards)

    def _begin_round(self) -> Iterator[Event]:
        """Delivers mail, then grants visits."""
        made = self._made_in_time()
        self._round_ends = self._now + ROUND
        self._round_began_with = self._started
        self._is_idle = True
        self._bags.append([letter for shard in self._shards for letter in shard.bag.letters])
        for shard in self._shards:
            shard.bag.letters.clear()
        yield from self._deliver(self._bags.pop(0))
        spent = [shard.crawl.frontier.spent for shard in self._shards]
        lease = visits_of_round(len(self._shards), sum(spent), made, ROUND)
        if (left := self._left()) is not None:
            lease = min(lease, left)
        best_keys = [shard.crawl.frontier.best_keys(lease, self._now) for shard in self._shards]
        gains = [shard.crawl.turns.best_gain(self._now) for shard in self._shards]
        for number, granted in enumerate(leases(best_keys, lease)):
            rival = max(gains[:number] + gains[number + 1 :])
            self._shards[number].crawl.turns.lease = Lease(spent[number] + granted, rival)

    def _made_in_time(self) -> int:
        """Visits begun in the last round; 0 if it ended early because all granted visits had begun."""
        return self._started - self._round_began_with if self._now >= self._round_ends else 0

    def _deliver(self, letters: Sequence[tuple[int, Mailed]]) -> Iterator[Event]:
        for number, shard in enumerate(self._shards):
            if own := [handed for to, handed in letters if to == number]:
                yield from shard.crawl.receive(own, self._now)
