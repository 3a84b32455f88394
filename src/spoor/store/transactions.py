"""A SQLite transaction as a context manager."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """For a connection that starts no transactions by itself (`isolation_level=None`)."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # If the disk is full, SQLite has already rolled back.
            db.execute("ROLLBACK")
        raise
