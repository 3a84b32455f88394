"""One crawl as several shards: which shard owns which hosts, and how links are sent to other shards.

A shard is a complete crawl of some of the hosts, with its own frontier and model. A host is never split. Links to hosts
of other shards are handed over. Outcomes of visits are sent to all shards, so that every model learns from every visit.
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
"""Number of buckets, and so the maximum number of shards. Hosts move between shards by the bucket; each is small."""


@lru_cache(1 << 16)
def bucket_of(host: str) -> int:
    """The same with and without `www.`: the robots.txt of one often redirects to that of the other."""
    digest = hashlib.blake2b(host.removeprefix("www.").encode("utf8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % BUCKETS


def even_table(shards: int) -> tuple[int, ...]:
    """The shard of each bucket, with equally many buckets for each shard."""
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
    """Sends links and outcomes of visits to other shards."""

    share: Share
    post: Post

    def is_foreign(self, url: str) -> bool:
        return self.share.owner(url) != self.share.me

    def send(self, handed: Handed) -> None:
        self.post.send(self.share.owner(handed.link.url), handed)

    def teach(self, lesson: Lesson) -> None:
        """Sends the outcome of a visit to all other shards, without the text and links of the page."""
        if isinstance(lesson, Sighting):
            page = lesson.page
            lesson = replace(lesson, page=Page(page.url, page.status, duplicate_of=page.duplicate_of))
        for shard in self.share.others:
            self.post.send(shard, lesson)


# Leases: the shards with the best links make the next visits.


@dataclass(frozen=True)
class Lease:
    """What a shard may currently do. `visits` is a total that includes the visits already made; None for no limit.
    `rival` is the expected gain of the best link of another shard: links with a much lower one are postponed."""

    visits: int | None = None
    rival: float = 0.0


LEASE = 0.02
"""Visits that one round grants, as a fraction of the visits so far."""
SECONDS = 1.0
"""Seconds of work that one round grants at least, at the speed of the last round; and at least twice its visits."""


def visits_of_round(shards: int, spent: int, made: int = 0, seconds: float = 1.0) -> int:
    """How many visits one round grants to all shards together, at least one for each. The last round had `made` visits
    in `seconds`: a shard that runs out before the next round would work in small batches, which costs more."""
    return max(shards, round(LEASE * spent), round(made * max(2.0, SECONDS / seconds)))


def claim(lease: Lease, spent: int, made: int) -> int:
    """How many visits of its old lease a shard may still begin before it receives the next: as many as it `made` since
    its last report, if that many are left. A shard that made none claims none, which leaves them to other shards."""
    return max(0, min((lease.visits or 0) - spent, made))


BestKeys = Sequence[tuple[Key, int]]
"""The best keys of a shard, best first, each with the number of links that wait at it."""


def behind(best_keys: BestKeys, links: int) -> list[tuple[Key, int]]:
    """The best keys without the first `links` links."""
    rest: list[tuple[Key, int]] = []
    for key, count in best_keys:
        if count > links:
            rest.append((key, count - links))
        links = max(0, links - count)
    return rest


def leases(waiting_at: Sequence[BestKeys], visits: int) -> list[int]:
    """Distributes `visits`: each shard gets as many as it has among the best waiting links of all shards. Links at the
    last key that counts are divided in proportion."""
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
    """Divides `among` visits in proportion to `counts`, by largest remainder; ties go to the first shards."""
    total = sum(counts.values())
    if total <= among:
        return counts
    parts = {shard: among * count // total for shard, count in counts.items()}
    by_remainder = sorted(counts, key=lambda shard: -(among * counts[shard] % total))
    for shard in by_remainder[: among - sum(parts.values())]:
        parts[shard] += 1
    return parts
