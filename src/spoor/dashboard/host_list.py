"""The hosts of a crawl: what each gave, what it cost, its delay, and why nothing is fetched from it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

from spoor.dashboard.reading import AT_ONCE, Part, Reading, like, part_of, place_in
from spoor.guidance import Guidance
from spoor.report.showing import delay_column, has_robots_files
from spoor.store.steered import steered

COLUMNS = {
    "relevant": "relevant",
    "pages": "pages",
    "share": "share",
    "failures": "failures",
    "seconds": "mean_seconds",
    "last": "last",
    "name": "name",
}
_READ = "id, name, pages, relevant, share, failures, redirects, bytes, mean_seconds, last"


@dataclass(frozen=True, slots=True)
class HostQuery:
    """Which hosts: those whose name holds `search`; and in which order."""

    sort: Literal["relevant", "pages", "share", "failures", "seconds", "last", "name"] = "relevant"
    direction: Literal["descending", "ascending"] = "descending"
    search: str = ""
    limit: int = AT_ONCE
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class ListedHost:
    """A host to which requests were made. `seconds` is the mean time of a request, `delay` the pause between two,
    `last` when it last answered; `free_at` when it may be asked again, and `blocked` why it is not, "" when it is."""

    id: int
    host: str
    pages: int
    relevant: int
    share: float
    failures: int
    redirects: int
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
    query = f"SELECT {delay_column(db)}, free_at, address FROM hosts WHERE name = ?"
    known = db.execute(query, (row[1],)).fetchone()
    delay, free_at, address = known or (None, None, "")
    return ListedHost(*(*row, delay, free_at, address, _blocked(db, guidance, row[1])))


def _blocked(db: sqlite3.Connection, guidance: Guidance, host: str) -> str:
    """By a person; or its robots.txt cannot be had, and until then nothing is fetched."""
    if blocked := guidance.blocks(f"http://{host}/"):
        return blocked
    if not has_robots_files(db):
        return ""
    query = "SELECT failed FROM robots WHERE url IN (?, ?) AND failed != ''"
    row = db.execute(query, (f"https://{host}/robots.txt", f"http://{host}/robots.txt")).fetchone()
    return f"robots.txt could not be had: {row[0]}" if row else ""
