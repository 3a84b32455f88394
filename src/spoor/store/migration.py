"""A database of an older version becomes one of this version, all of it or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from spoor.errors import BadInput
from spoor.frontier.place import place_of_row
from spoor.frontier.sqlite import FIRST_PLACE, SCHEMA, UNREADABLE, deflated

Advance = Callable[[int], None]
"""Told how many hosts and robots.txt files were dealt with since the last call."""
AT_ONCE = 5_000
"""Rows."""


def migrate(database: Path, advance: Advance) -> None:
    """From version 3, or from this one if a process died before it wrote the file `version`. A database without tables
    stays as it is."""
    try:
        db = sqlite3.connect(database, isolation_level=None)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            _migrate(db, advance)
        finally:
            db.close()
    except UNREADABLE as error:
        remedy = "nothing was changed: make room, or check the disk, and run the same command again"
        raise BadInput(f"cannot bring {database} to this version: {error}; {remedy}") from None


def _migrate(db: sqlite3.Connection, advance: Advance) -> None:
    columns = {row[1] for row in db.execute("PRAGMA table_info(hosts)")}
    if not columns or "head" in columns:
        return
    db.execute("BEGIN IMMEDIATE")
    db.execute("ALTER TABLE hosts ADD COLUMN head BLOB")
    db.create_function("deflated", 1, lambda text: deflated(str(text)), deterministic=True)
    for start, end in _pieces(db, "robots"):
        done = db.execute("UPDATE robots SET text = deflated(text) WHERE id BETWEEN ? AND ?", (start, end))
        advance(done.rowcount)
    write_heads(db, advance)
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    db.execute("COMMIT")


def write_heads(db: sqlite3.Connection, advance: Advance = lambda hosts: None) -> None:
    """Tells every host the place of its first waiting link, inside of a transaction of the caller."""
    db.create_function("place", 4, place_of_row, deterministic=True)
    for start, end in _pieces(db, "hosts"):
        done = db.execute(f"UPDATE hosts SET head = ({FIRST_PLACE}) WHERE id BETWEEN ? AND ?", (start, end))
        advance(done.rowcount)


def _pieces(db: sqlite3.Connection, table: str) -> Iterator[tuple[int, int]]:
    """Ranges of row numbers that together hold all rows."""
    first, last = db.execute(f"SELECT min(id), max(id) FROM {table}").fetchone()
    if first is not None:
        yield from ((start, start + AT_ONCE - 1) for start in range(first, last + 1, AT_ONCE))
