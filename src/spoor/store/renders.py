"""Results of rendering, in tables beside the journal: pages that were to be rendered, requests of their scripts, and
counts per host, on which decisions about later pages are based."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spoor.events import Event, Failed, Redirected, Visited
from spoor.records import Rendering, SentRequest, Visit
from spoor.render_budget import HostRenders
from spoor.urls import host_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS renders (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, number INTEGER NOT NULL, fetched REAL NOT NULL,
    seconds REAL NOT NULL, how TEXT NOT NULL, rendered INTEGER NOT NULL, gained INTEGER NOT NULL, warc_file TEXT,
    warc_offset INTEGER
);
CREATE INDEX IF NOT EXISTS renders_by_url ON renders (host, url);
CREATE TABLE IF NOT EXISTS sub_requests (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, page TEXT NOT NULL, started REAL NOT NULL,
    ended REAL NOT NULL, result TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS sub_requests_by_host ON sub_requests (host);
CREATE TABLE IF NOT EXISTS render_hosts (
    host TEXT PRIMARY KEY, flagged INTEGER NOT NULL, rendered INTEGER NOT NULL, gained INTEGER NOT NULL
) WITHOUT ROWID;
"""
_ROW = "url, host, number, fetched, seconds, how, rendered, gained, warc_file, warc_offset"
_COUNT = """
INSERT INTO render_hosts (host, flagged, rendered, gained) VALUES (?, 1, ?, ?)
ON CONFLICT (host) DO UPDATE SET flagged = flagged + 1, rendered = rendered + excluded.rendered,
    gained = gained + excluded.gained
"""


@dataclass(frozen=True, slots=True)
class RenderRow:
    """A page that was to be rendered; see `Rendering`. `number` is that of the visit."""

    url: str
    host: str
    number: int
    fetched: float
    seconds: float
    how: str
    rendered: bool
    gained: bool
    warc_file: str | None
    warc_offset: int | None


@dataclass(frozen=True, slots=True)
class RenderTotals:
    """Numbers of rendered pages, and of those that gained text or links; seconds in which tabs were busy; requests of
    scripts."""

    rendered: int = 0
    gained: int = 0
    seconds: float = 0.0
    requests: int = 0


class Renders:
    """A page is under way from the decision about it (`begin`) until the event of its visit. Results are collected
    until `write`, which the owner of the database calls in the transaction of the page."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._under_way: dict[str, tuple[str, bool]] = {}
        self._over: list[tuple[Visit, Rendering]] = []

    @staticmethod
    def create(db: sqlite3.Connection) -> Renders:
        db.executescript(SCHEMA)
        return Renders(db)

    def of(self, host: str) -> HostRenders:
        """Counts of a host: in the database, finished and under way."""
        query = "SELECT flagged, rendered, gained FROM render_hosts WHERE host = ?"
        flagged, rendered, gained = self._db.execute(query, (host,)).fetchone() or (0, 0, 0)
        over = [rendering for visit, rendering in self._over if visit.host == host]
        under_way = [began for of, began in self._under_way.values() if of == host]
        finished = rendered + sum(rendering.began for rendering in over)
        return HostRenders(
            flagged=flagged + len(over) + len(under_way),
            rendered=finished + sum(under_way),
            finished=finished,
            gained=gained + sum(rendering.gained for rendering in over),
        )

    def begin(self, visit: Visit, is_rendered: bool) -> None:
        """Records the decision about a page."""
        self._under_way[visit.url] = visit.host, is_rendered

    def note(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Visited | Failed | Redirected):
                self._under_way.pop(event.visit.url, None)
            if isinstance(event, Visited) and event.rendering is not None:
                self._over.append((event.visit, event.rendering))

    def write(self, db: sqlite3.Connection) -> None:
        for visit, rendering in self._over:
            values = _values(visit, rendering)
            db.execute(f"INSERT INTO renders ({_ROW}) VALUES ({', '.join('?' * len(values))})", values)
            db.execute(_COUNT, (visit.host, rendering.began, rendering.gained))
            columns = "url, host, page, started, ended, result"
            sent = [_request(request, visit.url) for request in rendering.requests]
            db.executemany(f"INSERT INTO sub_requests ({columns}) VALUES (?, ?, ?, ?, ?, ?)", sent)
        self._over.clear()


def _values(visit: Visit, rendering: Rendering) -> tuple[Any, ...]:
    came = (visit.url, visit.host, visit.number, rendering.fetched, rendering.seconds, rendering.how)
    return (*came, rendering.began, rendering.gained, rendering.file, rendering.offset)


def _request(request: SentRequest, page: str) -> tuple[Any, ...]:
    return request.url, host_of(request.url), page, request.began, request.ended, request.result


def has_renders(db: sqlite3.Connection) -> bool:
    """Whether the tables exist: folders of earlier versions lack them."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'renders'").fetchone() is not None


def render_of(db: sqlite3.Connection, host: str, url: str, number: int) -> RenderRow | None:
    """The rendering of one visit to a page; None if it was not considered for rendering."""
    if not has_renders(db):
        return None
    query = f"SELECT {_ROW} FROM renders WHERE host = ? AND url = ? AND number = ? ORDER BY id DESC"
    row = db.execute(query, (host, url, number)).fetchone()
    return None if row is None else replace(RenderRow(*row), rendered=bool(row[6]), gained=bool(row[7]))


def is_made_by_scripts(db: sqlite3.Connection, url: str) -> bool:
    """Whether a page gained text or links when rendered: its payload does not represent its content then."""
    query = "SELECT 1 FROM renders WHERE host = ? AND url = ? AND gained"
    return has_renders(db) and db.execute(query, (host_of(url), url)).fetchone() is not None


def render_totals(db: sqlite3.Connection) -> RenderTotals:
    if not has_renders(db):
        return RenderTotals()
    counts = "ifnull(sum(rendered), 0), ifnull(sum(gained), 0), ifnull(sum(seconds), 0.0)"
    requests = "(SELECT count(*) FROM sub_requests)"
    return RenderTotals(*db.execute(f"SELECT {counts}, {requests} FROM renders").fetchone())


def fetch_ends(db: sqlite3.Connection, host: str) -> dict[tuple[str, int], float]:
    """The times at which responses of rendered pages had arrived, by URL and number of the visit."""
    if not has_renders(db):
        return {}
    rows = db.execute("SELECT url, number, fetched FROM renders WHERE host = ? AND rendered", (host,))
    return {(url, number): fetched for url, number, fetched in rows}


def sub_requests(db: sqlite3.Connection, host: str) -> Iterator[tuple[str, float, float, str]]:
    """The page whose scripts sent it, start, end and URL of each request."""
    if has_renders(db):
        yield from db.execute("SELECT page, started, ended, url FROM sub_requests WHERE host = ?", (host,))
