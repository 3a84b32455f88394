"""History of the lessons of a judge: answers per teacher, and what each lesson changed. Read from crawl.db."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass

from spoor.events import Taught
from spoor.store.marks import is_automatic, marks_since


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """Answers of one teacher, the last about each page; not those taken back. `unsaid`: the program could not say."""

    who: str
    relevant: int
    irrelevant: int
    unsaid: int


@dataclass(frozen=True, slots=True)
class TaughtSoFar:
    """Lessons in order. Both are empty if the crawl had no lesson."""

    answers: tuple[AnswerCount, ...]
    lessons: tuple[Taught, ...]


def taught_so_far(db: sqlite3.Connection) -> TaughtSoFar:
    lessons = _lessons(db)
    return TaughtSoFar(_answers(db) if lessons else (), lessons)


def _answers(db: sqlite3.Connection) -> tuple[AnswerCount, ...]:
    last = {(mark.who, mark.url): mark.relevant for mark in marks_since(db)}
    last = {(who, url): said for (who, url), said in last.items() if said is not None or is_automatic(who)}
    counts = Counter((who, relevant) for (who, _), relevant in last.items())
    teachers = dict.fromkeys(who for who, _ in last)
    return tuple(AnswerCount(who, *(counts[who, said] for said in (True, False, None))) for who in teachers)


def _lessons(db: sqlite3.Connection) -> tuple[Taught, ...]:
    rows = db.execute("SELECT at, detail FROM events WHERE kind = 'taught' ORDER BY id").fetchall()
    return tuple(Taught(at, **json.loads(detail)) for at, detail in rows)
