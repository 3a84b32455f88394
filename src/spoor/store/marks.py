"""Marks: labels of pages by persons and by programs in their place, with who and when. A table of crawl.db; rows are
only appended. What a person says holds at once; what a program says, from the next lesson of the judge."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spoor.actions import Mark
from spoor.events import Event, Steered
from spoor.records import Verdict
from spoor.store.verdicts import said_by, say, take_back

SCHEMA = """
CREATE TABLE IF NOT EXISTS marks (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, relevant INTEGER, who TEXT NOT NULL, at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS marks_by_url ON marks (url, id);
"""
_MARK = "id, url, relevant, who, at"
MODEL = "model:"
FILE = "file"


@dataclass(frozen=True, slots=True)
class PageMark:
    """The label of a page by a person; if `relevant` is None, it withdraws earlier marks of the page."""

    id: int
    url: str
    relevant: bool | None
    who: str
    at: float


class Marks:
    """Collects marks until `write`, which the owner of the database calls inside its own transaction."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, bool | None, str, float]] = []

    @staticmethod
    def create(db: sqlite3.Connection) -> Marks:
        db.executescript(SCHEMA)
        return Marks()

    def add(self, url: str, relevant: bool | None, who: str, at: float) -> None:
        self._rows.append((url, relevant, who, at))

    def note(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Steered) and isinstance(event.action, Mark) and not event.refused:
                self.add(event.action.url, event.action.relevant, event.who, event.at)

    def write(self, db: sqlite3.Connection) -> None:
        """After the pages of the same transaction."""
        for url, relevant, who, at in self._rows:
            spoken = has_spoken(db, url)
            db.execute("INSERT INTO marks (url, relevant, who, at) VALUES (?, ?, ?, ?)", (url, relevant, who, at))
            if relevant is None and spoken:
                take_back(db, url, at)
            elif relevant is not None and not is_automatic(who):
                say(db, url, said_by(relevant, who), who, at, spoken)
        self._rows.clear()


def marks_since(db: sqlite3.Connection, after: int = 0) -> Iterator[PageMark]:
    """All marks with a number above `after`, in order, including withdrawn ones."""
    if has_marks(db):
        rows = db.execute(f"SELECT {_MARK} FROM marks WHERE id > ? ORDER BY id", (after,))
        yield from map(_page_mark, rows.fetchall())


def newest_marks(db: sqlite3.Connection) -> dict[str, PageMark]:
    """The valid mark of each page, by URL; pages whose marks were withdrawn are left out."""
    newest = {mark.url: mark for mark in marks_since(db)}
    return {url: mark for url, mark in newest.items() if mark.relevant is not None}


def mark_of(db: sqlite3.Connection, url: str) -> PageMark | None:
    """The last mark of a page; None if there is none, or it was withdrawn."""
    if not has_marks(db):
        return None
    row = db.execute(f"SELECT {_MARK} FROM marks WHERE url = ? ORDER BY id DESC LIMIT 1", (url,)).fetchone()
    return None if row is None or row[2] is None else _page_mark(row)


def said_by_persons(db: sqlite3.Connection) -> dict[str, Verdict]:
    """The verdicts of persons, by URL of the page."""
    newest = newest_marks(db).items()
    return {url: said_by(mark.relevant is True, mark.who) for url, mark in newest if not is_automatic(mark.who)}


def has_spoken(db: sqlite3.Connection, url: str) -> bool:
    """Whether the verdict of a person holds on a page."""
    mark = mark_of(db, url)
    return mark is not None and not is_automatic(mark.who)


def is_automatic(who: str) -> bool:
    """Whether an answer is from a program, not from a person."""
    return who == FILE or who.startswith(MODEL)


def kind_of_teacher(who: str) -> str:
    """`person`, `model` or `file`."""
    return who.partition(":")[0] if is_automatic(who) else "person"


def has_marks(db: sqlite3.Connection) -> bool:
    """Whether the table exists: only crawls with marks have one."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'marks'").fetchone() is not None


def _page_mark(row: tuple[int, str, int | None, str, float]) -> PageMark:
    number, url, relevant, who, at = row
    return PageMark(number, url, None if relevant is None else bool(relevant), who, at)
