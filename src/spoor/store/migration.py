"""How a crawl folder of an earlier version becomes one of this: step by step, each of which may be repeated, so that
one that was killed is simply done again."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from spoor.frontier.packed_evidence import NAMES_SCHEMA, EvidenceNames
from spoor.frontier.place import place_of_row
from spoor.frontier.sqlite import FIRST_PLACE, SCHEMA, deflated

Advance = Callable[[int], None]
Progress = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Told what is done and of how many units; from then on how many more have been done."""
ROWS = 10_000
"""Dealt with at once."""


@contextlib.contextmanager
def silently(doing: str, total: int | None) -> Iterator[Advance]:
    yield lambda units: None


def from_3(database: Path, progress: Progress) -> None:
    """A database without tables stays as it is."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'links'").fetchone() is not None:
            _pack_evidence(db, progress)
            _write_heads_and_deflate(db, progress)


def _pack_evidence(db: sqlite3.Connection, progress: Progress) -> None:
    """It was JSON with its names in every row."""
    db.execute(NAMES_SCHEMA)
    names = EvidenceNames.of(db)
    with progress("packing what is known of links", _last(db, "links")) as advance:
        for first, last in _pieces(db, "links"):
            query = "SELECT id, evidence FROM links WHERE id BETWEEN ? AND ? AND typeof(evidence) = 'text'"
            db.execute("BEGIN IMMEDIATE")
            found = db.execute(query, (first, last)).fetchall()
            rows = [(packed, row) for row, text in found if (packed := _packed(names, text)) is not None]
            db.executemany("UPDATE links SET evidence = ? WHERE id = ?", rows)
            names.write(db)
            db.execute("COMMIT")
            advance(ROWS)


def _packed(names: EvidenceNames, text: str) -> bytes | None:
    """None: it cannot be read. It stays as it is, for `spoor check` to be found."""
    try:
        return names.pack(names.unpack(text))
    except (ValueError, RecursionError):
        return None


def _write_heads_and_deflate(db: sqlite3.Connection, progress: Progress) -> None:
    """Hosts were all in memory, and texts of robots.txt were not packed. All of it or nothing."""
    if "head" in {row[1] for row in db.execute("PRAGMA table_info(hosts)")}:
        return
    db.execute("BEGIN IMMEDIATE")
    db.execute("ALTER TABLE hosts ADD COLUMN head BLOB")
    db.create_function("deflated", 1, lambda text: deflated(str(text)), deterministic=True)
    with progress("packing robots.txt files", _last(db, "robots")) as advance:
        for first, last in _pieces(db, "robots"):
            db.execute("UPDATE robots SET text = deflated(text) WHERE id BETWEEN ? AND ?", (first, last))
            advance(ROWS)
    with progress("noting the first link of each host", _last(db, "hosts")) as advance:
        write_heads(db, advance)
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    db.execute("COMMIT")


def write_heads(db: sqlite3.Connection, advance: Advance = lambda hosts: None) -> None:
    """Tells every host the place of its first waiting link, inside of a transaction of the caller."""
    db.create_function("place", 4, place_of_row, deterministic=True)
    for first, last in _pieces(db, "hosts"):
        db.execute(f"UPDATE hosts SET head = ({FIRST_PLACE}) WHERE id BETWEEN ? AND ?", (first, last))
        advance(ROWS)


def _last(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def _pieces(db: sqlite3.Connection, table: str) -> Iterator[tuple[int, int]]:
    """Ranges of row numbers that together hold all rows."""
    last = _last(db, table)
    yield from ((first, first + ROWS - 1) for first in range(0, last + 1, ROWS))


STEPS: dict[str, Callable[[Path, Progress], None]] = {"spoor crawl 3": from_3}
"""What leads on from each version to the next, in this order."""
