"""The SQLite tables of a frontier, the statements on them, and conversion from and to rows."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from spoor.errors import BrokenContract
from spoor.frontier.entry import DIED, KEY_PARTS, TROUBLE, Entry, Order, State, order_at
from spoor.frontier.evidence import EvidenceNames
from spoor.frontier.store import Bounds, Counters
from spoor.records import Key, TrailState
from spoor.robots import LONGEST_FILE, RobotsFile
from spoor.urls import host_of

LONGEST_TEXT = 4 * LONGEST_FILE
"""Maximum size of a robots.txt in UTF-8, in bytes, whatever its encoding was."""
TRAILS = 512
"""Number of cached trails in serialised form: the links of a page share one."""

APART = f"(because = '' OR (because >= '{TROUBLE}' AND because < '{TROUBLE[:-1]}!'))"
"""SQL condition on a returning link: it was not postponed."""
# Rows are appended as links arrive. The first two indexes begin with the host, because most links of a page lead to its
# own host: offering a page then touches a few leaves of each index instead of one per link. `links_in_turn` has the
# waiting rows by number: without it, cycling through them would scan all rows that no longer wait. `hosts_in_order` has
# the hosts with waiting links, by the position of their first link.
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, delay REAL NOT NULL, free_at REAL NOT NULL,
    address TEXT NOT NULL, head BLOB
);
CREATE INDEX IF NOT EXISTS hosts_in_order ON hosts (head) WHERE head IS NOT NULL;
CREATE TABLE IF NOT EXISTS robots (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, until REAL NOT NULL, delay REAL NOT NULL, leads_to TEXT NOT NULL,
    failed TEXT NOT NULL, may_heal INTEGER NOT NULL, tries INTEGER NOT NULL, text BLOB NOT NULL,
    etag TEXT NOT NULL DEFAULT '', modified TEXT NOT NULL DEFAULT ''
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
DROP INDEX IF EXISTS links_found_on;
CREATE INDEX IF NOT EXISTS links_of_page ON links (found_on) WHERE state = 0;
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
    "links_of_page",
    "links_in_turn",
    "links_in_transit",
    "returning_links",
    "put_off_links",
)
"""Indexes used only by a running crawl. Opening a store creates them if they are missing."""
COLUMNS = (
    "host, hash, url, state, key1, key2, key3, arrival, evidence, trail, depth, found_on, redirects, "
    "tries, again_at, because, hints"
)
HOST = "id, name, delay, free_at, address, head"
ROBOTS = "url, until, delay, leads_to, failed, may_heal, tries"
VALIDATORS = "etag, modified"
"""Further columns of a robots.txt. Folders of versions 3 and 4 do not have them."""
ROBOTS_OF_URLS = "url LIKE 'http%://_%/%' AND (leads_to = '' OR leads_to LIKE 'http%://_%/%')"
"""Other rows were not written by spoor; such a file is fetched again."""
URL = 3
"""The index of the URL in a row that begins with the id."""

BEST = (
    f"SELECT id, {COLUMNS} FROM links WHERE host = ? AND state = 0 "
    "ORDER BY key1 DESC, key2 DESC, key3 DESC, arrival LIMIT ?"
)
FIRST_PLACE = (
    "SELECT place(key1, key2, key3, arrival) FROM links WHERE host = hosts.id AND state = 0 "
    "ORDER BY key1 DESC, key2 DESC, key3 DESC, arrival LIMIT 1"
)
"""For a host; `place` is `place_of_row`."""
FOUND_ON = "SELECT id, arrival, url FROM links WHERE found_on = ? AND state = 0 ORDER BY id"
"""Without the arrival in the index: it changes with every move of a link."""
IN_TURN = f"SELECT id, {COLUMNS} FROM links INDEXED BY links_in_turn WHERE id > ? AND state = 0 ORDER BY id"

PARKED = (
    f"SELECT id, {COLUMNS} FROM links INDEXED BY links_by_url "
    "WHERE host = ? AND hash > ? AND state = 2 AND because = ? ORDER BY hash LIMIT ?"
)

INSERT = f"INSERT INTO links (id, {COLUMNS}) VALUES ({', '.join('?' * 18)})"
_KNOWN = "evidence = ?, trail = ?, tries = ?, again_at = ?, because = ?, hints = ?"
_KEY = "key1 = ?, key2 = ?, key3 = ?, arrival = ?"
STAYED = f"UPDATE links SET {_KNOWN} WHERE id = ?"
MOVED = f"UPDATE links SET {_KEY}, {_KNOWN} WHERE id = ?"
CHANGED = f"UPDATE links SET state = ?, {_KEY}, {_KNOWN} WHERE id = ?"
"""For a link whose position is unchanged, has changed, or whose state has changed. SQLite writes an index whenever a
statement names one of its columns, even if the value is the same; so unchanged columns are not named."""
WRITE_HOST = (
    f"INSERT INTO hosts ({HOST}) VALUES (?, ?, ?, ?, ?, ?) "
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in HOST.split(', ')[2:])}"
)
_WRITTEN_ROBOTS = f"{ROBOTS}, {VALIDATORS}, text"
WRITE_ROBOTS = (
    f"INSERT INTO robots ({_WRITTEN_ROBOTS}) VALUES ({', '.join('?' * 10)}) ON CONFLICT (url) DO UPDATE SET "
    f"{', '.join(f'{name} = excluded.{name}' for name in _WRITTEN_ROBOTS.split(', ')[1:])}"
)

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""Exceptions when reading a damaged file; the second if the message itself contains damaged bytes."""


def stored_entry(db: sqlite3.Connection, url: str) -> Entry | None:
    """A link in a file that another process may be writing; None if it was never queued."""
    place = "host = (SELECT id FROM hosts WHERE name = ?) AND hash = ? AND url = ?"
    query = f"SELECT id, {COLUMNS} FROM links WHERE {place}"
    row = db.execute(query, (host_of(url), url_hash(url), url)).fetchone()
    return None if row is None else entry_of(row, host_of(url), EvidenceNames.of(db))


def stored_robots(db: sqlite3.Connection, url: str) -> RobotsFile | None:
    """A robots.txt, by its own URL."""
    row = db.execute(f"SELECT {ROBOTS} FROM robots WHERE url = ?", (url,)).fetchone()
    return None if row is None else robots_of(row)


def stored_robots_text(db: sqlite3.Connection, url: str) -> str:
    row = db.execute("SELECT text FROM robots WHERE url = ?", (url,)).fetchone()
    return "" if row is None else inflated(row[0])


def deflated(text: str) -> bytes:
    """The stored form of the text of a robots.txt; empty if there is none."""
    return zlib.compress(text.encode("utf8", "replace")) if text else b""


def inflated(kept: bytes | str) -> str:
    """Truncated if it is longer than any crawl writes. Folders of version 3 contain the plain text."""
    if isinstance(kept, str) or not kept:
        return str(kept or "")
    return zlib.decompressobj().decompress(kept, LONGEST_TEXT).decode("utf8", "replace")


def robots_of(row: tuple[Any, ...]) -> RobotsFile:
    """With or without the columns of `VALIDATORS`."""
    url, until, delay, leads_to, failed, may_heal, tries, *validators = row
    return RobotsFile(url, until, delay, leads_to, failed, bool(may_heal), tries, *map(str, validators))


def order_of(row: tuple[Any, ...]) -> Order:
    key1, key2, key3, arrival = row[5:9]
    return order_at(key_of(key1, key2, key3), arrival)


def key_of(key1: float, key2: float | None, key3: float | None) -> Key:
    return (key1,) if key2 is None else (key1, key2) if key3 is None else (key1, key2, key3)


def entry_of(row: tuple[Any, ...], host: str, names: EvidenceNames) -> Entry:
    number, _, _, url, state, key1, key2, key3, arrival, evidence, trail, depth, found_on, *rest = row
    return Entry(
        url=url,
        host=host,
        key=key_of(key1, key2, key3),
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


def row_of(entry: Entry, host: int, names: EvidenceNames) -> tuple[Any, ...]:
    """As `INSERT` takes it; `host` is the id of its host."""
    evidence, trail, *rest = known_columns(entry, names)
    identity = (entry.row, host, url_hash(entry.url), entry.url)
    return (*identity, *place_columns(entry), evidence, trail, entry.depth, entry.found_on, entry.redirects, *rest)


def known_columns(entry: Entry, names: EvidenceNames) -> tuple[Any, ...]:
    """The columns that may change while the position stays the same."""
    return (
        names.pack(entry.evidence),
        None if entry.trail is None else _dumped_trail(entry.trail),
        entry.tries,
        entry.again_at,
        entry.because,
        entry.hints or None,
    )


def place_columns(entry: Entry) -> tuple[Any, ...]:
    return int(entry.state), *key_columns(entry.key), entry.arrival


def key_columns(key: Key) -> tuple[float | None, ...]:
    if len(key) == KEY_PARTS:
        return key
    if len(key) > KEY_PARTS:
        raise BrokenContract(f"a key has at most {KEY_PARTS} parts, not {len(key)}: {key}")
    return (*key, *[None] * (KEY_PARTS - len(key)))


def counters_of(rows: Iterable[tuple[str, int]]) -> Counters:
    stored = dict(rows)
    by_state = {state: stored.get(state.name.lower(), 0) for state in State}
    return Counters(stored.get("arrivals", 0), stored.get("visits", 0), stored.get("excused", 0), by_state)


def write_counters(db: sqlite3.Connection, counters: Counters) -> None:
    values = {"arrivals": counters.arrivals, "visits": counters.visits, "excused": counters.excused}
    values |= {state.name.lower(): count for state, count in counters.by_state.items()}
    db.executemany("INSERT OR REPLACE INTO counters VALUES (?, ?)", values.items())


def bound_times(db: sqlite3.Connection, bounds: Bounds) -> None:
    """Bounds all times in the future, inside a transaction of the caller."""
    # A delay that began when the crawl was resumed is kept.
    _bound(db, "hosts", "free_at", bounds, bounds.longest, "min(free_at, :now + delay)")
    _bound(db, "robots", "until", bounds, min(bounds.longest, bounds.rules_last))
    for which in (APART, f"NOT {APART}"):
        _bound(db, "links", "again_at", bounds, bounds.longest, where=f"state = 1 AND {which}")
    died = f"UPDATE links SET again_at = ? WHERE state = 1 AND {APART} AND because = ?"
    db.execute(died, (bounds.died_until, DIED))


def _bound(
    db: sqlite3.Connection,
    table: str,
    time: str,
    bounds: Bounds,
    longest: float,
    least: str = ":now",
    where: str = "TRUE",
) -> None:
    """Unless the clock was set back, changes only times that are too far in the future."""
    until = bounds.now + longest
    asked = {"now": bounds.now, "ahead": bounds.ahead, "until": until, "from": bounds.now if bounds.ahead else until}
    bounded = f"max(min(max({time} - :ahead, :now), :until), {least})"
    db.execute(f"UPDATE {table} SET {time} = {bounded} WHERE {where} AND {time} > :from", asked)


@lru_cache(TRAILS)
def _dumped_trail(trail: TrailState) -> str:
    return json.dumps(trail)


@lru_cache(TRAILS)
def _trail(text: str) -> TrailState:
    return trail_of(json.loads(text))


def trail_of(state: TrailState) -> TrailState:
    """From JSON, which has lists instead of tuples; trail states contain no lists."""
    return tuple(trail_of(part) for part in state) if isinstance(state, list) else state


def url_hash(url: str) -> int:
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)
