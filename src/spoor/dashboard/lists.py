"""Paginated lists of a crawl: waiting links, hosts, events and failures."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from spoor.crawling.guidance import Guidance
from spoor.dashboard.reading import ListQuery, Part, Reading, ShortListQuery, cursor_of, like, part_of, place_in
from spoor.errors import UsageError
from spoor.frontier.entry import Entry
from spoor.frontier.evidence import EvidenceNames
from spoor.frontier.rows import BEST, entry_of
from spoor.store.steered import steered

# Waiting links: which are next, and the evidence for each.


FARTHEST = 1000
"""Links of the queue that can be listed; farther back, the order will have changed by the time they are fetched."""


@dataclass(frozen=True, slots=True)
class QueueQuery(ListQuery):
    """Of one host, or of all."""

    host: str = ""


@dataclass(frozen=True, slots=True)
class WaitingUrl:
    """A waiting link. `place` is its position in the queue from 1, ignoring host delays; a larger `key` is earlier;
    `free_at` is when the delay of its host ends."""

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
    """Next first, except for links of delayed hosts."""
    (begin,) = place_in(asked.cursor, int) or (0,)
    if not 0 <= begin <= FARTHEST:
        raise UsageError("invalid cursor for this list; leave it out to start again")
    end = min(begin + asked.limit, FARTHEST)
    found = list(islice(_in_order(reading.db, asked.host, end + 1), begin, end + 1))
    shown = (_waiting(place, *link) for place, link in enumerate(found[: end - begin], begin + 1))
    return Part(tuple(shown), cursor_of([end]) if len(found) > end - begin and end < FARTHEST else None)


def _in_order(db: sqlite3.Connection, host: str, most: int) -> Iterator[tuple[Entry, float]]:
    """Merges the queues of hosts. The host of one of the first N links is among the first N hosts, because hosts are
    ordered by their first links."""
    query = "SELECT id, name, free_at FROM hosts WHERE head IS NOT NULL "
    chosen = (query + "AND name = ?", (host,)) if host else (query + "ORDER BY head LIMIT ?", (most,))
    names = EvidenceNames.of(db)
    queues = [_queue(db, names, row, most) for row in db.execute(*chosen).fetchall()]
    return heapq.merge(*queues, key=lambda link: link[0].order)


def _queue(
    db: sqlite3.Connection, names: EvidenceNames, host: tuple[Any, ...], most: int
) -> Iterator[tuple[Entry, float]]:
    """A lazy iterator: most hosts have no link or one among the first, and each read is a disk seek."""
    number, name, free_at = host
    for row in db.execute(BEST, (number, most)):
        yield entry_of(row, name, names), free_at


def _waiting(place: int, entry: Entry, free_at: float) -> WaitingUrl:
    key = "soonest" if entry.is_seed else " ".join(f"{part:g}" for part in entry.key)
    evidence = {name: value for name, value in entry.evidence.items() if abs(value) < float("inf")}
    return WaitingUrl(place, entry.url, entry.host, key, evidence, entry.depth, entry.found_on, entry.tries, free_at)


# The hosts of a crawl: counts, cost, delay, and why nothing is fetched from a host.


COLUMNS = {
    "relevant": "relevant",
    "pages": "pages",
    "share": "share",
    "failures": "failures",
    "seconds": "mean_seconds",
    "last": "last",
    "name": "name",
}
_READ = "id, name, pages, relevant, share, failures, redirects, retries, bytes, mean_seconds, last"


@dataclass(frozen=True, slots=True)
class HostQuery(ListQuery):
    """Hosts whose name contains `search`, and their order."""

    sort: Literal["relevant", "pages", "share", "failures", "seconds", "last", "name"] = "relevant"
    direction: Literal["descending", "ascending"] = "descending"
    search: str = ""


@dataclass(frozen=True, slots=True)
class ListedHost:
    """A host with requests. `seconds` is the mean duration of a visit, `delay` the host delay, `last` the time of the
    last response; `free_at` is when the next request is allowed, and `blocked` why there is none, "" if it is not
    blocked."""

    id: int
    host: str
    pages: int
    relevant: int
    share: float
    failures: int
    redirects: int
    retries: int
    bytes: int
    seconds: float
    last: float
    delay: float | None
    free_at: float | None
    address: str
    blocked: str


def hosts(reading: Reading, asked: HostQuery) -> Part[ListedHost]:
    column, descending = COLUMNS[asked.sort], asked.direction == "descending"
    where, values = ["1"], list[Any]()
    if asked.search:
        where, values = [*where, "name LIKE ? ESCAPE '\\'"], [like(asked.search.lower())]
    if place := place_in(asked.cursor, str if column == "name" else float, int):
        where, values = [*where, f"({column}, id) {'<' if descending else '>'} (?, ?)"], [*values, *place]
    way = "DESC" if descending else "ASC"
    query = f"SELECT {_READ}, {column} FROM counted.hosts WHERE {' AND '.join(where)}"
    query += f" ORDER BY {column} {way}, id {way} LIMIT ?"
    found = reading.db.execute(query, (*values, asked.limit + 1)).fetchall()
    part = part_of(found, asked.limit, lambda row: [row[-1], row[0]])
    guidance = Guidance.of(steered(reading.db))
    return Part(tuple(_host(reading.db, guidance, row[:-1]) for row in part.items), part.cursor)


def _host(db: sqlite3.Connection, guidance: Guidance, row: tuple[Any, ...]) -> ListedHost:
    query = "SELECT delay, free_at, address FROM hosts WHERE name = ?"
    known = db.execute(query, (row[1],)).fetchone()
    delay, free_at, address = known or (None, None, "")
    return ListedHost(*(*row, delay, free_at, address, _blocked(db, guidance, row[1])))


def _blocked(db: sqlite3.Connection, guidance: Guidance, host: str) -> str:
    """Blocked by a person, or because its robots.txt could not be fetched, without which no page is fetched."""
    if blocked := guidance.blocks(f"http://{host}/"):
        return blocked
    query = "SELECT failed FROM robots WHERE url IN (?, ?) AND failed != ''"
    row = db.execute(query, (f"https://{host}/robots.txt", f"http://{host}/robots.txt")).fetchone()
    return f"robots.txt could not be fetched: {row[0]}" if row else ""


# Events other than pages, newest first; failures by reason, with examples.


EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class EventQuery(ListQuery):
    """Events of one kind, or with one of the reasons of `/failures`, by its id; or all."""

    kind: str = ""
    failure: int = 0


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of the journal; `detail` has the fields specific to its kind."""

    id: int
    kind: str
    host: str
    url: str
    at: float
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event, and how often it occurred."""

    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A reason of failed requests. `purpose` is page, robots or sitemap; `given_up` of them are not retried; `examples`
    are the URLs of the latest."""

    id: int
    purpose: str
    reason: str
    times: int
    given_up: int
    examples: tuple[str, ...]


def events(reading: Reading, asked: EventQuery) -> Part[LoggedEvent]:
    """By the index of kinds if one is given; otherwise by number."""
    place = place_in(asked.cursor, int)
    before = place[0] if place else 2**62
    chosen, values = "SELECT id FROM events WHERE", tuple[Any, ...]()
    if asked.failure:
        chosen, values = "SELECT id FROM counted.failed WHERE failure = ? AND", (asked.failure,)
    elif asked.kind:
        chosen, values = "SELECT id FROM counted.happened WHERE kind = ? AND", (asked.kind,)
    numbers = f"{chosen} id < ? ORDER BY id DESC LIMIT ?"
    query = f"SELECT id, kind, host, url, at, detail FROM events WHERE id IN ({numbers}) ORDER BY id DESC"
    rows = reading.db.execute(query, (*values, before, asked.limit + 1)).fetchall()
    found = [LoggedEvent(*(*row[:-1], _detail(row[-1]))) for row in rows]
    return part_of(found, asked.limit, lambda event: [event.id])


def event_kinds(reading: Reading, asked: ShortListQuery) -> Part[EventKind]:
    rows = reading.db.execute("SELECT kind, times FROM counted.kinds ORDER BY times DESC LIMIT ?", (asked.limit,))
    return Part(tuple(EventKind(*row) for row in rows), None)


def failures(reading: Reading, asked: ListQuery) -> Part[FailureKind]:
    """Most frequent first."""
    place = place_in(asked.cursor, int, int)
    where, values = ("WHERE (times, id) < (?, ?)", place) if place else ("", ())
    query = f"SELECT id, purpose, reason, times, given_up FROM counted.failures {where} ORDER BY times DESC, id DESC"
    rows = reading.db.execute(f"{query} LIMIT ?", (*values, asked.limit + 1)).fetchall()
    part = part_of(rows, asked.limit, lambda row: [row[3], row[0]])
    return Part(tuple(FailureKind(*(*row, _examples(reading, row[0]))) for row in part.items), part.cursor)


def _examples(reading: Reading, failure: int) -> tuple[str, ...]:
    newest = "SELECT id FROM counted.failed WHERE failure = ? ORDER BY id DESC LIMIT ?"
    rows = reading.db.execute(f"SELECT url FROM events WHERE id IN ({newest}) ORDER BY id DESC", (failure, EXAMPLES))
    return tuple(url for (url,) in rows)


def _detail(text: str) -> dict[str, Any]:
    """Without fields that only resuming needs; non-finite numbers, which JSON does not allow, as strings."""
    try:
        found = json.loads(text, parse_constant=str)
    except ValueError:
        return {"unreadable": text[:200]}
    return {name: value for name, value in found.items() if name not in ("known", "claims")}
