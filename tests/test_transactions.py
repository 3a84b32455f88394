"""A transaction is all or nothing, and the error that ended it is the one that is raised."""

from __future__ import annotations

import sqlite3

import pytest

from spoor.store.transactions import transaction


@pytest.fixture
def db() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
    return db


def numbers(db: sqlite3.Connection) -> list[int]:
    return [number for (number,) in db.execute("SELECT number FROM numbers")]


def test_what_is_done_within_is_committed(db: sqlite3.Connection) -> None:
    with transaction(db):
        db.execute("INSERT INTO numbers VALUES (1)")
    assert not db.in_transaction
    assert numbers(db) == [1]


def test_an_error_undoes_all_of_it(db: sqlite3.Connection) -> None:
    with pytest.raises(KeyError), transaction(db):
        db.execute("INSERT INTO numbers VALUES (1)")
        raise KeyError
    assert not db.in_transaction
    assert numbers(db) == []


def test_an_error_after_which_sqlite_has_rolled_back_itself_is_raised_as_it_is(db: sqlite3.Connection) -> None:
    """As it does when a disk is full."""
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"), transaction(db):
        db.execute("INSERT INTO numbers VALUES (1)")
        db.execute("INSERT OR ROLLBACK INTO numbers VALUES (1)")
    assert numbers(db) == []
