"""Links that wait: which are next, and what speaks for each."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from spoor.dashboard.reading import AT_ONCE, Part, Reading, cursor_of, place_in
from spoor.errors import UsageError
from spoor.frontier.entry import Entry
from spoor.frontier.evidence import EvidenceNames
from spoor.frontier.rows import BEST, entry_of

FARTHEST = 1000
"""Links of the queue that can be listed: farther back, the order will be another when their turn comes."""


@dataclass(frozen=True, slots=True)
class QueueQuery:
    """Of one host, or of all."""

    host: str = ""
    limit: int = AT_ONCE
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class WaitingUrl:
    """A link that waits. `place` in the queue from 1, as if no host had a delay; `key` larger is sooner; `free_at` when
    the delay of its host is over."""

    place: int
    url: str
    host: str
    key: str
    evidence: dict[str, float]
    depth: int
    found_on: str
    tries: int
    free_at: float


def waiting(reading: Reading, asked: QueueQuery) -> Part[WaitingUrl]:
    """The first are next, but for those whose hosts have a delay."""
    if "head" not in {row[1] for row in reading.db.execute("PRAGMA table_info(hosts)")}:
        raise UsageError("the queue of a folder of an earlier version is listed once it was resumed by this one")
    (begin,) = place_in(asked.cursor, int) or (0,)
    if not 0 <= begin <= FARTHEST:
        raise UsageError("this cursor is not one of this list; leave it out to begin anew")
    end = min(begin + asked.limit, FARTHEST)
    found = list(islice(_in_order(reading.db, asked.host, end + 1), begin, end + 1))
    shown = (_waiting(place, *link) for place, link in enumerate(found[: end - begin], begin + 1))
    return Part(tuple(shown), cursor_of([end]) if len(found) > end - begin and end < FARTHEST else None)


def _in_order(db: sqlite3.Connection, host: str, most: int) -> Iterator[tuple[Entry, float]]:
    """Merged from the queues of hosts. The host of a link among the first N is among the first N hosts, because hosts
    stand in the order of their first links."""
    query = "SELECT id, name, free_at FROM hosts WHERE head IS NOT NULL "
    chosen = (query + "AND name = ?", (host,)) if host else (query + "ORDER BY head LIMIT ?", (most,))
    names = EvidenceNames.of(db)
    queues = [_queue(db, names, row, most) for row in db.execute(*chosen).fetchall()]
    return heapq.merge(*queues, key=lambda link: link[0].order)


def _queue(
    db: sqlite3.Connection, names: EvidenceNames, host: tuple[Any, ...], most: int
) -> Iterator[tuple[Entry, float]]:
    """Read one at a time: most hosts have none or one among the first, and each is a jump on the disk."""
    number, name, free_at = host
    for row in db.execute(BEST, (number, most)):
        yield entry_of(row, name, names), free_at


def _waiting(place: int, entry: Entry, free_at: float) -> WaitingUrl:
    key = "soonest" if entry.is_seed else " ".join(f"{part:g}" for part in entry.key)
    evidence = {name: value for name, value in entry.evidence.items() if abs(value) < float("inf")}
    return WaitingUrl(place, entry.url, entry.host, key, evidence, entry.depth, entry.found_on, entry.tries, free_at)
