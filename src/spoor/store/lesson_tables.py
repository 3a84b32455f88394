"""Tables of crawl.db for a judge that is taught: the pages it judged, and its versions."""

from __future__ import annotations

import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS judged (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, version INTEGER NOT NULL,
    revised INTEGER NOT NULL, probability REAL NOT NULL, decides INTEGER NOT NULL, others TEXT NOT NULL,
    sample BLOB NOT NULL, excerpt BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS students (
    version INTEGER PRIMARY KEY, at REAL NOT NULL, answers INTEGER NOT NULL, marks TEXT NOT NULL,
    changed REAL NOT NULL, row INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS student_shifts (version INTEGER PRIMARY KEY, shift REAL NOT NULL);
"""


def create_lesson_tables(db: sqlite3.Connection) -> None:
    db.executescript(SCHEMA)


def has_students(db: sqlite3.Connection) -> bool:
    """Whether the judge of this crawl can be taught."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'judged'").fetchone() is not None
