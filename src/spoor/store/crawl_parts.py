"""Reads a crawl: its database, or those of its shards as if they were one.

Pages are read from the shard that fetched them. Waiting links and facts about a host are read from the shard that has
the host now: before its bucket was moved, another shard may have fetched its pages.
"""

from __future__ import annotations

import contextlib
import heapq
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, repeat

from spoor.crawling.share import Share, bucket_of
from spoor.errors import BadInput
from spoor.records import Miss, Sighting
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.duplicates import NOTHING, same_payload
from spoor.store.journal import PageRow, lessons, open_to_read, pages
from spoor.store.renders import is_made_by_scripts
from spoor.store.run_time import Run, Timeline, runs_of, seconds_of_runs
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.totals import NOTHING as NO_TOTALS
from spoor.store.totals import CrawlTotals, totals_of
from spoor.urls import host_of

TOGETHER = 60.0
"""Shards that begin or stop within this many seconds do so in one run of the crawl."""


@dataclass(frozen=True)
class Part:
    """Folder and database of a shard, or of a crawl without shards. `share` are its hosts; None for all."""

    folder: CrawlFolder
    db: sqlite3.Connection
    share: Share | None = None

    @property
    def name(self) -> str:
        """The name of the shard; "" without shards."""
        return self.folder.path.name if self.share else ""

    def has(self, host: str) -> bool:
        return self.share is None or self.share.table[bucket_of(host)] == self.share.me


@contextlib.contextmanager
def open_parts(folder: CrawlFolder) -> Iterator[list[Part]]:
    """Opens read-only; sees every committed batch of a running crawl."""
    sharded = ShardedFolder(folder.path)
    table = sharded.buckets() if sharded.exists else None
    with contextlib.ExitStack() as opened:
        parts = []
        for part in folder.parts:
            db = opened.enter_context(contextlib.closing(open_to_read(part.database)))
            parts.append(Part(part, db, Share(int(part.path.name), table) if table else None))
        try:
            yield parts
        except sqlite3.Error as error:
            raise BadInput(f"cannot read {', '.join(str(part.database) for part in folder.parts)}: {error}") from None


def seconds_run(parts: Sequence[Part]) -> float:
    """How long the crawl has run, in all its runs; its shards run at the same time."""
    if parts[0].share is None:
        return seconds_of_runs(parts[0].db)
    coordinator = ShardedFolder(parts[0].folder.path.parent.parent).coordinator
    if not coordinator.exists():
        return 0.0
    with contextlib.closing(open_to_read(coordinator, "runs")) as db:
        return seconds_of_runs(db)


def totals_of_crawl(parts: Sequence[Part]) -> CrawlTotals:
    """Of all shards together, whichever of them has a host now."""
    totals = sum((totals_of(part.db) for part in parts), NO_TOTALS)
    return replace(totals, seconds=seconds_run(parts))


def timelines(parts: Sequence[Part]) -> list[Timeline]:
    """Of each part. Shards that begin a run together have one clock, or clocks that agree: how far it was set back is
    seen best by the shard whose last row is the newest."""
    runs = [runs_of(part.db) for part in parts]
    return [Timeline([replace(run, set_back=_agreed(run, runs)) for run in own]) for own in runs]


def _agreed(run: Run, runs: Sequence[Sequence[Run]]) -> float:
    return max(one.set_back for own in runs for one in own if abs(one.began - run.began) < TOGETHER)


def owner_of(parts: Sequence[Part], url: str) -> Part:
    """The shard that has the host of a URL; the first shard if that one has not started yet."""
    host = host_of(url)
    return next((part for part in parts if part.has(host)), parts[0])


def pages_in_order(parts: Sequence[Part], relevant_only: bool = False) -> Iterator[tuple[Part, PageRow]]:
    """Pages in order of arrival, each with the shard that fetched it. Detects duplicates across shards."""
    by_part = [zip(repeat(part), pages(part.db, relevant_only), strict=False) for part in parts]
    for part, row in heapq.merge(*by_part, key=lambda item: item[1].ended) if len(parts) > 1 else by_part[0]:
        yield part, replace(row, duplicate_of=duplicate_of(parts, part, row)) if len(parts) > 1 else row


def lessons_in_order(databases: Sequence[sqlite3.Connection]) -> Iterator[Sighting | Miss]:
    """Everything that a crawl learned from, as in `lessons`; for several shards, ordered by the start of the visits."""
    by_part = [lessons(db) for db in databases]
    return heapq.merge(*by_part, key=lambda lesson: lesson.visit.at) if len(by_part) > 1 else by_part[0]


def duplicate_of(parts: Sequence[Part], part: Part, page: PageRow) -> str:
    """The URL of an earlier page with the same payload on any shard, or of a near-duplicate on its own; "" if none."""
    if page.duplicate_of or page.digest in ("", NOTHING) or is_made_by_scripts(part.db, page.url):
        return page.duplicate_of
    kept = [(found.at, found.url) for one in parts if (found := same_payload(one.db, page.digest)) is not None]
    own = same_payload(part.db, page.digest)
    earlier = [(at, url) for at, url in kept if own is not None and at < own.at and url != page.url]
    return min(earlier)[1] if earlier else ""


def count_shared_payloads(parts: Sequence[Part]) -> int:
    """The number of pages with the payload of an earlier page of another shard, which shards do not detect."""
    query = "SELECT digest, at, url FROM digests WHERE digest != ? ORDER BY digest"
    by_part = [zip(part.db.execute(query, (NOTHING,)), repeat(part), strict=False) for part in parts if len(parts) > 1]
    duplicates = 0
    for _, same in groupby(heapq.merge(*by_part, key=_digest), _digest):
        ((_, _, original), _), *later = sorted(same, key=lambda kept: kept[0][1:])
        duplicates += sum(url != original and _is_page(part, url) for (_, _, url), part in later)
    return duplicates


def _digest(kept: tuple[tuple[str, float, str], Part]) -> str:
    return kept[0][0]


def _is_page(part: Part, url: str) -> bool:
    query = "SELECT 1 FROM pages WHERE host = ? AND url = ? AND duplicate_of = ''"
    return part.db.execute(query, (host_of(url), url)).fetchone() is not None and not is_made_by_scripts(part.db, url)
