"""Checks whether the database of a crawl is intact and consistent."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from math import isclose
from pathlib import Path
from urllib.parse import quote

from spoor.events import Result
from spoor.frontier.entry import State, place_of_row
from spoor.frontier.evidence import EvidenceNames, names_in
from spoor.frontier.rows import FIRST_PLACE, ROBOTS_OF_URLS, inflated, url_hash
from spoor.store.duplicates import BANDS, BANDS_IN_SQL
from spoor.store.incidents import Finding, Tell, counted
from spoor.store.sqlite_files import changed_bytes, lost_frames
from spoor.store.tables import shapes_in
from spoor.store.totals import COLUMNS, recounted, totals_of
from spoor.urls import host_of

_SHOWN = 20
"""Most messages of `integrity_check` that are reported."""
LATEST = 253_402_300_799
"""The last second of the year 9999."""
UNSETTLED = (
    "NOT EXISTS (SELECT 1 FROM hosts JOIN links ON links.host = hosts.id AND links.hash = url_hash(pages.url) "
    f"AND links.url = pages.url AND links.state = {int(State.SETTLED)} WHERE hosts.name = host_of(pages.url))"
)
"""SQL condition on a page: its link is not settled, or unknown to the frontier."""
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""Errors raised when a damaged database is read; the second if the error message itself contains damaged bytes."""

Found = Callable[..., None]


def check_database(database: Path, at_rest: bool, tell: Tell) -> bool:
    """Reports problems to `tell`; returns whether the tables are readable. `at_rest`: no process writes to them."""

    def found(what: str, damage: bool = True) -> None:
        tell(Finding("database", database.name, what, damage))

    if not database.exists():
        found("is missing; it records what was fetched and what waits; restore it from a backup")
        return False
    if database.stat().st_size == 0:
        return False  # The crawl has not started.
    if at_rest:
        for start, end in changed_bytes(database) or ():
            found(f"bytes {start:,} to {end - 1:,} have changed since the last crawl")
        log = Path(f"{database}-wal")
        if log.exists() and (lost := lost_frames(log)):
            found(f"{log.name} is damaged: {counted(lost, 'page')} that were committed cannot be read from it")
    try:
        with contextlib.closing(open_checked(database)) as db:
            if not _is_whole(db, found) or not _has_tables(db, found) or not _values_fit(db, found):
                return False
            for check in (_links, _hosts, _robots, _counters, _totals, _pages, _events, _fingerprints):
                check(db, found)
            return True
    except UNREADABLE as error:
        found(f"cannot be read: {error}")
        return False


def open_checked(database: Path) -> sqlite3.Connection:
    """Opens an untrusted database read-only: cells are checked before use, and the schema may not call functions."""
    uri = f"file:{quote(str(database.resolve()))}?mode=ro"
    # In a read-only folder, SQLite opens a WAL database only as immutable.
    for how in (uri, uri + "&immutable=1"):
        with contextlib.suppress(sqlite3.OperationalError), contextlib.ExitStack() as opened:
            db = opened.enter_context(contextlib.closing(sqlite3.connect(how, uri=True, isolation_level=None)))
            db.execute("PRAGMA cell_size_check = ON")
            db.execute("PRAGMA trusted_schema = OFF")
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            tell_functions(db)
            opened.pop_all()
            return db
    raise sqlite3.OperationalError("unable to open database file")


def tell_functions(db: sqlite3.Connection) -> None:
    """Registers the SQL functions that the checks use."""
    db.create_function("host_of", 1, host_in, deterministic=True)
    db.create_function("url_hash", 1, _hash_of, deterministic=True)
    db.create_function("place", 4, place_of_row, deterministic=True)
    db.create_function("is_deflated", 1, is_deflated, deterministic=True)
    db.create_function("is_json", 1, is_json, deterministic=True)
    db.create_function("is_text", 1, _is_text, deterministic=True)


def tell_evidence(db: sqlite3.Connection) -> None:
    """Registers the SQL functions on evidence, with the names now in the database."""
    names = EvidenceNames.of(db)

    def is_evidence(packed: object) -> bool:
        try:
            return names.unpack(packed) is not None
        except (ValueError, RecursionError):
            return False

    db.create_function("is_evidence", 1, is_evidence, deterministic=True)
    db.create_function("is_names", 1, lambda text: names_in(text) is not None, deterministic=True)


def _is_whole(db: sqlite3.Connection, found: Found) -> bool:
    """Runs `integrity_check` of SQLite, which checks the trees but not the values in them."""
    complaints = list(_complaints(db))
    for complaint in complaints[:_SHOWN]:
        found(complaint)
    if len(complaints) > _SHOWN:
        found(f"and {len(complaints) - _SHOWN:,} more like this")
    return not complaints


def _complaints(db: sqlite3.Connection) -> Iterator[str]:
    try:
        for (problem,) in db.execute("PRAGMA integrity_check(1000)"):
            yield from (line for line in str(problem).splitlines() if line != "ok" and not line.startswith("***"))
    except UNREADABLE as error:
        yield str(error)


def _has_tables(db: sqlite3.Connection, found: Found) -> bool:
    objects = db.execute("SELECT type, name FROM sqlite_master").fetchall()
    for kind, name in objects:
        if kind not in ("table", "index"):
            found(f"holds the {kind} {name}, which no crawl makes")
    there = True
    for name, shape in shapes_in(db).items():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
        if missing := [column.name for column in shape.columns if column.name not in columns]:
            found(f"the table {name} lacks {', '.join(missing)}" if columns else f"the table {name} is missing")
            there = False
    return there


def _values_fit(db: sqlite3.Connection, found: Found) -> bool:
    """Whether all values have the types of their columns, which SQLite does not enforce."""
    fit = True
    for name, shape in shapes_in(db).items():
        wrong = " OR ".join(column.is_wrong for column in shape.columns)
        if number := _count(db, f"{name} WHERE {wrong}"):
            found(f"rows of {name} with values of another type: {number:,}")
            fit = False
    return fit


def _links(db: sqlite3.Connection, found: Found) -> None:
    tell_evidence(db)
    states = ", ".join(str(int(state)) for state in State)
    wrong = {
        "links in an unknown state": f"links WHERE state NOT IN ({states})",
        "links of another host than their URL": "links LEFT JOIN hosts ON hosts.id = links.host "
        "WHERE name IS NULL OR name IS NOT host_of(url)",
        "links with another hash than their URL": "links WHERE hash IS NOT url_hash(url)",
        "links with evidence or a trail that cannot be read": "links WHERE NOT is_evidence(evidence) "
        "OR (trail IS NOT NULL AND NOT is_json(trail))",
        "lists of names that are not JSON": "evidence_names WHERE NOT is_names(names)",
        "duplicate links": "(SELECT 1 FROM links GROUP BY host, hash, url HAVING count(*) > 1)",
    }
    _tell_counts(db, wrong, found)


def _hosts(db: sqlite3.Connection, found: Found) -> None:
    wrong = {"hosts without the position of their first waiting link": f"hosts WHERE head IS NOT ({FIRST_PLACE})"}
    _tell_counts(db, wrong, found)


def _robots(db: sqlite3.Connection, found: Found) -> None:
    wrong = {
        "robots.txt files without a valid URL": f"robots WHERE NOT ({ROBOTS_OF_URLS})",
        "robots.txt files whose text cannot be read": "robots WHERE NOT is_deflated(text)",
    }
    _tell_counts(db, wrong, found)


def _counters(db: sqlite3.Connection, found: Found) -> None:
    stored = dict(db.execute("SELECT name, value FROM counters"))
    by_state = dict(db.execute("SELECT state, count(*) FROM links GROUP BY state"))
    for state in State:
        said, there = stored.get(state.name.lower(), 0), by_state.get(int(state), 0)
        if said != there:
            found(f"{counted(there, 'link')} {state.name.lower().replace('_', ' ')}, but the counter says {said:,}")
    for name, least in least_counters(db).items():
        if stored.get(name, 0) < least:
            found(f"the counter {name} says {stored.get(name, 0):,}, but there were at least {least:,}")


def least_counters(db: sqlite3.Connection) -> dict[str, int]:
    """Lower bounds, derived from the rows, for counters that cannot be recounted."""
    (arrival,) = db.execute("SELECT ifnull(max(arrival), 0) FROM links").fetchone()
    numbers = "SELECT max(number) AS n FROM pages UNION ALL SELECT max(number) FROM events"
    (last,) = db.execute(f"SELECT ifnull(max(n), -1) FROM ({numbers})").fetchone()
    return {"arrivals": int(arrival), "visits": int(last) + 1}


def _totals(db: sqlite3.Connection, found: Found) -> None:
    stored, there = asdict(totals_of(db)), asdict(recounted(db))
    for name in COLUMNS:
        if not isclose(stored[name], there[name], abs_tol=0.001):
            found(f"the totals say {stored[name]:,} {name.replace('_', ' ')}, but the journal has {there[name]:,}")


def _pages(db: sqlite3.Connection, found: Found) -> None:
    wrong = {
        "pages of another host than their URL": "pages WHERE host IS NOT host_of(url)",
        "pages with an impossible relevance, status or time": "pages WHERE NOT (relevance BETWEEN 0 AND 1 "
        f"AND status BETWEEN 0 AND 999 AND started BETWEEN 0 AND {LATEST} AND ended BETWEEN 0 AND {LATEST} "
        "AND relevant IN (0, 1) AND noindex IN (0, 1) AND needs_scripts IN (0, 1))",
        "fetched pages whose link is not settled": f"pages WHERE {UNSETTLED}",
    }
    _tell_counts(db, wrong, found)


def _events(db: sqlite3.Connection, found: Found) -> None:
    results = ", ".join(f"'{result}'" for result in Result)
    wrong = {
        "events with details that are not JSON": "events WHERE NOT is_json(detail)",
        "events with an unknown result": f"events WHERE result NOT IN ('', {results})",
    }
    _tell_counts(db, wrong, found)


def _fingerprints(db: sqlite3.Connection, found: Found) -> None:
    whole = (
        f"SELECT count(*) FROM bands WHERE band IN ({', '.join(BANDS_IN_SQL)}) AND fingerprint = fingerprints.id "
        "AND bands.simhash = fingerprints.simhash"
    )
    _tell_counts(db, {"fingerprints without their bands": f"fingerprints WHERE ({whole}) <> {BANDS}"}, found)
    if (spare := _count(db, "bands") - BANDS * _count(db, "fingerprints")) > 0:
        found(f"bands without their fingerprint: {spare:,}")


def _tell_counts(db: sqlite3.Connection, wrong: dict[str, str], found: Found) -> None:
    for problem, where in wrong.items():
        if number := _count(db, where):
            found(f"{problem}: {number:,}")


def _count(db: sqlite3.Connection, what: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {what}").fetchone()[0])


def host_in(url: object) -> str | None:
    """None if it is not a URL."""
    try:
        return host_of(url) if isinstance(url, str) else None
    except ValueError:
        return None


def _hash_of(url: object) -> int | None:
    return url_hash(url) if isinstance(url, str) else None


def is_deflated(text: object) -> bool:
    try:
        return isinstance(text, bytes) and inflated(text) is not None
    except zlib.error:
        return False


def is_json(text: object) -> bool:
    try:
        json.loads(text if isinstance(text, str) else "")
    except (ValueError, RecursionError):
        return False
    return True


def _is_text(data: object) -> bool:
    try:
        return isinstance(data, bytes) and data.decode() is not None
    except UnicodeDecodeError:
        return False
