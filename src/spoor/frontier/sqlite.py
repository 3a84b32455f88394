"""A store in one SQLite file: durable at every commit, and flat in memory however many links wait."""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import sqlite3
import zlib
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple
from functools import lru_cache, partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from spoor.errors import BadInput, BrokenContract, BrokenStorage
from spoor.frontier.entry import DIED, KEY_PARTS, TROUBLE, Entry, Host, Order, State, packed, unpacked
from spoor.frontier.evidence import NAMES_SCHEMA, EvidenceNames
from spoor.frontier.queues import ALL_READ, NOTHING_READ, ReadAhead
from spoor.frontier.store import ALL_MOMENTS, Bounds, Counters, Moment
from spoor.records import Key, TrailState
from spoor.robots import LONGEST_FILE, RobotsFile
from spoor.urls import host_of

CACHE_KIB = 128 * 1024
STATEMENTS = 512
PLACES_PER_QUERY = 400
RECENT = 20_000
"""Entries at hand: about twenty megabytes."""
HOSTS_AHEAD = 500
"""Hosts of which the first links stay at hand."""
AT_HAND = 10_000
"""Hosts whose links are soonest, in memory, and up to twice as many: half a kilobyte each, two with the best link. A
crawl asks some thousands within the rest of one."""
NAMES = 20_000
"""Hosts whose numbers are at hand, and up to twice as many: five megabytes."""
ROBOTS_AT_HAND = 20_000
"""Files of which it is known at hand how long they count, and up to twice as many: nine megabytes. Their rules are
cached elsewhere."""
LONGEST_TEXT = 4 * LONGEST_FILE
"""Bytes of a robots.txt in UTF-8, whatever its encoding was."""
PAGES_PER_CHECKPOINT = 12 * 1024
"""The log may grow to 48 MiB before it is written back: pages that change often are then written once, not often. To
write back more would hold the loop for too long."""

# Rows are appended as links arrive; the first two indexes begin with the host, because most links of a page lead to its
# own host: offering a page then touches a few leaves of each index instead of one per link. `links_in_turn` are the
# waiting rows by number: without it, a turn among them would go through all rows that wait no more. `hosts_in_order`
# are the hosts of which something waits, by the place of their first link.
APART = f"(because = '' OR (because >= '{TROUBLE}' AND because < '{TROUBLE[:-1]}!'))"
"""In SQL, of a link that returns: it was not put off."""
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rest REAL NOT NULL, free_at REAL NOT NULL, address TEXT NOT NULL,
    head BLOB
);
CREATE INDEX IF NOT EXISTS hosts_in_order ON hosts (head) WHERE head IS NOT NULL;
CREATE TABLE IF NOT EXISTS robots (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, until REAL NOT NULL, delay REAL NOT NULL, leads_to TEXT NOT NULL,
    failed TEXT NOT NULL, may_heal INTEGER NOT NULL, tries INTEGER NOT NULL, text BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS robots_by_time ON robots (until);
CREATE TABLE IF NOT EXISTS links (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, hash INTEGER NOT NULL, url TEXT NOT NULL, state INTEGER NOT NULL,
    key1 REAL NOT NULL, key2 REAL, key3 REAL, arrival INTEGER NOT NULL, evidence BLOB NOT NULL, trail TEXT,
    depth INTEGER NOT NULL, found_on TEXT NOT NULL, redirects INTEGER NOT NULL, tries INTEGER NOT NULL,
    again_at REAL NOT NULL, because TEXT NOT NULL, hints BLOB
);
CREATE INDEX IF NOT EXISTS links_by_url ON links (host, hash);
CREATE INDEX IF NOT EXISTS waiting_links ON links (host, key1 DESC, key2 DESC, key3 DESC, arrival) WHERE state = 0;
DROP INDEX IF EXISTS links_met_on;
CREATE INDEX IF NOT EXISTS links_found_on ON links (found_on, arrival) WHERE state = 0;
CREATE INDEX IF NOT EXISTS links_in_turn ON links (id) WHERE state = 0;
DROP INDEX IF EXISTS moving_links;
CREATE INDEX IF NOT EXISTS links_in_transit ON links (arrival) WHERE state = 3;
CREATE INDEX IF NOT EXISTS returning_links ON links (again_at, arrival) WHERE state = 1 AND {APART};
CREATE INDEX IF NOT EXISTS put_off_links ON links (again_at, arrival) WHERE state = 1 AND NOT {APART};
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""
ONLY_FOR_CRAWLING = (
    "hosts_in_order",
    "waiting_links",
    "links_found_on",
    "links_in_turn",
    "links_in_transit",
    "returning_links",
    "put_off_links",
)
"""Indexes that nobody asks but a crawl that runs. Where they are missing they are made when a store is opened."""
COLUMNS = (
    "host, hash, url, state, key1, key2, key3, arrival, evidence, trail, depth, found_on, redirects, "
    "tries, again_at, because, hints"
)
KNOWN = "evidence = ?, trail = ?, tries = ?, again_at = ?, because = ?, hints = ?"
KEY = "key1 = ?, key2 = ?, key3 = ?, arrival = ?"
"""What changes of a link besides its state. An index is written whenever a statement names a column of it, whether or
not its value is another; so what stays as it was is not named."""
ROBOTS = "url, until, delay, leads_to, failed, may_heal, tries"
ROBOTS_OF_URLS = "url LIKE 'http%://_%/%' AND (leads_to = '' OR leads_to LIKE 'http%://_%/%')"
"""Any others were written by somebody else; such a file is asked for again."""
URL = 3
"""The place of the URL in a row that begins with the id."""

BEST = (
    f"SELECT id, {COLUMNS} FROM links WHERE host = ? AND state = 0 "
    "ORDER BY key1 DESC, key2 DESC, key3 DESC, arrival LIMIT ?"
)
FIRST_PLACE = (
    "SELECT place(key1, key2, key3, arrival) FROM links WHERE host = hosts.id AND state = 0 "
    "ORDER BY key1 DESC, key2 DESC, key3 DESC, arrival LIMIT 1"
)
"""Of a host, where `place` is `place_of_row`."""
FOUND_ON = f"SELECT id, {COLUMNS} FROM links WHERE found_on = ? AND state = 0 ORDER BY arrival"
HOST = "id, name, rest, free_at, address, head"
INSERT = f"INSERT INTO links (id, {COLUMNS}) VALUES ({', '.join('?' * 18)})"
NOTHING: dict[str, Entry] = {}
Thing = TypeVar("Thing")

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading a damaged file leads to; the second when the damaged bytes are in the message itself."""

Writer = Callable[[sqlite3.Connection], None]
"""Writes rows of its own inside a transaction that somebody else began and will end."""


class SqliteStore:
    """What was saved since the last commit is held in `_changed`, by host and URL, and goes to the file all at once.
    So between two commits the file holds the state of the last one, whatever happens to the process. `_recent` are
    entries as they are now, those met last: the pages of a site go on naming the same links. `_ahead` has the first
    waiting links of the hosts that were asked about last. `_host_ids` are numbers of hosts, None where there is no such
    host in the file; `_known_robots` what stands in the file of some robots.txt."""

    def __init__(self, path: Path, at_hand: int = AT_HAND) -> None:
        self._path = path
        self._hosts_at_hand = at_hand
        self._along: list[Writer] = []
        self._changed: dict[str, dict[str, Entry]] = {}
        self._changed_on_page: dict[str, dict[str, Entry]] = {}
        self._recent: dict[str, Entry] = {}
        self._ahead: dict[str, ReadAhead] = {}
        self._changed_hosts: dict[str, Host] = {}
        self._changed_robots: dict[str, tuple[RobotsFile, str]] = {}
        self._known_robots: dict[str, RobotsFile] = {}
        self._host_ids: dict[str, int | None] = {}
        self._resumed_at = -math.inf
        self._rested_at: list[float] = []
        try:
            self._db = sqlite3.connect(path, isolation_level=None, cached_statements=STATEMENTS)
            self._prepare()
        except UNREADABLE as error:
            raise BadInput(f"cannot use {path} as a frontier: {error}") from None

    def _prepare(self) -> None:
        # A file from elsewhere: its schema may call no functions, and cells are checked before they are used.
        self._db.execute("PRAGMA trusted_schema = OFF")
        self._db.execute("PRAGMA cell_size_check = ON")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {PAGES_PER_CHECKPOINT}")
        self._db.executescript(SCHEMA + NAMES_SCHEMA)
        self._evidence_names = EvidenceNames.of(self._db)
        self._last_host: int = self._db.execute("SELECT ifnull(max(id), 0) FROM hosts").fetchone()[0]
        self._oldest_new_host = self._last_host + 1
        self._last_row: int = self._db.execute("SELECT ifnull(max(id), 0) FROM links").fetchone()[0]
        self._committed = self._last_row

    def close(self) -> None:
        """Forgets what was not committed."""
        self._db.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """For others who keep things in the same file; they change it only through `write_along`."""
        return self._db

    def write_along(self, writer: Writer) -> None:
        """From now on `writer` writes in every commit, in the same transaction."""
        self._along.append(writer)

    @property
    def at_hand(self) -> int:
        return self._hosts_at_hand

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        at_hand = [self._recent.get(url) or self._changed.get(host_of(url), NOTHING).get(url) for url in urls]
        stored = self._read([url for url, entry in zip(urls, at_hand, strict=True) if entry is None])
        self._recent |= stored
        return [entry or stored.get(url) for url, entry in zip(urls, at_hand, strict=True)]

    def save(self, entry: Entry) -> None:
        if entry.row is None:
            self._last_row += 1
            entry.row = self._last_row
        self._changed.setdefault(entry.host, {})[entry.url] = entry
        self._changed_on_page.setdefault(entry.found_on, {})[entry.url] = entry
        self._recent[entry.url] = entry
        if (ahead := self._ahead.get(entry.host)) is not None:
            ahead.put(entry)

    def best(self, host: str) -> Entry | None:
        first = self._first(host)
        return None if first is None else self._ahead[host].entry(first[1])

    def first_place(self, host: str) -> Order | None:
        first = self._first(host)
        return None if first is None else first[0]

    def _first(self, host: str) -> tuple[Order, str] | None:
        ahead = self._ahead.pop(host, None) or ReadAhead(self._changed.get(host, NOTHING).values())
        self._ahead[host] = ahead  # The last: those asked about last are kept.
        while (first := ahead.first()) is None and ahead.read_to != ALL_READ:
            self._read_on(host, ahead)
        return first

    def _read_on(self, host: str, ahead: ReadAhead) -> None:
        asked, changed = ahead.rows_to_read(), self._changed.get(host, NOTHING)
        rows = self._all(BEST, (self._id_of(host), asked))
        for row in rows:
            if row[URL] not in changed and row[URL] not in ahead:
                ahead.read(row[URL], _order(row), partial(self._at_hand, row))
        ahead.read_to = _order(rows[-1]) if len(rows) == asked else ALL_READ

    def met_on(self, url: str, most: int) -> list[Entry]:
        changed = self._changed_on_page.get(url, NOTHING)
        rows = self._first_rows(most, FOUND_ON, (url,), lambda row: row[URL] not in changed)
        waiting = [self._at_hand(row) for row in rows]
        waiting += [entry for entry in changed.values() if entry.state is State.WAITING]
        return heapq.nsmallest(most, waiting, key=attrgetter("arrival"))

    def some(self, turn: int, count: int) -> list[Entry]:
        after = turn * count % max(1, self._committed)
        changed = {e.row: e for entries in self._changed.values() for e in entries.values() if not self._is_new(e)}
        query = f"SELECT id, {COLUMNS} FROM links INDEXED BY links_in_turn WHERE id > ? AND state = 0 ORDER BY id"
        rows = self._first_rows(count, query, (after,), lambda row: row[0] not in changed)
        waiting = {row[0]: self._at_hand(row) for row in rows}
        waiting |= {row: e for row, e in changed.items() if row > after and e.state is State.WAITING}
        return [waiting[row] for row in heapq.nsmallest(count, waiting)]

    def in_state(self, state: State) -> Iterator[Entry]:
        # With the number in the query, SQLite knows that it may use an index of this state alone.
        query = f"SELECT id, {COLUMNS} FROM links WHERE state = {int(state)} ORDER BY arrival"
        return map(self._entry, self._all(query))

    def returning(self, after: Moment, put_off: bool, most: int) -> tuple[list[tuple[float, int, str]], Moment]:
        which = f"NOT {APART}" if put_off else APART
        query = f"SELECT again_at, arrival, url FROM links WHERE state = 1 AND {which} AND (again_at, arrival) > (?, ?)"
        found = self._all(f"{query} ORDER BY again_at, arrival LIMIT ?", (*after, most))
        return found, found[-1][:2] if len(found) == most else ALL_MOMENTS

    def save_host(self, host: Host) -> None:
        self._changed_hosts[host.name] = host

    def host(self, name: str) -> Host | None:
        if (changed := self._changed_hosts.get(name)) is not None:
            return changed
        rows = self._all(f"SELECT {HOST} FROM hosts WHERE id = ?", (self._id_of(name),))
        return self._host(rows[0]) if rows else None

    def hosts_after(self, order: Order, most: int, now: float, known: Container[str]) -> tuple[list[Host], Order]:
        after = b"" if order == NOTHING_READ else packed(order)
        asked: tuple[object, ...] = (after,)
        rested = ""
        if self.next_rested(now) is not None:
            rested = "AND (id >= ? OR ? + rest <= ?)"
            asked = (after, self._oldest_new_host, self._resumed_at, now)
        query = f"SELECT {HOST} FROM hosts WHERE head > ? {rested} ORDER BY head LIMIT ?"
        rows = self._all(query, (*asked, most))
        last = self._host(rows[-1]).order if len(rows) == most else None
        return [self._host(row) for row in rows if row[1] not in known], ALL_READ if last is None else last

    def resume(self, at: float) -> None:
        self._resumed_at = at
        self._rested_at = sorted(at + rest for (rest,) in self._all("SELECT DISTINCT rest FROM hosts"))

    def next_rested(self, now: float) -> float | None:
        return next(iter(self._rested_at[bisect_right(self._rested_at, now) :]), None)

    def _host(self, row: tuple[Any, ...]) -> Host:
        try:
            number, name, rest, free_at, address, head = row
            self._host_ids[name] = number
            if number < self._oldest_new_host:
                free_at = max(free_at, self._resumed_at + rest)
            return Host(name, rest, free_at, address, order=None if head is None else unpacked(head))
        except (ValueError, TypeError):
            raise self._damaged(f"row {row[0]} of hosts holds what no crawl wrote") from None

    def _id_of(self, name: str) -> int | None:
        if name not in self._host_ids:
            self._ask_ids({name})
        return self._host_ids[name]

    def _ask_ids(self, names: set[str]) -> None:
        """The numbers of these hosts are at hand then."""
        unknown = [name for name in names if name not in self._host_ids]
        for start in range(0, len(unknown), PLACES_PER_QUERY):
            asked = unknown[start : start + PLACES_PER_QUERY]
            self._host_ids |= dict.fromkeys(asked)
            places = ", ".join("?" * len(asked))
            self._host_ids |= dict(self._all(f"SELECT name, id FROM hosts WHERE name IN ({places})", asked))

    def save_robots(self, file: RobotsFile, text: str) -> None:
        self._changed_robots[file.url] = file, text

    def robots_file(self, url: str) -> RobotsFile | None:
        if (changed := self._changed_robots.get(url)) is not None:
            return changed[0]
        if (known := self._known_robots.get(url)) is None:
            rows = self._all(f"SELECT {ROBOTS} FROM robots WHERE url = ? AND {ROBOTS_OF_URLS}", (url,))
            if rows:
                known = self._known_robots[url] = _robots_file(rows[0])
        return known

    def robots_text(self, url: str) -> str:
        if (changed := self._changed_robots.get(url)) is not None:
            return changed[1]
        try:
            return stored_robots_text(self._db, url)
        except (*UNREADABLE, zlib.error, TypeError):
            raise self._damaged(f"what {url} said cannot be read") from None

    def bound(self, bounds: Bounds) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            # A rest that began when the crawl was resumed stays.
            self._bound("hosts", "free_at", bounds, bounds.longest, "min(free_at, :now + rest)")
            self._bound("robots", "until", bounds, min(bounds.longest, bounds.rules_last))
            for which in (APART, f"NOT {APART}"):
                self._bound("links", "again_at", bounds, bounds.longest, where=f"state = 1 AND {which}")
            died = f"UPDATE links SET again_at = ? WHERE state = 1 AND {APART} AND because = ?"
            self._db.execute(died, (bounds.died_until, DIED))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._not_written(error) from error

    def _bound(
        self, table: str, time: str, bounds: Bounds, longest: float, least: str = ":now", where: str = "TRUE"
    ) -> None:
        """Unless the clock was set back, only times that are too far away change."""
        until = bounds.now + longest
        asked = {
            "now": bounds.now,
            "ahead": bounds.ahead,
            "until": until,
            "from": bounds.now if bounds.ahead else until,
        }
        bounded = f"max(min(max({time} - :ahead, :now), :until), {least})"
        self._db.execute(f"UPDATE {table} SET {time} = {bounded} WHERE {where} AND {time} > :from", asked)

    def counters(self) -> Counters:
        stored = dict(self._all("SELECT name, value FROM counters"))
        by_state = {state: stored.get(state.name.lower(), 0) for state in State}
        return Counters(stored.get("arrivals", 0), stored.get("visits", 0), stored.get("excused", 0), by_state)

    def commit(self, counters: Counters) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._write_hosts()
            self._write_robots()
            self._write_links([entry for changed in self._changed.values() for entry in changed.values()])
            self._evidence_names.write(self._db)
            self._write_counters(counters)
            for writer in self._along:
                writer(self._db)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._not_written(error) from error
        self._committed = self._last_row
        for host in self._changed.keys() & self._ahead.keys():
            self._ahead[host].committed()
        self._changed.clear()
        self._changed_on_page.clear()
        self._changed_hosts.clear()
        self._known_robots |= {url: file for url, (file, _) in self._changed_robots.items()}
        self._changed_robots.clear()
        self._known_robots = _last(ROBOTS_AT_HAND, self._known_robots)
        self._host_ids = _last(NAMES, self._host_ids)
        self._recent = _last(RECENT, self._recent)
        self._ahead = _last(HOSTS_AHEAD, self._ahead)

    def _not_written(self, error: sqlite3.Error) -> BrokenStorage:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        remedy = "what was committed is safe: make room and run the same command again"
        return BrokenStorage(f"cannot write {self._path}: {error}; {remedy}")

    def _write_counters(self, counters: Counters) -> None:
        values = {"arrivals": counters.arrivals, "visits": counters.visits, "excused": counters.excused}
        values |= {state.name.lower(): count for state, count in counters.by_state.items()}
        self._db.executemany("INSERT OR REPLACE INTO counters VALUES (?, ?)", values.items())

    def _read(self, urls: Sequence[str]) -> dict[str, Entry]:
        """Those of the URLs that are in the file, asked for in as few queries as SQLite allows."""
        found: dict[str, Entry] = {}
        hosts = [host_of(url) for url in urls]
        self._ask_ids(set(hosts))
        named = zip(urls, hosts, strict=True)
        places = [(host, url_hash(url)) for url, name in named if (host := self._host_ids[name]) is not None]
        for start in range(0, len(places), PLACES_PER_QUERY):
            asked = places[start : start + PLACES_PER_QUERY]
            values = ", ".join(["(?, ?)"] * len(asked))
            query = f"WITH asked (h, x) AS (VALUES {values}) SELECT id, {COLUMNS} FROM asked CROSS JOIN links"
            query += " ON host = h AND hash = x"
            rows = self._all(query, [part for place in asked for part in place])
            found |= {row[URL]: self._entry(row) for row in rows}
        return found

    def _write_links(self, entries: list[Entry]) -> None:
        added, stayed, moved, changed = [], [], [], []
        for entry in entries:
            place = entry.state, entry.arrival
            if entry.filed is None:
                added.append(self._row(entry))
            elif entry.filed == place:
                stayed.append((*self._known(entry), entry.row))
            elif entry.filed[0] is entry.state:
                moved.append((*_key_columns(entry.key), entry.arrival, *self._known(entry), entry.row))
            else:
                changed.append((*_place(entry), *self._known(entry), entry.row))
            entry.filed = place
        self._db.executemany(f"UPDATE links SET {KNOWN} WHERE id = ?", stayed)
        self._db.executemany(f"UPDATE links SET {KEY}, {KNOWN} WHERE id = ?", moved)
        self._db.executemany(f"UPDATE links SET state = ?, {KEY}, {KNOWN} WHERE id = ?", changed)
        self._db.executemany(INSERT, added)

    def _is_new(self, entry: Entry) -> bool:
        assert entry.row is not None
        return bool(entry.row > self._committed)

    def _row(self, entry: Entry) -> tuple[Any, ...]:
        evidence, trail, *rest = self._known(entry)
        identity = (entry.row, self._host_id(entry.host), url_hash(entry.url), entry.url)
        return (*identity, *_place(entry), evidence, trail, entry.depth, entry.found_on, entry.redirects, *rest)

    def _known(self, entry: Entry) -> tuple[Any, ...]:
        return (
            self._evidence_names.pack(entry.evidence),
            None if entry.trail is None else _dumped_trail(entry.trail),
            entry.tries,
            entry.again_at,
            entry.because,
            entry.hints or None,
        )

    def _host_id(self, name: str) -> int:
        number = self._id_of(name)
        if number is None:
            self._last_host += 1
            number = self._host_ids[name] = self._last_host
        return number

    def _write_hosts(self) -> None:
        self._ask_ids(set(self._changed_hosts))
        rows = [
            (self._host_id(h.name), h.name, h.rest, h.free_at, h.address, None if h.order is None else packed(h.order))
            for h in self._changed_hosts.values()
        ]
        changing = ", ".join(f"{name} = excluded.{name}" for name in HOST.split(", ")[2:])
        self._db.executemany(
            f"INSERT INTO hosts ({HOST}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET {changing}", rows
        )

    def _write_robots(self) -> None:
        rows = [(*astuple(file), deflated(text)) for file, text in self._changed_robots.values()]
        changed = ", ".join(f"{name} = excluded.{name}" for name in ROBOTS.split(", ")[1:])
        self._db.executemany(
            f"INSERT INTO robots ({ROBOTS}, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
            f"ON CONFLICT (url) DO UPDATE SET {changed}, text = excluded.text",
            rows,
        )

    def _at_hand(self, row: tuple[Any, ...]) -> Entry:
        """Likely to be asked for by its URL soon."""
        entry = self._recent.get(row[URL])
        if entry is None:
            entry = self._recent[row[URL]] = self._entry(row)
        return entry

    def _all(self, query: str, asked: Sequence[object] = ()) -> list[Any]:
        try:
            return self._db.execute(query, asked).fetchall()
        except UNREADABLE as error:
            raise self._damaged(str(error)) from None

    def _first_rows(self, most: int, query: str, asked: Sequence[object], fits: Callable[[Any], bool]) -> list[Any]:
        """Where there may be more rows than are needed. The cursor is closed here, not as garbage: SQLite cannot empty
        its log while somebody reads, and a cursor belongs to the thread that made it."""
        try:
            with closing(self._db.execute(query, asked)) as rows:
                return list(islice(filter(fits, rows), most))
        except UNREADABLE as error:
            raise self._damaged(str(error)) from None

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        try:
            name = host_of(row[URL])
            if self._id_of(name) != row[1]:
                raise ValueError(f"a link of another host than {name}")
            return _entry(row, name, self._evidence_names)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._damaged(f"row {row[0]} of links holds what no crawl wrote") from None

    def _damaged(self, what: str) -> BadInput:
        remedy = f"`spoor check {self._path.parent}` says what is wrong, and with --repair keeps all that can be read"
        return BadInput(f"{self._path} is damaged: {what}; {remedy}")


def _last(count: int, things: dict[str, Thing]) -> dict[str, Thing]:
    """The last `count`, once there are twice as many."""
    return things if len(things) <= 2 * count else dict(islice(things.items(), len(things) - count, None))


def stored_entry(db: sqlite3.Connection, url: str) -> Entry | None:
    """A link as it stands in a file that somebody else may be writing; None: it never waited."""
    place = "host = (SELECT id FROM hosts WHERE name = ?) AND hash = ? AND url = ?"
    query = f"SELECT id, {COLUMNS} FROM links WHERE {place}"
    row = db.execute(query, (host_of(url), url_hash(url), url)).fetchone()
    return None if row is None else _entry(row, host_of(url), EvidenceNames.of(db))


def stored_robots(db: sqlite3.Connection, url: str) -> RobotsFile | None:
    """What is known of a robots.txt, by its own URL."""
    row = db.execute(f"SELECT {ROBOTS} FROM robots WHERE url = ?", (url,)).fetchone()
    return None if row is None else _robots_file(row)


def stored_robots_text(db: sqlite3.Connection, url: str) -> str:
    row = db.execute("SELECT text FROM robots WHERE url = ?", (url,)).fetchone()
    return "" if row is None else inflated(row[0])


def deflated(text: str) -> bytes:
    """As the text of a robots.txt is kept; nothing for none."""
    return zlib.compress(text.encode("utf8", "replace")) if text else b""


def inflated(kept: bytes | str) -> str:
    """The beginning, if somebody else wrote more than any crawl does. Folders of version 3 hold the text itself."""
    if isinstance(kept, str) or not kept:
        return str(kept or "")
    return zlib.decompressobj().decompress(kept, LONGEST_TEXT).decode("utf8", "replace")


def _robots_file(row: tuple[Any, ...]) -> RobotsFile:
    url, until, delay, leads_to, failed, may_heal, tries = row
    return RobotsFile(url, until, delay, leads_to, failed, bool(may_heal), tries)


def _order(row: tuple[Any, ...]) -> Order:
    key1, key2, key3, arrival = row[5:9]
    return tuple([-part for part in _key(key1, key2, key3)]), arrival


def _key(key1: float, key2: float | None, key3: float | None) -> Key:
    return (key1,) if key2 is None else (key1, key2) if key3 is None else (key1, key2, key3)


def _entry(row: tuple[Any, ...], host: str, names: EvidenceNames) -> Entry:
    number, _, _, url, state, key1, key2, key3, arrival, evidence, trail, depth, found_on, *rest = row
    return Entry(
        url=url,
        host=host,
        key=_key(key1, key2, key3),
        arrival=arrival,
        evidence=names.unpack(evidence),
        trail=None if trail is None else _trail(trail),
        depth=depth,
        found_on=found_on,
        redirects=rest[0],
        state=_STATES[state],
        tries=rest[1],
        again_at=rest[2],
        because=rest[3],
        hints=rest[4] or b"",
        row=number,
        filed=(_STATES[state], arrival),
    )


_STATES = {int(state): state for state in State}


def _place(entry: Entry) -> tuple[Any, ...]:
    return int(entry.state), *_key_columns(entry.key), entry.arrival


def _key_columns(key: Key) -> tuple[float | None, ...]:
    if len(key) > KEY_PARTS:
        raise BrokenContract(f"a key has at most {KEY_PARTS} parts, not {len(key)}: {key}")
    return (*key, *[None] * (KEY_PARTS - len(key)))


@lru_cache(STATEMENTS)
def _dumped_trail(trail: TrailState) -> str:
    """The links of a page share one."""
    return json.dumps(trail)


@lru_cache(STATEMENTS)
def _trail(text: str) -> TrailState:
    return trail_of(json.loads(text))


def trail_of(state: TrailState) -> TrailState:
    """As JSON gave it. JSON knows no tuples; trail states know no lists."""
    return tuple(trail_of(part) for part in state) if isinstance(state, list) else state


def url_hash(url: str) -> int:
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)
