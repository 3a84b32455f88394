"""The tables of a crawl's database as this spoor makes them: what a row of each must look like."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spoor.frontier.sqlite import SqliteStore
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal
from spoor.store.sqlite_pages import Row, Value

_TYPES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)}
_STORED = {"INTEGER": "integer", "REAL": "real", "TEXT": "text", "BLOB": "blob"}


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is INTEGER, REAL, TEXT or BLOB; `is_number`: the number of the row, which is not written into it."""

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
        """In SQL: whether a value is not of this column. `is_text` says of bytes whether they are UTF-8."""
        wrong = f"typeof({self.name}) <> '{_STORED[self.type]}'"
        if self.type == "TEXT":
            wrong = f"({wrong} OR NOT is_text(CAST({self.name} AS BLOB)))"
        return f"({wrong} AND {self.name} IS NOT NULL)" if self.may_be_null else f"({wrong})"


@dataclass(frozen=True, slots=True)
class TableShape:
    """The columns in the order in which rows are written."""

    name: str
    columns: tuple[Column, ...]
    has_numbers: bool

    def fits(self, row: Row) -> bool:
        """Whether it may be one of this table, by the kinds of its values."""
        if (row.number is not None) != self.has_numbers or len(row.values) != len(self.columns):
            return False
        return all(column.takes(value) for column, value in zip(self.columns, row.values, strict=True))

    def values(self, row: Row) -> tuple[Value, ...]:
        """For its columns."""
        pairs = zip(self.columns, row.values, strict=True)
        return tuple(row.number if column.is_number else value for column, value in pairs)


@cache
def shapes() -> dict[str, TableShape]:
    """By name."""
    with contextlib.closing(SqliteStore(Path(":memory:"))) as store:
        create_tables(store.connection)
        made = store.connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: _shape(store.connection, name, "WITHOUT ROWID" in sql.upper()) for name, sql in made}


def create_tables(db: sqlite3.Connection) -> None:
    """Those beside the frontier's own."""
    Journal.create(db)
    Duplicates.create(db)


def _shape(db: sqlite3.Connection, table: str, without_numbers: bool) -> TableShape:
    told: Sequence[tuple[int, str, str, int, object, int]] = db.execute(f"PRAGMA table_info({table})").fetchall()
    if without_numbers:
        # Such a row begins with its key.
        told = sorted(told, key=lambda column: (not column[5], column[5] or column[0]))
    columns = tuple(
        Column(name, kind.upper(), not required and not key, bool(key) and not without_numbers)
        for _, name, kind, required, _, key in told
    )
    return TableShape(table, columns, not without_numbers)
