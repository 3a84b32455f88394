"""Rebuilds a damaged database from everything that is readable; the original is kept.

Rows are read from the pages of the file directly, not through SQLite, which loses everything behind a damaged page.
Derived data are computed again: counters, totals, bands of fingerprints, hosts of links, links of fetched pages.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from spoor.events import Result
from spoor.frontier.entry import Entry, Host, State
from spoor.frontier.evidence import names_in
from spoor.frontier.rows import url_hash
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import Counters
from spoor.records import SOONEST
from spoor.store.database_check import (
    LATEST,
    UNSETTLED,
    host_in,
    is_deflated,
    is_json,
    least_counters,
    tell_evidence,
    tell_functions,
)
from spoor.store.duplicates import write_bands
from spoor.store.sqlite_files import Row, Value, overlay, rows, write_sums
from spoor.store.tables import ROWS, TableShape, create_tables, shapes, write_heads
from spoor.store.totals import add_totals, recounted
from spoor.store.warc_repair import ASIDE
from spoor.urls import host_of

_WORKED_OUT = ("counters", "bands", "totals")
_STATES = frozenset(map(int, State))
_REST = 1.0
"""Host delay in seconds, until the rules of the host are known again."""
_SANE_TIMES = ", ".join(
    f"{one} = CASE WHEN {one} BETWEEN 0 AND {LATEST} THEN {one} WHEN {other} BETWEEN 0 AND {LATEST} THEN {other} "
    "ELSE 0.0 END"
    for one, other in (("started", "ended"), ("ended", "started"))
)


def rebuild(database: Path) -> str | None:
    """Returns a description of what was recovered; None if nothing is readable, and the file is unchanged. No other
    process may have the database open."""
    folder = database.parent / ASIDE
    folder.mkdir(exist_ok=True)
    source, made = folder / ".source.partial", folder / ".rebuilt.partial"
    _remove(source, made)
    try:
        _copy(database, source)
        kept = _write(source, made)
        if kept["links"] + kept["pages"] == 0:
            return None
        aside = _set_aside(database, folder)
        with made.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(made, database)
        write_sums(database)
        counts = ", ".join(f"{number:,} {table}" for table, number in kept.items() if number)
        return f"was rebuilt from everything readable, {counts}; the original is {ASIDE}/{aside.name}"
    finally:
        _remove(source, made)


def _remove(*databases: Path) -> None:
    for database in databases:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{database}{suffix}").unlink(missing_ok=True)


def _copy(database: Path, source: Path) -> None:
    """Copies the database and applies its WAL."""
    shutil.copyfile(database, source)
    log = Path(f"{database}-wal")
    if log.exists():
        overlay(source, log)


def _write(source: Path, made: Path) -> dict[str, int]:
    """Returns the number of rows of each table in the new database."""
    with _opened(made) as store:
        create_tables(store.connection)
        counters = _take_over(source, store.connection)
        _number_hosts(store.connection)
    # Reopened, so that the store loads rows that it did not write itself.
    with _opened(made) as store:
        _add_hosts(store)
    with _opened(made) as store:
        _add_links(store)
        _complete(store.connection)
        add_totals(store.connection, recounted(store.connection))
        store.commit(_counted(store.connection, counters))
        names = [name for name in shapes() if name not in _WORKED_OUT]
        return {name: int(store.connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in names}


@contextlib.contextmanager
def _opened(made: Path) -> Iterator[SqliteStore]:
    """Opens without syncing to disk, which is not needed before the database is complete."""
    with contextlib.closing(SqliteStore(made)) as store:
        store.connection.execute("PRAGMA synchronous = OFF")
        yield store


def _take_over(source: Path, db: sqlite3.Connection) -> dict[str, int]:
    """Writes the readable rows; returns the counters."""
    counters: dict[str, int] = {}
    db.execute("BEGIN")
    for shape, row in known_rows(source):
        values = shape.values(row)
        if shape.name == "counters":
            counters[str(values[0])] = max(int(values[1] or 0), counters.get(str(values[0]), 0))
        elif shape.name not in _WORKED_OUT:
            columns, places = ", ".join(c.name for c in shape.columns), ", ".join("?" * len(values))
            db.execute(f"INSERT OR IGNORE INTO {shape.name} ({columns}) VALUES ({places})", values)
    db.execute("COMMIT")
    return counters


def known_rows(source: Path) -> Iterator[tuple[TableShape, Row]]:
    """Rows with the table they belong to; rows that fit no table, or are implausible, are skipped."""
    names = {"arrivals", "visits", "excused", *(state.name.lower() for state in State)}
    for row in rows(source):
        for shape in shapes().values():
            if shape.fits(row) and _is_plausible(shape.name, dict(_named(shape, row)), names):
                yield shape, row
                break


def _named(shape: TableShape, row: Row) -> Iterator[tuple[str, Value]]:
    return zip((column.name for column in shape.columns), shape.values(row), strict=True)


def _is_plausible(table: str, values: dict[str, Value], counters: set[str]) -> bool:
    """Whether a row is consistent in itself."""
    url, host = str(values.get("url", "")), values.get("host")
    match table:
        case "links":
            return values["hash"] == url_hash(url) and values["state"] in _STATES
        case "pages" | "dropped" | "renders" | "sub_requests":
            return host_in(url) == host
        case "robots":
            leads = not values["leads_to"] or host_in(values["leads_to"]) is not None
            return host_in(url) is not None and leads and is_deflated(values["text"])
        case "events":
            return is_json(values["detail"]) and values["result"] in ("", *Result)
        case "steered":
            return is_json(values["action"])
        case "marks":
            return host_in(url) is not None and values["relevant"] in (None, 0, 1)
        case "verdicts":
            return values["relevant"] in (0, 1)
        case "judged":
            return host_in(url) == host and is_json(values["others"]) and is_deflated(values["sample"])
        case "students":
            return is_json(values["marks"])
        case "model_calls":
            return host_in(url) is not None and values["relevant"] in (None, 0, 1)
        case "evidence_names":
            return names_in(values["names"]) is not None
        case "digests":
            return str(values["digest"]).startswith("sha1:")
        case "counters":
            return values["name"] in counters
        case _:
            return True


def _number_hosts(db: sqlite3.Connection) -> None:
    """Numbers hosts from 1 without gaps, as the frontier does. The host of a link follows from its URL."""
    db.execute("BEGIN")
    numbered = "SELECT id AS old, row_number() OVER (ORDER BY id) AS new FROM hosts"
    db.execute(f"UPDATE hosts SET id = -new FROM ({numbered}) WHERE id = old")
    db.execute("UPDATE hosts SET id = -id")
    db.execute("COMMIT")


def _add_hosts(store: SqliteStore) -> None:
    """Adds missing hosts of links and pages, as if no request had been sent to them yet."""
    db = store.connection
    known = {name for (name,) in db.execute("SELECT name FROM hosts")}
    # Saved hosts are written at the commit, so the tables do not change during the query.
    for (url,) in db.execute("SELECT url FROM links UNION ALL SELECT url FROM pages"):
        name = host_in(url)
        if name is not None and name not in known:
            known.add(name)
            store.save_host(Host(name, _REST))
    store.commit(Counters())
    tell_functions(db)
    db.execute("BEGIN")
    db.execute("UPDATE links SET host = ifnull((SELECT id FROM hosts WHERE name = host_of(url)), 0)")
    db.execute("DELETE FROM links WHERE host = 0")
    twice = "a.host = b.host AND a.hash = b.hash AND a.url = b.url AND a.id < b.id"
    db.execute(f"DELETE FROM links WHERE id IN (SELECT b.id FROM links a JOIN links b ON {twice})")
    db.execute("COMMIT")


def _add_links(store: SqliteStore) -> None:
    """Settles the links of fetched pages. A link of which only the URL is known waits like a seed."""
    db = store.connection
    tell_functions(db)
    tell_evidence(db)
    seed = db.execute(
        "SELECT trail FROM links WHERE key1 > 1e300 AND is_json(ifnull(trail, 'null')) LIMIT 1"
    ).fetchone()
    trail = None if seed is None else seed[0]
    for came in _unsettled(db):
        for url, entry in zip(came, store.find(came), strict=True):
            lost = entry or Entry(url, host_of(url), SOONEST)
            lost.state = State.SETTLED
            store.save(lost)
        store.commit(Counters())
    db.execute(
        "UPDATE links SET evidence = x'', trail = ?, hints = NULL, key1 = 9e999, key2 = NULL, key3 = NULL "
        "WHERE NOT is_evidence(evidence) OR NOT is_json(ifnull(trail, 'null')) OR (key1 > 1e300 AND trail IS NULL)",
        (trail,),
    )


def _unsettled(db: sqlite3.Connection) -> Iterator[list[str]]:
    """URLs of pages without a settled link, in batches: the caller changes the queried tables."""
    query = f"SELECT id, url FROM pages WHERE id > ? AND {UNSETTLED} ORDER BY id LIMIT {ROWS}"
    last = 0
    while found := db.execute(query, (last,)).fetchall():
        last = found[-1][0]
        yield list(dict.fromkeys(url for _, url in found))


def _complete(db: sqlite3.Connection) -> None:
    """Clamps impossible values of pages, and completes the derived data."""
    db.execute("BEGIN")
    db.execute(
        f"UPDATE pages SET relevance = max(0.0, min(1.0, relevance)), status = max(0, min(999, status)), "
        f"relevant = relevant <> 0, noindex = noindex <> 0, needs_scripts = needs_scripts <> 0, {_SANE_TIMES}"
    )
    write_heads(db)
    db.execute("COMMIT")
    write_bands(db)


def _counted(db: sqlite3.Connection, stored: dict[str, int]) -> Counters:
    least = {name: max(number, stored.get(name, 0)) for name, number in least_counters(db).items()}
    by_state = dict(db.execute("SELECT state, count(*) FROM links GROUP BY state"))
    states = {state: by_state.get(int(state), 0) for state in State}
    return Counters(least["arrivals"], least["visits"], stored.get("excused", 0), states)


def _set_aside(database: Path, folder: Path) -> Path:
    """Keeps the original in the folder. Its WAL is moved first, since it must not be applied to the new database."""
    aside = folder / database.name
    numbers = count(2)
    while aside.exists():
        aside = folder / f"{database.name}.{next(numbers)}"
    log = Path(f"{database}-wal")
    if log.exists():
        os.replace(log, f"{aside}-wal")
    Path(f"{database}-shm").unlink(missing_ok=True)
    try:
        os.link(database, aside)
    except OSError:
        shutil.copy2(database, aside)
    return aside
