"""The journal of a crawl, in tables that any SQLite tool can read: one row per page, and one per other event."""

from __future__ import annotations

import base64
import contextlib
import heapq
import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spoor.errors import BadInput
from spoor.events import Aside, Event, Result, SitemapRead, Visited
from spoor.frontier.entry import INDEX_DEPTH
from spoor.frontier.evidence import renamed_evidence
from spoor.frontier.rows import UNREADABLE, stored_entry, trail_of
from spoor.records import Miss, Page, Sighting, Verdict, Visit
from spoor.storage_errors import reason_of
from spoor.store.event_rows import event_row, storable
from spoor.store.run_time import SCHEMA as RUNS
from spoor.store.totals import NOTHING, CrawlTotals, add_totals, counted
from spoor.store.totals import SCHEMA as TOTALS
from spoor.store.verdicts import SCHEMA as VERDICTS
from spoor.urls import host_of

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, number INTEGER NOT NULL, started REAL NOT NULL,
    ended REAL NOT NULL, status INTEGER NOT NULL, size INTEGER NOT NULL, relevance REAL NOT NULL,
    because TEXT NOT NULL, label TEXT, added INTEGER NOT NULL, waiting INTEGER NOT NULL, title TEXT NOT NULL,
    language TEXT NOT NULL, digest TEXT NOT NULL, simhash INTEGER, duplicate_of TEXT NOT NULL, warc_file TEXT,
    warc_offset INTEGER, relevant INTEGER NOT NULL, noindex INTEGER NOT NULL, needs_scripts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS pages_by_url ON pages (host, url);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, number INTEGER, started REAL, at REAL NOT NULL, kind TEXT NOT NULL, url TEXT NOT NULL,
    host TEXT NOT NULL, detail TEXT NOT NULL, result TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_url ON events (host, url);
CREATE TABLE IF NOT EXISTS dropped (
    host TEXT NOT NULL, url TEXT NOT NULL, because TEXT NOT NULL, found_on TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (host, url)
) WITHOUT ROWID;
{RUNS}{TOTALS}{VERDICTS}"""
_PAGE = (
    "url, host, number, started, ended, status, size, relevance, because, label, added, waiting, title, language, "
    "digest, simhash, duplicate_of, warc_file, warc_offset, relevant, noindex, needs_scripts"
)
_EVENT = "number, started, at, kind, url, host, detail, result"
_DROPPED = "host, url, because, found_on, at"
_ROWS_AT_ONCE = 1000


def _places(columns: str) -> str:
    return ", ".join("?" * len(columns.split(",")))


_INSERT_PAGE = f"INSERT INTO pages (id, {_PAGE}) VALUES (?, {_places(_PAGE)})"
_INSERT_EVENT = f"INSERT INTO events (id, {_EVENT}) VALUES (?, {_places(_EVENT)})"
_INSERT_DROPPED = f"INSERT OR IGNORE INTO dropped ({_DROPPED}) VALUES ({_places(_DROPPED)})"


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page that its event does not contain. `warc_file` is "" if the page was not to be stored, None if
    its record is lost."""

    title: str = ""
    language: str = ""
    digest: str = ""
    simhash: int | None = None
    duplicate_of: str = ""
    warc_file: str | None = None
    warc_offset: int | None = None
    noindex: bool = False


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page in the journal. `waiting` is the length of the queue when the page arrived."""

    url: str
    host: str
    number: int
    started: float
    ended: float
    status: int
    size: int
    relevance: float
    because: str
    label: str | None
    added: int
    waiting: int
    title: str
    language: str
    digest: str
    simhash: int | None
    duplicate_of: str
    warc_file: str | None
    warc_offset: int | None
    relevant: bool
    noindex: bool
    needs_scripts: bool


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event in the journal. `kind` is redirected, failed, excused, host opened, sitemap read, refused, trouble,
    held, paused, resumed, https paused, https resumed, clock set, host demoted, host restored, steered, taught or
    ended; `detail` has the fields of that kind. `result` is that of a visit to a page, None if none ended.

    `number` and `started` are those of the visit; None if there was no visit, or it has no number.
    """

    number: int | None
    started: float | None
    at: float
    kind: str
    url: str
    host: str
    detail: dict[str, Any]
    result: Result | None


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """A link that was dropped when it was first discovered."""

    host: str
    url: str
    because: str
    found_on: str
    at: float


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the journal, by number, URL and time; in another crawl these differ."""

    number: int
    url: str
    at: float


class Journal:
    """Collects rows, and what they add to the totals, until `write`, which the owner of the database calls inside its
    own transaction."""

    def __init__(self, last: int = 0) -> None:
        """`last` is the highest number of a page or event. Both share one sequence, in order of occurrence."""
        self._last = last
        self._facts: dict[str, PageFacts] = {}
        self._pages: list[tuple[Any, ...]] = []
        self._events: list[tuple[Any, ...]] = []
        self._dropped: list[tuple[Any, ...]] = []
        self._counted = NOTHING

    @staticmethod
    def create(db: sqlite3.Connection) -> Journal:
        """Creates the tables, or continues the journal in the file."""
        db.executescript(SCHEMA)
        query = "SELECT max(ifnull((SELECT max(id) FROM pages), 0), ifnull((SELECT max(id) FROM events), 0))"
        return Journal(db.execute(query).fetchone()[0])

    @property
    def last(self) -> int:
        """The number of the last row, 0 before the first."""
        return self._last

    def tell(self, url: str, facts: PageFacts) -> None:
        """Facts about a URL that its event does not contain; must be called before the event is noted."""
        self._facts[url] = facts

    def note(self, events: Sequence[Event]) -> None:
        for event in events:
            self._counted += counted(event)
            if isinstance(event, Visited):
                self._note_page(event)
            else:
                self._events.append((self._next(), *event_row(event)))
                if isinstance(event, SitemapRead):
                    self._note_dropped(event)
                if not isinstance(event, Aside):
                    self._facts.pop(event.visit.url, None)

    def end(self, at: float, reason: str, idle: float = 0.0) -> None:
        """Records why the run ended, and its idle time in seconds. The crawl may be resumed."""
        detail = json.dumps({"because": reason, "idle": round(idle, 3)}, ensure_ascii=False)
        self._events.append((self._next(), None, None, at, "ended", "", "", detail, ""))

    def write(self, db: sqlite3.Connection) -> None:
        db.executemany(_INSERT_PAGE, self._pages)
        db.executemany(_INSERT_EVENT, self._events)
        db.executemany(_INSERT_DROPPED, self._dropped)
        add_totals(db, self._counted)
        self._counted = NOTHING
        self._pages.clear()
        self._events.clear()
        self._dropped.clear()

    def _note_page(self, event: Visited) -> None:
        visit = event.visit
        facts = self._facts.pop(visit.url, PageFacts())
        self._pages.append((self._next(), *_page_row(event, facts)))
        if event.verdict.relevant and facts.duplicate_of:
            self._counted += CrawlTotals(relevant_duplicates=1)
        self._note_dropped(event)

    def _note_dropped(self, event: Visited | SitemapRead) -> None:
        # Parked links stay in the frontier with their reason; dropped ones are recorded only here.
        for refusal in event.refused:
            if not refusal.parked:
                because = storable(refusal.because)
                self._dropped.append((host_of(refusal.url), refusal.url, because, event.visit.url, event.at))

    def _next(self) -> int:
        self._last += 1
        return self._last


def open_to_read(database: Path, table: str = "pages") -> sqlite3.Connection:
    """Opens read-only a database that has this table; sees every committed batch of a running crawl."""
    uri = f"file:{quote(str(database.resolve()))}?mode=ro"
    # In a read-only folder, SQLite opens a WAL database only as immutable.
    for how in (uri, uri + "&immutable=1"):
        try:
            return _opened_to_read(how, table)
        except UNREADABLE as error:
            reason = reason_of(database, error)
        # On a full disk the log is empty; with transactions in it, `immutable` would not show these.
        if (log := Path(f"{database}-wal")).exists() and log.stat().st_size:
            break
    raise BadInput(f"cannot read {database}: {reason}")


def _opened_to_read(uri: str, table: str) -> sqlite3.Connection:
    with contextlib.ExitStack() as opened:
        db = opened.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)))
        # The file may be untrusted: its schema may not call functions, and cells are checked before use.
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute(f"SELECT count(*) FROM {table} WHERE id = 0").fetchone()
        opened.pop_all()
        return db


def pages(db: sqlite3.Connection, relevant_only: bool = False) -> Iterator[PageRow]:
    """Pages in order of arrival."""
    condition = "relevant = 1" if relevant_only else "1"
    for row in _rows(db, f"SELECT id, {_PAGE} FROM pages WHERE {condition}"):
        yield PageRow(*row[:-3], *map(bool, row[-3:]))


def lessons(db: sqlite3.Connection, until: float = math.inf) -> Iterator[Sighting | Miss]:
    """Everything that a crawl learned from, in order, up to a time in seconds since 1970. Pages have URL, status and
    verdict, but no texts or links; visits have the evidence of their links."""
    return (lesson for _, lesson in numbered_lessons(db, 0, until))


def numbered_lessons(
    db: sqlite3.Connection, after: int, until: float = math.inf, before: float = math.inf
) -> Iterator[tuple[int, Sighting | Miss]]:
    """The same with row numbers, which are greater than `after` and less than `before`."""
    asked = (db, after, until, before)
    return heapq.merge(_sightings(*asked), _misses(*asked), key=itemgetter(0))


def last_moment(db: sqlite3.Connection) -> float | None:
    """The time of the last page or event, by the clock of that run; None if there is none."""
    last = "(SELECT {} FROM {} ORDER BY id DESC LIMIT 1)"
    row = db.execute(f"SELECT {last.format('ended', 'pages')}, {last.format('at', 'events')}").fetchone()
    return max((moment for moment in row if moment is not None), default=None)


def set_back(db: sqlite3.Connection, now: float) -> float:
    """By how many seconds a clock that says `now` is behind the last page or event; 0 if it is not."""
    last = last_moment(db)
    return 0.0 if last is None else max(0.0, last - now)


def count_lessons(db: sqlite3.Connection, after: int = 0, before: float = math.inf) -> int:
    """An upper bound of the number of lessons."""
    counts = (f"(SELECT count(*) FROM {table} WHERE id > :after AND id < :before)" for table in ("pages", "events"))
    return int(db.execute(f"SELECT {' + '.join(counts)}", {"after": after, "before": before}).fetchone()[0])


def number_of(db: sqlite3.Connection, page: PageRow) -> int:
    """The row number of a page. Everything known when the page was selected has smaller numbers."""
    query = "SELECT max(id) FROM pages WHERE host = ? AND url = ? AND number = ?"
    return int(db.execute(query, (page.host, page.url, page.number)).fetchone()[0])


def place_at(db: sqlite3.Connection, number: int) -> Place | None:
    """None if there is no such row."""
    query = "SELECT url, ended FROM pages WHERE id = ? UNION ALL SELECT url, at FROM events WHERE id = ?"
    row = db.execute(query, (number, number)).fetchone()
    return None if row is None else Place(number, *row)


def _sightings(
    db: sqlite3.Connection, after: int, until: float, before: float
) -> Iterator[tuple[int, Sighting | Miss]]:
    columns = "id, id, url, host, number, started, status, duplicate_of, relevance, relevant, because, label"
    query = f"SELECT {columns} FROM pages WHERE ended <= ? AND id < ?"
    for place, url, host, number, started, *said in _rows(db, query, until, before, after=after):
        status, duplicate_of, relevance, relevant, because, label = said
        visit = _visit_of(db, Visit(url, host, number, started))
        page = Page(url, status, duplicate_of=duplicate_of)
        yield place, Sighting(visit, page, Verdict(relevance, bool(relevant), because, label), None)


def _misses(db: sqlite3.Connection, after: int, until: float, before: float) -> Iterator[tuple[int, Sighting | Miss]]:
    columns = "id, id, at, number, started, kind, url, host, detail"
    query = f"SELECT {columns} FROM events WHERE kind IN ('failed', 'redirected', 'refused') AND at <= ? AND id < ?"
    for place, at, number, started, kind, url, host, detail in _rows(db, query, until, before, after=after):
        detail = json.loads(detail)
        if because := _missed(kind, number, detail):
            visit = Visit(url, host, -1 if number is None else number, at if started is None else started)
            visit = _as_known(_visit_of(db, visit), detail.get("known"))
            if INDEX_DEPTH not in visit.evidence:  # Sitemaps are not learned from.
                yield place, Miss(visit, because)


def _missed(kind: str, number: int | None, detail: dict[str, Any]) -> str:
    """Why an event counts as a miss; "" if it does not."""
    if kind == "failed":
        return "" if number is None or detail.get("excused") else str(detail["reason"])
    return "" if detail.get("parked") else str(detail["because"])


def _as_known(visit: Visit, known: list[Any] | None) -> Visit:
    """The visit with the link as it was when a fetch failed and was to be retried: the frontier has a later state."""
    if known is None:
        return visit
    key, evidence, trail, hints = known
    return replace(
        visit,
        key=tuple(map(float, key)),
        evidence=renamed_evidence(evidence),
        trail=trail_of(trail),
        hints=base64.b64decode(hints, validate=True),
    )


def _visit_of(db: sqlite3.Connection, visit: Visit) -> Visit:
    """The visit with key, evidence and path of its link in the frontier."""
    entry = stored_entry(db, visit.url)
    if entry is None:
        return visit
    known = {"key": entry.key, "evidence": entry.evidence, "trail": entry.trail, "hints": entry.hints}
    return replace(visit, **known, depth=entry.depth, found_on=entry.found_on, redirects=entry.redirects)


def events(db: sqlite3.Connection) -> Iterator[EventRow]:
    """Events in order of occurrence."""
    for row in _rows(db, f"SELECT id, {_EVENT} FROM events WHERE 1"):
        yield _event(row)


def pages_of(db: sqlite3.Connection, url: str) -> list[PageRow]:
    query = f"SELECT {_PAGE} FROM pages WHERE host = ? AND url = ? ORDER BY id"
    rows = db.execute(query, (host_of(url), url))
    return [PageRow(*row[:-3], *map(bool, row[-3:])) for row in rows.fetchall()]


def events_of(db: sqlite3.Connection, url: str) -> list[EventRow]:
    rows = db.execute(f"SELECT {_EVENT} FROM events WHERE host = ? AND url = ? ORDER BY id", (host_of(url), url))
    return [_event(row) for row in rows.fetchall()]


def dropped(db: sqlite3.Connection, url: str) -> DroppedRow | None:
    """Why a link was dropped; None if it was admitted or never discovered."""
    row = db.execute(f"SELECT {_DROPPED} FROM dropped WHERE host = ? AND url = ?", (host_of(url), url)).fetchone()
    return None if row is None else DroppedRow(*row)


def _rows(db: sqlite3.Connection, query: str, *asked: float, after: int = 0) -> Iterator[tuple[Any, ...]]:
    """Yields rows without their id, in batches: one long query would prevent checkpoints of a running crawl, and its
    WAL would grow."""
    last = after
    while found := db.execute(f"{query} AND id > ? ORDER BY id LIMIT {_ROWS_AT_ONCE}", (*asked, last)).fetchall():
        last = found[-1][0]
        yield from (row[1:] for row in found)


def _page_row(event: Visited, facts: PageFacts) -> tuple[Any, ...]:
    visit, verdict = event.visit, event.verdict
    came = (visit.url, visit.host, visit.number, visit.at, event.at, event.status, event.size)
    label = None if verdict.label is None else storable(verdict.label)
    thought = (float(verdict.relevance), storable(verdict.because), label, event.added, event.waiting)
    found = (storable(facts.title), facts.language, facts.digest, facts.simhash, facts.duplicate_of)
    flags = (bool(verdict.relevant), facts.noindex, event.needs_scripts)
    return (*came, *thought, *found, facts.warc_file, facts.warc_offset, *flags)


def _event(row: tuple[Any, ...]) -> EventRow:
    number, started, at, kind, url, host, detail, result = row
    return EventRow(number, started, at, kind, url, host, json.loads(detail), Result(result) if result else None)


def demoted_hosts(db: sqlite3.Connection) -> list[str]:
    """The hosts whose links come after those of all other hosts."""
    query = "SELECT host, kind FROM events WHERE kind IN ('host demoted', 'host restored') ORDER BY id"
    return [host for host, kind in dict(db.execute(query)).items() if kind == "host demoted"]


def demotion_of(db: sqlite3.Connection, host: str) -> EventRow | None:
    """When and why the links of a host were put behind those of all other hosts; None if they are not."""
    kinds = "kind IN ('host demoted', 'host restored')"
    query = f"SELECT {_EVENT} FROM events WHERE host = ? AND url = '' AND {kinds} ORDER BY id DESC LIMIT 1"
    row = db.execute(query, (host,)).fetchone()
    return _event(row) if row is not None and row[3] == "host demoted" else None
