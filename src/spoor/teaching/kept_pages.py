"""What a student keeps of the pages it has judged, and its versions: tables of crawl.db.

From the sample a page can be judged again, from the excerpt a teacher can be asked about it; nothing is read from the
archive for that, which need not hold the page."""

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
from spoor.urls import host_of

EXCERPT = 6_000
"""Characters of the main text."""
LARGEST = 1 << 22
"""Bytes of a sample or an excerpt, unpacked."""
_AT_ONCE = 500
_PLACE = np.dtype("<i4")
_WEIGHT = np.dtype("<f4")
_INSERT = (
    "INSERT OR REPLACE INTO judged (url, host, version, revised, probability, decides, others, sample, excerpt) "
    "VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """A page as a student of this `version` judged it: with this `probability` by itself, where `others` had to agree.
    `decides`: what the student says of it makes a difference."""

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
    """A lesson: what the student of this `version` knows are these marks, by their numbers. `changed` is the share of
    all verdicts that were turned by it; `row` the last row of the journal before it; `shift` what was taken off its log
    odds because of the pages seen by then."""

    version: int
    at: float
    marks: tuple[int, ...]
    changed: float
    row: int
    shift: float = 0.0


@dataclass(frozen=True, slots=True)
class Revision:
    """A verdict that is another since a lesson. Where `verdict` is None, only the probability is."""

    url: str
    host: str
    probability: float
    verdict: Verdict | None


@dataclass
class KeptPages:
    """What is new is written by `write`, in the transaction of its caller. Pages are kept when they are judged, so some
    are that the crawl was killed before it took in."""

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
    verdicts = [(said.relevance, said.relevant, said.because, one.host, one.url) for one, said in changed]
    db.executemany("UPDATE pages SET relevance = ?, relevant = ?, because = ? WHERE host = ? AND url = ?", verdicts)


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
    """All lessons so far."""
    if not has_students(db):
        return []
    rows = db.execute("SELECT version, at, marks, changed, row FROM students ORDER BY version").fetchall()
    shifts = _shifts(db)
    return [
        Version(version, at, tuple(json.loads(marks)), changed, row, shifts.get(version, 0.0))
        for version, at, marks, changed, row in rows
    ]


def _shifts(db: sqlite3.Connection) -> dict[int, float]:
    """By version. Crawls of earlier releases have no such table."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'student_shifts'"
    return (
        dict(db.execute("SELECT version, shift FROM student_shifts").fetchall()) if db.execute(query).fetchone() else {}
    )


def version_of(db: sqlite3.Connection, url: str) -> int:
    """Of the student whose verdict counts; 0: it was not taught."""
    row = db.execute("SELECT version FROM judged WHERE url = ?", (url,)).fetchone()
    return 0 if row is None else int(row[0])


def sample_of_page(db: sqlite3.Connection, url: str) -> Sample | None:
    row = db.execute("SELECT sample FROM judged WHERE url = ?", (url,)).fetchone()
    return None if row is None else unpacked(row[0])


def excerpt_of(db: sqlite3.Connection, url: str) -> tuple[str, str]:
    """The title of a page and the beginning of its main text; nothing where it is not known."""
    row = db.execute("SELECT excerpt FROM judged WHERE url = ?", (url,)).fetchone()
    title, _, text = ("" if row is None else _content(row[0]).decode("utf8", "replace")).partition("\n")
    return title, text


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A judged page and the verdict on it, as they stand in the database; `row` is the number in the journal."""

    row: int
    url: str
    host: str
    sample: Sample
    others: Mapping[str, Verdict]
    verdict: Verdict


def stored_pages(db: sqlite3.Connection) -> Iterator[list[StoredPage]]:
    """All pages that were judged and visited, some at a time."""
    columns = "pages.id, judged.url, judged.host, sample, others, relevance, relevant, because, label"
    query = (
        f"SELECT {columns} FROM judged JOIN pages ON pages.host = judged.host AND pages.url = judged.url "
        "WHERE judged.id BETWEEN ? AND ? ORDER BY judged.id, pages.id"
    )
    (last,) = db.execute("SELECT ifnull(max(id), 0) FROM judged").fetchone()
    for first in range(1, last + 1, _AT_ONCE):
        rows = db.execute(query, (first, first + _AT_ONCE - 1)).fetchall()
        found = {row[1]: _stored(row) for row in rows}  # Of a page that came twice, the last verdict.
        if found:
            yield list(found.values())


def _stored(row: Sequence[Any]) -> StoredPage:
    number, url, host, sample, others, relevance, relevant, because, label = row
    said = {name: Verdict(*verdict) for name, verdict in json.loads(others).items()}
    return StoredPage(number, url, host, unpacked(sample), said, Verdict(relevance, bool(relevant), because, label))


def revised_pages(db: sqlite3.Connection) -> dict[str, tuple[int, Verdict]]:
    """Pages whose verdicts were revised, by URL: the last row of the journal before that, and what counts now."""
    if not has_students(db):
        return {}
    query = (
        "SELECT judged.url, revised, relevance, relevant, because, label FROM judged "
        "JOIN pages ON pages.host = judged.host AND pages.url = judged.url WHERE revised > 0 ORDER BY pages.id"
    )
    rows = db.execute(query).fetchall()
    return {url: (row, Verdict(share, bool(yes), because, label)) for url, row, share, yes, because, label in rows}


_DECIDING = (
    "FROM judged JOIN pages ON pages.host = judged.host AND pages.url = judged.url WHERE decides AND duplicate_of = ''"
)
"""Visited pages on which the student decides. Duplicates are left out: what holds of one holds of all."""
_SPREAD = "judged.id * 2654435761 % 4294967296"
"""An order that is spread over all pages, and the same for the same ones."""


def some_samples(db: sqlite3.Connection, most: int) -> list[Sample]:
    rows = db.execute(f"SELECT sample {_DECIDING} ORDER BY {_SPREAD} LIMIT ?", (most,)).fetchall()
    return [unpacked(sample) for (sample,) in rows]


def uncertain_pages(db: sqlite3.Connection, threshold: float, most: int) -> list[tuple[str, float, Sample]]:
    """With their probabilities: the nearest to the threshold, and as many others."""
    query = f"SELECT judged.url, probability, sample {_DECIDING} ORDER BY {{}} LIMIT ?"
    near = db.execute(query.format("abs(probability - ?)"), (threshold, most)).fetchall()
    spread = db.execute(query.format(_SPREAD), (most,)).fetchall()
    found = {url: (url, probability, sample) for url, probability, sample in [*near, *spread]}
    return [(url, probability, unpacked(sample)) for url, probability, sample in found.values()]
