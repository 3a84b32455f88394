"""The tables of a crawl database, and the migration of folders of earlier versions."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spoor.frontier.entry import place_of_row
from spoor.frontier.evidence import NAMES_SCHEMA, EvidenceNames
from spoor.frontier.rows import FIRST_PLACE, SCHEMA, VALIDATORS, deflated
from spoor.frontier.sqlite import SqliteStore
from spoor.progress import Advance, Progress, unseen
from spoor.store.duplicates import ALL_BANDS, Duplicates, write_bands
from spoor.store.journal import Journal
from spoor.store.lesson_tables import create_lesson_tables
from spoor.store.marks import Marks
from spoor.store.model_calls import ModelCalls
from spoor.store.renders import Renders
from spoor.store.sqlite_files import Row, Value
from spoor.store.steered import SteeredActions
from spoor.store.transactions import transaction

# The tables of a crawl database of this version, and the shape of their rows.


_TYPES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}
_OF_A_STUDENT = ("judged", "students", "student_shifts")
_LATER = ("marks", "steered", *_OF_A_STUDENT, "model_calls", "renders", "sub_requests", "render_hosts")
"""Tables that crawls of this version may lack, since they were added later."""
_STORED = {"INTEGER": "integer", "REAL": "real", "TEXT": "text", "BLOB": "blob"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `type` is INTEGER, REAL, TEXT or BLOB; `is_number`: it is the rowid, not stored in the record."""

    name: str
    type: str
    may_be_null: bool
    is_number: bool

    def takes(self, value: Value) -> bool:
        if value is None:
            return self.may_be_null or self.is_number
        return isinstance(value, _TYPES[self.type])

    @property
    def is_wrong(self) -> str:
        """SQL condition: a value does not fit this column. The function `is_text` checks whether bytes are UTF-8."""
        wrong = f"typeof({self.name}) <> '{_STORED[self.type]}'"
        if self.type == "TEXT":
            wrong = f"({wrong} OR NOT is_text(CAST({self.name} AS BLOB)))"
        return f"({wrong} AND {self.name} IS NOT NULL)" if self.may_be_null else f"({wrong})"


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table with its columns in storage order."""

    name: str
    columns: tuple[Column, ...]
    has_numbers: bool

    def fits(self, row: Row) -> bool:
        """Whether a row may belong to this table, by the types of its values."""
        if (row.number is not None) != self.has_numbers or len(row.values) != len(self.columns):
            return False
        return all(column.takes(value) for column, value in zip(self.columns, row.values, strict=True))

    def values(self, row: Row) -> tuple[Value, ...]:
        """The values of a row in column order, with the rowid."""
        pairs = zip(self.columns, row.values, strict=True)
        return tuple(row.number if column.is_number else value for column, value in pairs)


@cache
def shapes() -> dict[str, TableShape]:
    """All tables by name."""
    with contextlib.closing(SqliteStore(Path(":memory:"))) as store:
        create_tables(store.connection)
        made = store.connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: _shape(store.connection, name, "WITHOUT ROWID" in sql.upper()) for name, sql in made}


def shapes_in(db: sqlite3.Connection) -> dict[str, TableShape]:
    """The tables that a database has or must have."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {name: shape for name, shape in shapes().items() if name in there or name not in _LATER}


def create_tables(db: sqlite3.Connection) -> None:
    """Creates all tables except those of the frontier."""
    Journal.create(db)
    Duplicates.create(db)
    Marks.create(db)
    SteeredActions.create(db)
    create_lesson_tables(db)
    ModelCalls.create(db, lambda: None)
    Renders.create(db)


def _shape(db: sqlite3.Connection, table: str, without_numbers: bool) -> TableShape:
    described: Sequence[tuple[int, str, str, int, object, int]] = db.execute(f"PRAGMA table_info({table})").fetchall()
    if without_numbers:
        # WITHOUT ROWID: a record starts with the primary key.
        described = sorted(described, key=lambda column: (not column[5], column[5] or column[0]))
    columns = tuple(
        Column(name, kind.upper(), not required and not key, bool(key) and not without_numbers)
        for _, name, kind, required, _, key in described
    )
    return TableShape(table, columns, not without_numbers)


# Migration, version by version. Each step can be repeated, so one that was killed is run again.


ROWS = 10_000
"""Rows per batch."""
_log = logging.getLogger(__name__)


def from_3(database: Path, progress: Progress) -> None:
    """Migrates version 3 to 4. A database without tables is left unchanged."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'links'").fetchone() is not None:
            _pack_evidence(db, progress)
            _write_heads_and_deflate(db, progress)


def _pack_evidence(db: sqlite3.Connection, progress: Progress) -> None:
    """Evidence was JSON, with its names in every row."""
    db.execute(NAMES_SCHEMA)
    names = EvidenceNames.of(db)
    with progress("packing the evidence of links", _last(db, "links")) as advance:
        for first, last in _pieces(db, "links"):
            query = "SELECT id, evidence FROM links WHERE id BETWEEN ? AND ? AND typeof(evidence) = 'text'"
            with transaction(db):
                found = db.execute(query, (first, last)).fetchall()
                rows = [(packed, row) for row, text in found if (packed := _packed(names, text)) is not None]
                db.executemany("UPDATE links SET evidence = ? WHERE id = ?", rows)
                names.write(db)
            advance(ROWS)


def _packed(names: EvidenceNames, text: str) -> bytes | None:
    """None if it cannot be read; it is left unchanged, for `spoor check` to find."""
    try:
        return names.pack(names.unpack(text))
    except (ValueError, RecursionError):
        return None


def _write_heads_and_deflate(db: sqlite3.Connection, progress: Progress) -> None:
    """All hosts were in memory, and texts of robots.txt not compressed. Runs in one transaction."""
    if "head" in {row[1] for row in db.execute("PRAGMA table_info(hosts)")}:
        return
    db.create_function("deflated", 1, lambda text: deflated(str(text)), deterministic=True)
    with transaction(db):
        db.execute("ALTER TABLE hosts ADD COLUMN head BLOB")
        with progress("packing robots.txt files", _last(db, "robots")) as advance:
            for first, last in _pieces(db, "robots"):
                db.execute("UPDATE robots SET text = deflated(text) WHERE id BETWEEN ? AND ?", (first, last))
                advance(ROWS)
        with progress("recording the first link of each host", _last(db, "hosts")) as advance:
            write_heads(db, advance)
        for statement in SCHEMA.split(";"):
            db.execute(statement)


def from_4(database: Path, progress: Progress) -> None:
    """Migrates version 4 to 5. The host delay was in a column `rest`; ETag and Last-Modified of robots.txt files were
    not stored, nor which pages need scripts. A database without tables is left unchanged."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        if "rest" in {row[1] for row in db.execute("PRAGMA table_info(hosts)")}:
            _log.warning("%s: the column rest of the table hosts is now called delay", database)
            db.execute("ALTER TABLE hosts RENAME COLUMN rest TO delay")
        _add_validators(db)
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'pages'").fetchone() is not None:
            _add_needs_scripts(db, progress)


def _add_validators(db: sqlite3.Connection) -> None:
    """One transaction. All rows are rewritten, because `spoor check --repair` knows rows by their number of values."""
    columns = {row[1] for row in db.execute("PRAGMA table_info(robots)")}
    if columns and "etag" not in columns:
        with transaction(db):
            for name in VALIDATORS.split(", "):
                db.execute(f"ALTER TABLE robots ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")
            db.execute("UPDATE robots SET etag = '', modified = ''")


def _add_needs_scripts(db: sqlite3.Connection, progress: Progress) -> None:
    """Every row is rewritten: repair reads records without SQLite, so they must contain all columns."""
    if "needs_scripts" not in {row[1] for row in db.execute("PRAGMA table_info(pages)")}:
        db.execute("ALTER TABLE pages ADD COLUMN needs_scripts INTEGER NOT NULL DEFAULT 0")
    with progress("adding a column to pages", _last(db, "pages")) as advance:
        for first, last in _pieces(db, "pages"):
            db.execute("UPDATE pages SET needs_scripts = 0 WHERE id BETWEEN ? AND ?", (first, last))
            advance(ROWS)


def from_5(database: Path, progress: Progress) -> None:
    """Migrates version 5 to 6. The table `bands` did not have the fingerprints themselves. It is derived data, and made
    again. A database without tables is left unchanged."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'fingerprints'").fetchone() is None:
            return
        if "simhash" not in {row[1] for row in db.execute("PRAGMA table_info(bands)")}:
            db.execute("DROP TABLE IF EXISTS bands")
        Duplicates.create(db)
        with progress("indexing the fingerprints of texts", ALL_BANDS) as advance:
            write_bands(db, advance)


def write_heads(db: sqlite3.Connection, advance: Advance = unseen) -> None:
    """Sets for each host the position of its first waiting link, inside the caller's transaction."""
    db.create_function("place", 4, place_of_row, deterministic=True)
    for first, last in _pieces(db, "hosts"):
        db.execute(f"UPDATE hosts SET head = ({FIRST_PLACE}) WHERE id BETWEEN ? AND ?", (first, last))
        advance(ROWS)


def _last(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0])


def _pieces(db: sqlite3.Connection, table: str) -> Iterator[tuple[int, int]]:
    """Ranges of row numbers that cover all rows."""
    last = _last(db, table)
    yield from ((first, first + ROWS - 1) for first in range(0, last + 1, ROWS))


STEPS: dict[str, Callable[[Path, Progress], None]] = {
    "spoor crawl 3": from_3,
    "spoor crawl 4": from_4,
    "spoor crawl 5": from_5,
}
"""The migration step from each version to the next, in order."""
