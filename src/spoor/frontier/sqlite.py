"""A store in one SQLite file: durable at every commit, with constant memory use however many links wait."""

from __future__ import annotations

import heapq
import math
import sqlite3
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import astuple
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from spoor.errors import BadInput, NotWritten
from spoor.frontier.entry import Entry, Host, Order, State, packed, unpacked
from spoor.frontier.evidence import NAMES_SCHEMA, EvidenceNames
from spoor.frontier.queues import ALL_READ, NOTHING_READ, ReadAhead
from spoor.frontier.rows import (
    APART,
    BEST,
    CHANGED,
    COLUMNS,
    FOUND_ON,
    HOST,
    IN_TURN,
    INSERT,
    MOVED,
    PARKED,
    ROBOTS,
    ROBOTS_OF_URLS,
    SCHEMA,
    STAYED,
    UNREADABLE,
    URL,
    VALIDATORS,
    WRITE_HOST,
    WRITE_ROBOTS,
    bound_times,
    counters_of,
    deflated,
    entry_of,
    key_columns,
    key_of,
    known_columns,
    order_of,
    place_columns,
    robots_of,
    row_of,
    stored_robots_text,
    url_hash,
    write_counters,
)
from spoor.frontier.store import ALL_MOMENTS, OF_PAGE, Bounds, Counters, Moment
from spoor.records import Key
from spoor.robots import RobotsFile
from spoor.storage_errors import is_of_surroundings, not_written
from spoor.urls import host_of

CACHE_KIB = 32 * 1024
"""Reads from the file system cache are cheap: with 10 MiB instead of 40, a frontier of 133 MB took 1.4 % more processor
time, and 22 reads per page of 40 links instead of 6."""
STATEMENTS = 512
PLACES_PER_QUERY = 400
RECENT = 20_000
"""Cached entries; the cache may grow to twice this number. 1.3 kB each, including the data of `learned`."""
HOSTS_AHEAD = 500
"""Number of hosts whose first links stay in memory."""
AT_HAND = 10_000
"""Number of hosts in memory, those with the best links; may grow to twice this number. Half a kilobyte each, 2 kB with
the best link. A crawl sends requests to some thousands within one host delay."""
NAMES = 20_000
"""Cached ids of hosts; the cache may grow to twice this number. 5 MB."""
ROBOTS_AT_HAND = 20_000
"""Cached expiry times of robots.txt files; the cache may grow to twice this number. 15 MB. Their rules are cached
elsewhere."""
PAGES_PER_CHECKPOINT = 12 * 1024
"""The write-ahead log may grow to 48 MiB before a checkpoint, so that pages that change often are written back once. A
larger checkpoint would block the event loop for too long."""

NOTHING: dict[str, Entry] = {}
Thing = TypeVar("Thing")

Writer = Callable[[sqlite3.Connection], None]
"""Writes rows of its own inside a transaction of the caller."""


class SqliteStore:
    """Changes since the last commit are in `_changed`, by host and URL, and are written all at once: between two
    commits the file has the state of the last one, whatever happens to the process. `_recent` caches current entries,
    those of `_changed` and those found last, because the pages of a site keep linking to the same URLs. `_ahead` has
    the first waiting links of the hosts used last. `_host_ids` caches ids of hosts, None if the host is not in the
    file; `_known_robots` caches robots.txt rows of the file."""

    def __init__(self, path: Path, at_hand: int = AT_HAND) -> None:
        self._path = path
        self._hosts_at_hand = at_hand
        self._along: list[Writer] = []
        self._changed: defaultdict[str, dict[str, Entry]] = defaultdict(dict)
        self._changed_on_page: defaultdict[str, dict[str, Entry]] = defaultdict(dict)
        self._recent: dict[str, Entry] = {}
        self._ahead: dict[str, ReadAhead] = {}
        self._changed_hosts: dict[str, Host] = {}
        self._changed_robots: dict[str, tuple[RobotsFile, str]] = {}
        self._known_robots: dict[str, RobotsFile | None] = {}
        self._host_ids: dict[str, int | None] = {}
        self._resumed_at = -math.inf
        self._delay_ends: list[float] = []
        try:
            with ExitStack() as opened:
                db = sqlite3.connect(path, isolation_level=None, cached_statements=STATEMENTS)
                self._db = opened.enter_context(closing(db))
                self._prepare()
                opened.pop_all()
        except UNREADABLE as error:
            if isinstance(error, sqlite3.Error) and is_of_surroundings(error):
                raise not_written(path, error) from None
            raise BadInput(f"cannot use {path} as a frontier: {error}") from None

    def _prepare(self) -> None:
        # The file may be untrusted: its schema must not call functions, and cells are checked before use.
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
        """Discards uncommitted changes."""
        self._db.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """For other parts that store data in the same file; they write only through `write_along`."""
        return self._db

    def write_along(self, writer: Writer) -> None:
        """From now on, calls `writer` in the transaction of every commit."""
        self._along.append(writer)

    @property
    def at_hand(self) -> int:
        return self._hosts_at_hand

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        at_hand = list(map(self._recent.get, urls))
        if all(at_hand):
            return at_hand
        stored = self._read([url for url, entry in zip(urls, at_hand, strict=True) if entry is None])
        self._recent |= stored
        return [entry or stored.get(url) for url, entry in zip(urls, at_hand, strict=True)]

    def save(self, entry: Entry) -> None:
        if entry.row is None:
            self._last_row += 1
            entry.row = self._last_row
        url, host = entry.url, entry.host
        self._changed[host][url] = self._changed_on_page[entry.found_on][url] = self._recent[url] = entry
        if (ahead := self._ahead.get(host)) is not None:
            ahead.put(entry)

    def best(self, host: str) -> Entry | None:
        first = self._first(host)
        return None if first is None else self._ahead[host].entry(first[1])

    def first_place(self, host: str) -> Order | None:
        first = self._first(host)
        return None if first is None else first[0]

    def _first(self, host: str) -> tuple[Order, str] | None:
        ahead = self._ahead.pop(host, None) or ReadAhead(self._changed.get(host, NOTHING).values())
        self._ahead[host] = ahead  # Moves it to the end: those used last are kept.
        while (first := ahead.first()) is None and ahead.read_to != ALL_READ:
            self._read_on(host, ahead)
        return first

    def _read_on(self, host: str, ahead: ReadAhead) -> None:
        asked, changed = ahead.rows_to_read(), self._changed.get(host, NOTHING)
        rows = self._all(BEST, (self._id_of(host), asked))
        for row in rows:
            if row[URL] not in changed and row[URL] not in ahead:
                ahead.read(row[URL], order_of(row), partial(self._at_hand, row))
        ahead.read_to = order_of(rows[-1]) if len(rows) == asked else ALL_READ

    def links_found_on(self, url: str, most: int) -> list[Entry]:
        changed = self._changed_on_page.get(url, NOTHING)
        waiting = self._first_rows(OF_PAGE, FOUND_ON, (url,), lambda row: row[2] not in changed)
        waiting += [(entry.row, entry.arrival, entry.url) for entry in changed.values() if entry.state is State.WAITING]
        oldest = heapq.nsmallest(most, heapq.nsmallest(OF_PAGE, waiting), key=itemgetter(1))
        return [entry for entry in self.find([found for _, _, found in oldest]) if entry is not None]

    def some(self, turn: int, count: int) -> list[Entry]:
        after = turn * count % max(1, self._committed)
        changed = {e.row: e for entries in self._changed.values() for e in entries.values()}
        rows = self._first_rows(count, IN_TURN, (after,), lambda row: row[0] not in changed)
        waiting = {row[0]: self._at_hand(row) for row in rows}
        old = (row for row in changed if row is not None and after < row <= self._committed)
        waiting |= {row: changed[row] for row in old if changed[row].state is State.WAITING}
        return [waiting[row] for row in heapq.nsmallest(count, waiting)]

    def waiting_keys(self) -> Iterator[tuple[Key, int]]:
        query = "SELECT key1, key2, key3, count(*) FROM links WHERE state = 0 GROUP BY key1, key2, key3"
        return ((key_of(*key), count) for *key, count in self._all(query))

    def in_state(self, state: State) -> Iterator[Entry]:
        # With a literal, SQLite can use the partial index for this state.
        query = f"SELECT id, {COLUMNS} FROM links WHERE state = {int(state)} ORDER BY arrival"
        return map(self._entry, self._all(query))

    def parked(self, host: str, because: str, after: int, most: int) -> tuple[list[Entry], int | None]:
        rows = self._all(PARKED, (self._id_of(host), after, because, most))
        found = [entry for entry in map(self._at_hand, rows) if entry.because == because]
        return [entry for entry in found if entry.state is State.PARKED], rows[-1][2] if len(rows) == most else None

    def host_names(self) -> Iterator[str]:
        return (name for (name,) in self._all("SELECT name FROM hosts"))

    def returning(self, after: Moment, postponed: bool, most: int) -> tuple[list[tuple[float, int, str]], Moment]:
        which = f"NOT {APART}" if postponed else APART
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
        is_over = ""
        if self.next_delay_end(now) is not None:
            is_over = "AND (id >= ? OR ? + delay <= ?)"
            asked = (after, self._oldest_new_host, self._resumed_at, now)
        query = f"SELECT {HOST} FROM hosts WHERE head > ? {is_over} ORDER BY head LIMIT ?"
        rows = self._all(query, (*asked, most))
        last = self._host(rows[-1]).order if len(rows) == most else None
        return [self._host(row) for row in rows if row[1] not in known], ALL_READ if last is None else last

    def resume(self, at: float) -> None:
        self._resumed_at = at
        self._delay_ends = sorted(at + delay for (delay,) in self._all("SELECT DISTINCT delay FROM hosts"))

    def next_delay_end(self, now: float) -> float | None:
        return next(iter(self._delay_ends[bisect_right(self._delay_ends, now) :]), None)

    def _host(self, row: tuple[Any, ...]) -> Host:
        try:
            number, name, delay, free_at, address, head = row
            self._host_ids[name] = number
            if number < self._oldest_new_host:
                free_at = max(free_at, self._resumed_at + delay)
            return Host(name, delay, free_at, address, order=None if head is None else unpacked(head))
        except (ValueError, TypeError):
            raise self._damaged(f"row {row[0]} of hosts has invalid values") from None

    def _id_of(self, name: str) -> int | None:
        if name not in self._host_ids:
            self._ask_ids({name})
        return self._host_ids[name]

    def _ask_ids(self, names: set[str]) -> None:
        """Loads the ids of these hosts into the cache."""
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
        if url not in self._known_robots:
            query = f"SELECT {ROBOTS}, {VALIDATORS} FROM robots WHERE url = ? AND {ROBOTS_OF_URLS}"
            rows = self._all(query, (url,))
            self._known_robots[url] = robots_of(rows[0]) if rows else None
        return self._known_robots[url]

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
            bound_times(self._db, bounds)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._not_written(error) from error

    def counters(self) -> Counters:
        return counters_of(self._all("SELECT name, value FROM counters"))

    def commit(self, counters: Counters) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._write_hosts()
            self._write_robots()
            self._write_links([entry for changed in self._changed.values() for entry in changed.values()])
            self._evidence_names.write(self._db)
            write_counters(self._db, counters)
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

    def _not_written(self, error: sqlite3.Error) -> NotWritten:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        return not_written(self._path, error)

    def _read(self, urls: Sequence[str]) -> dict[str, Entry]:
        """The URLs that are in the file, in as few queries as SQLite allows."""
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
        names = self._evidence_names
        added, stayed, moved, changed = [], [], [], []
        for entry in entries:
            place = entry.state, entry.arrival
            if entry.filed is None:
                added.append(row_of(entry, self._host_id(entry.host), names))
            elif entry.filed == place:
                stayed.append((*known_columns(entry, names), entry.row))
            elif entry.filed[0] is entry.state:
                moved.append((*key_columns(entry.key), entry.arrival, *known_columns(entry, names), entry.row))
            else:
                changed.append((*place_columns(entry), *known_columns(entry, names), entry.row))
            entry.filed = place
        self._db.executemany(STAYED, stayed)
        self._db.executemany(MOVED, moved)
        self._db.executemany(CHANGED, changed)
        self._db.executemany(INSERT, added)

    def _host_id(self, name: str) -> int:
        number = self._id_of(name)
        if number is None:
            self._last_host += 1
            number = self._host_ids[name] = self._last_host
        return number

    def _write_hosts(self) -> None:
        self._ask_ids(set(self._changed_hosts))
        rows = [
            (self._host_id(h.name), h.name, h.delay, h.free_at, h.address, None if h.order is None else packed(h.order))
            for h in self._changed_hosts.values()
        ]
        self._db.executemany(WRITE_HOST, rows)

    def _write_robots(self) -> None:
        rows = [(*astuple(file), deflated(text)) for file, text in self._changed_robots.values()]
        self._db.executemany(WRITE_ROBOTS, rows)

    def _at_hand(self, row: tuple[Any, ...]) -> Entry:
        """The cached entry of the row; it is likely to be looked up by URL soon."""
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
        """For queries with more rows than needed. The cursor is closed here, not by the garbage collector: an open
        reader keeps SQLite from resetting its log, and a cursor belongs to the thread that created it."""
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
            return entry_of(row, name, self._evidence_names)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._damaged(f"row {row[0]} of links has invalid values") from None

    def _damaged(self, what: str) -> BadInput:
        remedy = f"`spoor check {self._path.parent}` says what is wrong, and with --repair saves everything readable"
        return BadInput(f"{self._path} is damaged: {what}; {remedy}")


def _last(count: int, things: dict[str, Thing]) -> dict[str, Thing]:
    """The last `count` items, once there are more than twice as many."""
    return things if len(things) <= 2 * count else dict(islice(things.items(), len(things) - count, None))
