"""The tables of a crawl database, and the shape of their rows."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spoor.frontier.entry import place_of_row
from spoor.frontier.rows import FIRST_PLACE
from spoor.frontier.sqlite import SqliteStore
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal
from spoor.store.lesson_tables import create_lesson_tables
from spoor.store.marks import Marks
from spoor.store.model_calls import ModelCalls
from spoor.store.renders import Renders
from spoor.store.sqlite_files import Row, Value
from spoor.store.steered import SteeredActions

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


ROWS = 10_000
"""Rows per batch."""


def write_heads(db: sqlite3.Connection) -> None:
    """Sets for each host the position of its first waiting link, inside the caller's transaction."""
    db.create_function("place", 4, place_of_row, deterministic=True)
    for first in range(0, int(db.execute("SELECT ifnull(max(id), 0) FROM hosts").fetchone()[0]) + 1, ROWS):
        db.execute(f"UPDATE hosts SET head = ({FIRST_PLACE}) WHERE id BETWEEN ? AND ?", (first, first + ROWS - 1))
