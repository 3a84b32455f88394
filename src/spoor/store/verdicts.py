"""Verdicts on pages: the one that holds, and those that were given before it.

The verdict that holds is in the columns relevance, relevant and because of `pages`, where every reader finds it. What a
person says holds over what the judge says. The table `verdicts` has one row per verdict on a page with several: the
verdict of the judge stays beside that of a person, and an old one keeps its date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from spoor.records import Verdict
from spoor.store.totals import CrawlTotals, add_totals
from spoor.urls import host_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    id INTEGER PRIMARY KEY, page INTEGER NOT NULL, at REAL NOT NULL, row INTEGER NOT NULL, who TEXT NOT NULL,
    relevance REAL NOT NULL, relevant INTEGER NOT NULL, because TEXT NOT NULL, label TEXT
);
CREATE INDEX IF NOT EXISTS verdicts_by_page ON verdicts (page, id);
"""
JUDGE = ""
"""`who` of the verdicts of the judge."""
HOLDS = "SELECT relevance, relevant, because, label FROM pages WHERE host = ? AND url = ? ORDER BY id DESC LIMIT 1"
"""The verdict that holds on a page."""
_OF_JUDGE = "SELECT {} FROM verdicts WHERE page = ? AND who = '' ORDER BY id DESC LIMIT 1"
_GIVEN = "at, who, relevance, relevant, because, label"
_LAST_ROW = "max(ifnull((SELECT max(id) FROM pages), 0), ifnull((SELECT max(id) FROM events), 0))"


@dataclass(frozen=True, slots=True)
class Given:
    """A verdict on a page, with who gave it and when. `who` is "" for the judge."""

    at: float
    who: str
    verdict: Verdict


def said_by(relevant: bool, who: str) -> Verdict:
    """The verdict of a person, or of a program that answers in place of one."""
    return Verdict(float(relevant), relevant, f"{'relevant' if relevant else 'not relevant'}, says {who}")


def verdict_that_holds(db: sqlite3.Connection, url: str) -> Verdict | None:
    """None if no page was fetched from the URL."""
    row = db.execute(HOLDS, (host_of(url), url)).fetchone()
    return None if row is None else _verdict(*row)


def verdicts_on(db: sqlite3.Connection, url: str) -> list[Given]:
    """All verdicts on a page, in order; empty if only one was given, which is that of the page."""
    pages = "SELECT id FROM pages WHERE host = ? AND url = ?"
    rows = db.execute(f"SELECT {_GIVEN} FROM verdicts WHERE page IN ({pages}) ORDER BY id", (host_of(url), url))
    return [Given(at, who, _verdict(*said)) for at, who, *said in rows.fetchall()]


def judges_verdict(db: sqlite3.Connection, url: str) -> Verdict | None:
    """What the judge says of a page on which a person has the last word; None if its verdict is that of the page."""
    given = [one.verdict for one in verdicts_on(db, url) if one.who == JUDGE]
    return given[-1] if given else None


def last_change(db: sqlite3.Connection, schema: str = "main") -> int:
    """The number of the last verdict that replaced another one; 0 if none did."""
    return int(db.execute(f"SELECT ifnull(max(id), 0) FROM {schema}.verdicts").fetchone()[0])


def replaced(db: sqlite3.Connection) -> dict[str, tuple[int, Verdict]]:
    """Pages whose verdict was replaced, by URL: the last row of the journal before that, and the verdict that holds."""
    query = (
        "SELECT pages.url, max(verdicts.row), pages.relevance, pages.relevant, pages.because, pages.label "
        "FROM verdicts JOIN pages ON pages.id = verdicts.page WHERE verdicts.row > pages.id GROUP BY pages.id"
    )
    return {url: (row, _verdict(*said)) for url, row, *said in db.execute(query).fetchall()}


# Writing, in a transaction of the caller.


def say(db: sqlite3.Connection, url: str, verdict: Verdict, who: str, at: float, spoken: bool) -> None:
    """A person gives a verdict on a page, which holds from now on. `spoken`: that of a person held until now."""
    for page in _pages_of(db, url):
        _keep_present(db, page, spoken)
        _add(db, page, at, who, verdict)
        _set(db, page, verdict)


def take_back(db: sqlite3.Connection, url: str, at: float) -> None:
    """The verdict of the judge holds again."""
    for page in _pages_of(db, url):
        row = db.execute(_OF_JUDGE.format("relevance, relevant, because, label"), (page,)).fetchone()
        if row is not None:
            _add(db, page, at, JUDGE, _verdict(*row))
            _set(db, page, _verdict(*row))


def revise(db: sqlite3.Connection, verdicts: Iterable[tuple[str, Verdict]]) -> None:
    """A judge that has learned gives other verdicts on pages, each by URL; its lessons keep what it learned
    from."""
    for url, verdict in verdicts:
        for page in _pages_of(db, url):
            _set(db, page, verdict)


def _pages_of(db: sqlite3.Connection, url: str) -> Iterable[int]:
    rows = db.execute("SELECT id FROM pages WHERE host = ? AND url = ?", (host_of(url), url)).fetchall()
    return [page for (page,) in rows]


def _keep_present(db: sqlite3.Connection, page: int, spoken: bool) -> None:
    """Keeps the verdict of the judge that holds, with its date, unless it is kept already. That of a person is."""
    if spoken:
        return
    present = db.execute(
        "SELECT relevance, relevant, because, label, ended FROM pages WHERE id = ?", (page,)
    ).fetchone()
    kept = db.execute(_OF_JUDGE.format("relevance, relevant, because, label"), (page,)).fetchone()
    if kept != present[:-1]:
        written = (page, present[-1], page, JUDGE, *present[:-1])
        db.execute(
            "INSERT INTO verdicts (page, at, row, who, relevance, relevant, because, label) VALUES "
            "(?, ?, ?, ?, ?, ?, ?, ?)",
            written,
        )


def _add(db: sqlite3.Connection, page: int, at: float, who: str, verdict: Verdict) -> None:
    said = (verdict.relevance, verdict.relevant, verdict.because, verdict.label)
    db.execute(
        "INSERT INTO verdicts (page, at, row, who, relevance, relevant, because, label) "
        f"VALUES (?, ?, {_LAST_ROW}, ?, ?, ?, ?, ?)",
        (page, at, who, *said),
    )


def _set(db: sqlite3.Connection, page: int, verdict: Verdict) -> None:
    """Also changes the number of relevant pages in the totals."""
    present = "SELECT relevant, duplicate_of != '' FROM pages WHERE id = ?"
    before, is_duplicate = db.execute(present, (page,)).fetchone()
    row = (verdict.relevance, verdict.relevant, verdict.because, page)
    db.execute("UPDATE pages SET relevance = ?, relevant = ?, because = ? WHERE id = ?", row)
    gain = int(verdict.relevant) - before
    add_totals(db, CrawlTotals(relevant=gain, relevant_duplicates=gain * is_duplicate))


def _verdict(relevance: float, relevant: int, because: str, label: str | None) -> Verdict:
    return Verdict(relevance, bool(relevant), because, label)
