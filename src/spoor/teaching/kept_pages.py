"""Stores the pages that a student has judged, and its versions, in tables of crawl.db.

The sample of a page suffices to judge it again, and the excerpt to ask a teacher about it. The archive is not read: it
need not contain the page."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spoor.errors import BadInput
from spoor.judging.regression import Sample
from spoor.records import Verdict
from spoor.store.lesson_tables import create_lesson_tables, has_students
from spoor.store.verdicts import replaced, revise
from spoor.urls import host_of

EXCERPT = 6_000
"""Characters of the main text that are stored."""
LARGEST = 1 << 22
"""Maximum size of a sample or an excerpt in bytes, decompressed."""
_AT_ONCE = 500
_PLACE = np.dtype("<i4")
_WEIGHT = np.dtype("<f4")
_INSERT = (
    "INSERT OR REPLACE INTO judged (url, host, version, revised, probability, decides, others, sample, excerpt) "
    "VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """A page as judged by the student of this `version`. `probability` is that of the student alone; `others` are the
    verdicts of the other judges, which must agree. `decides`: the verdict of the student changes the result."""

    url: str
    version: int
    probability: float
    decides: bool
    others: Mapping[str, Verdict]
    sample: Sample
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Version:
    """A lesson. `marks` are the ids of all marks on which the student of this `version` was trained, `changed` is the
    share of verdicts that it reversed, `row` the last row of the journal before it, `shift` what was subtracted from
    the log odds because of the pages judged by then."""

    version: int
    at: float
    marks: tuple[int, ...]
    changed: float
    row: int
    shift: float = 0.0


@dataclass(frozen=True, slots=True)
class Revision:
    """A page judged again in a lesson. `verdict` is None if the verdict stays and only the probability is new."""

    url: str
    host: str
    probability: float
    verdict: Verdict | None


@dataclass
class KeptPages:
    """Buffers new pages and lessons until `write`, which runs in the transaction of the caller. Pages are added when
    they are judged, so the table may have pages that a killed crawl never recorded."""

    _new: list[JudgedPage] = field(default_factory=list, init=False)
    _lessons: list[tuple[Version, Sequence[Revision]]] = field(default_factory=list, init=False)

    @staticmethod
    def create(db: sqlite3.Connection) -> KeptPages:
        create_lesson_tables(db)
        return KeptPages()

    def keep(self, page: JudgedPage) -> None:
        self._new.append(page)

    def learned(self, version: Version, revisions: Sequence[Revision]) -> None:
        self._lessons.append((version, revisions))

    def write(self, db: sqlite3.Connection) -> None:
        db.executemany(_INSERT, map(_row, self._new))
        self._new.clear()
        for version, revisions in self._lessons:
            _write_lesson(db, version, revisions)
        self._lessons.clear()


def _write_lesson(db: sqlite3.Connection, version: Version, revisions: Sequence[Revision]) -> None:
    marks = version.marks
    row = (version.version, version.at, len(marks), json.dumps(marks), version.changed, version.row)
    db.execute("INSERT INTO students VALUES (?, ?, ?, ?, ?, ?)", row)
    db.execute("INSERT INTO student_shifts VALUES (?, ?)", (version.version, version.shift))
    found = [(one.probability, one.url) for one in revisions]
    db.executemany("UPDATE judged SET probability = ? WHERE url = ?", found)
    changed = [(one, one.verdict) for one in revisions if one.verdict is not None]
    by_version = [(version.version, version.row, one.url) for one, _ in changed]
    db.executemany("UPDATE judged SET version = ?, revised = ? WHERE url = ?", by_version)
    revise(db, ((one.url, verdict) for one, verdict in changed))


def _row(page: JudgedPage) -> tuple[object, ...]:
    others = {name: [one.relevance, one.relevant, one.because, one.label] for name, one in page.others.items()}
    written = json.dumps(others).encode("utf8", "replace").decode()
    excerpt = f"{page.title}\n{page.text[:EXCERPT]}".encode("utf8", "replace")
    known = (page.url, host_of(page.url), page.version, page.probability, page.decides)
    return *known, written, packed(page.sample), zlib.compress(excerpt)


def packed(sample: Sample) -> bytes:
    return zlib.compress(sample.places.astype(_PLACE).tobytes() + sample.weights.astype(_WEIGHT).tobytes(), 1)


def unpacked(blob: bytes) -> Sample:
    content = _content(blob)
    half = len(content) // 2
    if len(content) % (2 * _PLACE.itemsize):
        raise BadInput(
            "a sample of a page in crawl.db is damaged; `spoor check FOLDER --repair` saves what is readable"
        )
    places, weights = np.frombuffer(content[:half], _PLACE), np.frombuffer(content[half:], _WEIGHT)
    return Sample(places.astype(np.int32), weights.astype(np.float32))


def _content(blob: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(blob, LARGEST)
    except zlib.error as error:
        raise BadInput(f"a row of the table judged in crawl.db is damaged: {error}") from None


def versions(db: sqlite3.Connection) -> list[Version]:
    """All lessons so far, in order."""
    if not has_students(db):
        return []
    rows = db.execute("SELECT version, at, marks, changed, row FROM students ORDER BY version").fetchall()
    shifts = _shifts(db)
    return [
        Version(version, at, tuple(json.loads(marks)), changed, row, shifts.get(version, 0.0))
        for version, at, marks, changed, row in rows
    ]


def _shifts(db: sqlite3.Connection) -> dict[int, float]:
    """Shifts by version. Crawls of earlier releases have no such table."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'student_shifts'"
    return (
        dict(db.execute("SELECT version, shift FROM student_shifts").fetchall()) if db.execute(query).fetchone() else {}
    )


def version_of(db: sqlite3.Connection, url: str) -> int:
    """Version of the student whose verdict on the page counts; 0 if it had no lesson."""
    row = db.execute("SELECT version FROM judged WHERE url = ?", (url,)).fetchone()
    return 0 if row is None else int(row[0])


def sample_of_page(db: sqlite3.Connection, url: str) -> Sample | None:
    row = db.execute("SELECT sample FROM judged WHERE url = ?", (url,)).fetchone()
    return None if row is None else unpacked(row[0])


def excerpt_of(db: sqlite3.Connection, url: str) -> tuple[str, str]:
    """The title of a page and the beginning of its main text; empty if the page is unknown."""
    row = db.execute("SELECT excerpt FROM judged WHERE url = ?", (url,)).fetchone()
    title, _, text = ("" if row is None else _content(row[0]).decode("utf8", "replace")).partition("\n")
    return title, text


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A judged page with its verdict, as stored in the database; `row` is its row in the journal."""

    row: int
    url: str
    host: str
    sample: Sample
    others: Mapping[str, Verdict]
    verdict: Verdict


def stored_pages(db: sqlite3.Connection) -> Iterator[list[StoredPage]]:
    """Yields all judged and visited pages, in batches."""
    columns = "pages.id, judged.url, judged.host, sample, others, relevance, relevant, because, label"
    query = (
        f"SELECT {columns} FROM judged JOIN pages ON pages.host = judged.host AND pages.url = judged.url "
        "WHERE judged.id BETWEEN ? AND ? ORDER BY judged.id, pages.id"
    )
    (last,) = db.execute("SELECT ifnull(max(id), 0) FROM judged").fetchone()
    for first in range(1, last + 1, _AT_ONCE):
        rows = db.execute(query, (first, first + _AT_ONCE - 1)).fetchall()
        found = {row[1]: _stored(row) for row in rows}  # The last verdict on a page that was visited twice.
        if found:
            yield list(found.values())


def _stored(row: Sequence[Any]) -> StoredPage:
    number, url, host, sample, others, relevance, relevant, because, label = row
    said = {name: Verdict(*verdict) for name, verdict in json.loads(others).items()}
    return StoredPage(number, url, host, unpacked(sample), said, Verdict(relevance, bool(relevant), because, label))


def revised_pages(db: sqlite3.Connection) -> dict[str, tuple[int, Verdict]]:
    """Pages whose verdicts were revised, by a lesson, a person or `spoor rejudge`, by URL: the last journal row before
    the revision, and the new verdict."""
    if not has_students(db):
        return replaced(db)
    query = (
        "SELECT judged.url, revised, relevance, relevant, because, label FROM judged "
        "JOIN pages ON pages.host = judged.host AND pages.url = judged.url WHERE revised > 0 ORDER BY pages.id"
    )
    rows = db.execute(query).fetchall()
    by_lessons = {
        url: (row, Verdict(share, bool(yes), because, label)) for url, row, share, yes, because, label in rows
    }
    otherwise = {url: (max(row, by_lessons.get(url, (0,))[0]), said) for url, (row, said) in replaced(db).items()}
    return by_lessons | otherwise


_DECIDING = (
    "FROM judged JOIN pages ON pages.host = judged.host AND pages.url = judged.url WHERE decides AND duplicate_of = ''"
)
"""Visited pages on which the student decides, without duplicates."""
_SPREAD = "judged.id * 2654435761 % 4294967296"
"""A deterministic pseudo-random order (multiplicative hash of the id)."""


def some_samples(db: sqlite3.Connection, most: int) -> list[Sample]:
    rows = db.execute(f"SELECT sample {_DECIDING} ORDER BY {_SPREAD} LIMIT ?", (most,)).fetchall()
    return [unpacked(sample) for (sample,) in rows]


def uncertain_pages(db: sqlite3.Connection, threshold: float, most: int) -> list[tuple[str, float, Sample]]:
    """URL, probability and sample: the `most` nearest to the threshold, and as many from all pages."""
    query = f"SELECT judged.url, probability, sample {_DECIDING} ORDER BY {{}} LIMIT ?"
    near = db.execute(query.format("abs(probability - ?)"), (threshold, most)).fetchall()
    spread = db.execute(query.format(_SPREAD), (most,)).fetchall()
    found = {url: (url, probability, sample) for url, probability, sample in [*near, *spread]}
    return [(url, probability, unpacked(sample)) for url, probability, sample in found.values()]
