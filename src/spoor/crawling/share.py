"""One crawl as several shards: which hosts are whose, and how links leave for others.

A shard is a whole crawl of some of the hosts, with a frontier and a model of its own. A host is never split. Links to
hosts of others are handed over; how visits turned out is told to all, so that every model learns from every visit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from spoor.records import Handed, Key, Lesson, Page, Sighting
from spoor.roles import Post
from spoor.urls import host_of

BUCKETS = 4096
"""Hosts are moved between shards by the bucket. So many shards are possible, and each bucket is small."""


@lru_cache(1 << 16)
def bucket_of(host: str) -> int:
    """With and without `www.` alike: the robots.txt of one is often a redirect to that of the other."""
    digest = hashlib.blake2b(host.removeprefix("www.").encode("utf8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % BUCKETS


def even_table(shards: int) -> tuple[int, ...]:
    """The shard of each bucket, where all have as many."""
    return tuple(bucket % shards for bucket in range(BUCKETS))


@dataclass(frozen=True)
class Share:
    """The hosts of shard `me`; `table` has the shard of each bucket."""

    me: int
    table: Sequence[int]

    @cached_property
    def others(self) -> list[int]:
        return sorted({*self.table} - {self.me})

    def owner(self, url: str) -> int:
        return self.table[bucket_of(host_of(url))]


@dataclass(frozen=True)
class Handover:
    """Where links go that are not our own."""

    share: Share
    post: Post

    def is_foreign(self, url: str) -> bool:
        return self.share.owner(url) != self.share.me

    def send(self, handed: Handed) -> None:
        self.post.send(self.share.owner(handed.link.url), handed)

    def teach(self, lesson: Lesson) -> None:
        """All others."""
        if isinstance(lesson, Sighting):
            page = lesson.page
            lesson = replace(lesson, page=Page(page.url, page.status, duplicate_of=page.duplicate_of))
        for shard in self.share.others:
            self.post.send(shard, lesson)


# Where the next fetches are made: by whoever has the best links.


@dataclass(frozen=True)
class Lease:
    """What a shard may do for now: so many `visits` in all, those that it has made among them; None: any number.
    `rival` is what the best link of another shard promises: a link that promises much less is left for later."""

    visits: int | None = None
    rival: float = 0.0


LEASE = 0.02
"""The part of the visits so far that one round grants."""
SECONDS = 1.0
"""Of work that one round grants at the least, at the speed of the last; and twice as much as was done in the last."""


def visits_of_round(shards: int, spent: int, made: int = 0, seconds: float = 1.0) -> int:
    """How many visits one round grants to all shards, at least one for each. `made` are those of the last round, which
    took so many `seconds`: a shard that had to stop before the next would work in small pieces, which costs more."""
    return max(shards, round(LEASE * spent), round(made * max(2.0, SECONDS / seconds)))


def claim(lease: Lease, spent: int, made: int) -> int:
    """How many visits of its old lease a shard still begins until it hears of its next: as many as it `made` since its
    last report, if so many are left. Where it made none it claims none: others may have use for them."""
    return max(0, min((lease.visits or 0) - spent, made))


BestKeys = Sequence[tuple[Key, int]]
"""How many links of a shard wait at its best keys."""


def behind(best_keys: BestKeys, links: int) -> list[tuple[Key, int]]:
    """Without so many of the best links."""
    rest: list[tuple[Key, int]] = []
    for key, count in best_keys:
        if count > links:
            rest.append((key, count - links))
        links = max(0, links - count)
    return rest


def leases(waiting_at: Sequence[BestKeys], visits: int) -> list[int]:
    """How many of so many visits each shard may make: as many as it has among the best waiting links of all. Of those
    at the last key that counts, each gets its part."""
    granted = [0] * len(waiting_at)
    waiting: dict[Key, dict[int, int]] = {}
    for shard, best_keys in enumerate(waiting_at):
        for key, count in best_keys:
            waiting.setdefault(key, {})[shard] = count
    for key in sorted(waiting, reverse=True):
        for shard, count in _parts(waiting[key], visits - sum(granted)).items():
            granted[shard] += count
    return granted


def _parts(counts: dict[int, int], among: int) -> dict[int, int]:
    """Of equals, in proportion; what is left over goes to the largest remainders, first shards first."""
    total = sum(counts.values())
    if total <= among:
        return counts
    parts = {shard: among * count // total for shard, count in counts.items()}
    by_remainder = sorted(counts, key=lambda shard: -(among * counts[shard] % total))
    for shard in by_remainder[: among - sum(parts.values())]:
        parts[shard] += 1
    return parts
