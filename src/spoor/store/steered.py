"""The actions of persons, applied or refused, in order: a table of crawl.db, written in one transaction with the
journal and the marks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from spoor.actions import action_of, as_json
from spoor.errors import BadInput
from spoor.events import Event, Steered
from spoor.frontier.sqlite import SqliteStore
from spoor.store.journal import Journal
from spoor.store.marks import Marks

SCHEMA = """
CREATE TABLE IF NOT EXISTS steered (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at REAL NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
    refused TEXT NOT NULL
);
"""


class SteeredActions:
    """Collects actions until `write`, which the owner of the database calls inside its own transaction."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, float, str, str, str]] = []

    @staticmethod
    def create(db: sqlite3.Connection) -> SteeredActions:
        db.executescript(SCHEMA)
        return SteeredActions()

    def note(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Steered):
                action = json.dumps(as_json(event.action), ensure_ascii=False)
                self._rows.append((event.id, event.at, event.who, action, event.refused))

    def write(self, db: sqlite3.Connection) -> None:
        db.executemany("INSERT INTO steered (id, at, who, action, refused) VALUES (?, ?, ?, ?, ?)", self._rows)
        self._rows.clear()


def steered(db: sqlite3.Connection) -> list[Steered]:
    """All actions in order, including refused ones. Invalid rows are skipped."""
    if not _is_there(db):
        return []
    rows = db.execute("SELECT at, id, who, action, refused FROM steered ORDER BY number").fetchall()
    return [event for row in rows if (event := _steered(*row)) is not None]


def steered_by(db: sqlite3.Connection, submission: str) -> Steered | None:
    """The result of a submission, by id; None if it was neither applied nor refused yet."""
    if not _is_there(db):
        return None
    row = db.execute("SELECT at, id, who, action, refused FROM steered WHERE id = ?", (submission,)).fetchone()
    return None if row is None else _steered(*row)


def _steered(at: float, submission: str, who: str, action: str, refused: str) -> Steered | None:
    try:
        return Steered(at, submission, who, action_of(json.loads(action)), refused)
    except (ValueError, BadInput):
        return None


def _is_there(db: sqlite3.Connection) -> bool:
    """Whether the table exists: crawls without actions lack it."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'steered'").fetchone() is not None


@dataclass(frozen=True, slots=True)
class SteeringLog:
    """A journal that also stores the actions and marks among the events."""

    journal: Journal
    actions: SteeredActions
    marks: Marks

    @staticmethod
    def create(store: SqliteStore, journal: Journal) -> SteeringLog:
        """The caller has already registered `journal` with the store."""
        log = SteeringLog(journal, SteeredActions.create(store.connection), Marks.create(store.connection))
        store.write_along(log.actions.write)
        store.write_along(log.marks.write)
        return log

    def note(self, events: Sequence[Event]) -> None:
        self.journal.note(events)
        self.actions.note(events)
        self.marks.note(events)
