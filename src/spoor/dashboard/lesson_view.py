"""A judge that is taught: what it has learned so far, and the pages that it asks about."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from spoor.dashboard.page_view import Piece, marked
from spoor.dashboard.reading import Part, Reading, settings_of
from spoor.live.from_settings import begun_student
from spoor.records import Question
from spoor.settings import Config
from spoor.store.lesson_tables import has_students
from spoor.teaching.lessons import asked_urls, next_questions, student_of_version
from spoor.teaching.student import Student

AT_ONCE = 5
"""Pages asked about at once; the next ones may change once the first answers are learned."""
LONGEST = 1500
"""Characters of the main text shown."""


@dataclass(frozen=True, slots=True)
class Teaching:
    """The state of a judge that is taught. `answers` is the number of pages answered or marked, of the `questions` that
    the settings allow; `version` counts lessons; `turned` is the number of verdicts they changed in total; `surprises`
    are answers against confident verdicts, `contradictions` pages on which two teachers disagree."""

    version: int
    answers: int
    questions: int
    turned: int
    surprises: int
    contradictions: int


@dataclass(frozen=True, slots=True)
class QuestionQuery:
    """The page on which the judge is least certain comes first."""

    limit: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A page that a person may label by the action `mark`. `text` is its beginning, with the words that decided the
    verdict marked; `relevance` is that of the judge, 0 to 1."""

    url: str
    title: str
    text: tuple[Piece, ...]
    relevance: float


def teaching_of(db: sqlite3.Connection, settings: Config | None) -> Teaching | None:
    """None if the judge cannot be taught."""
    if settings is None or not has_students(db):
        return None
    taught = "SELECT detail FROM events WHERE id IN (SELECT id FROM counted.happened WHERE kind = 'taught') ORDER BY id"
    lessons = [json.loads(detail) for (detail,) in db.execute(taught)]
    last = lessons[-1] if lessons else {"version": 0, "contradictions": 0}
    turned, surprises = (sum(lesson[name] for lesson in lessons) for name in ("changed", "surprises"))
    answers = len(asked_urls(db))
    return Teaching(
        last["version"], answers, settings.teacher.questions, turned, surprises, contradictions=last["contradictions"]
    )


def questions(reading: Reading, asked: QuestionQuery) -> Part[PageQuestion]:
    """Empty if the judge cannot be taught."""
    student = _student(reading)
    found = next_questions(reading.db, student, asked.limit, lambda url: True) if student else []
    return Part(tuple(map(_shown, found)), None)


def _student(reading: Reading) -> Student | None:
    """The current judge, fitted again only after a lesson."""
    settings, db = settings_of(reading), reading.db
    if settings is None or not has_students(db):
        return None
    (version,) = db.execute("SELECT ifnull(max(version), 0) FROM students").fetchone()
    begun = reading.memory.of("begun", settings, lambda: begun_student(settings, reading.folder))
    if begun is None:
        return None
    return reading.memory.of("student", (settings, version), lambda: student_of_version(db, begun))


def _shown(question: Question) -> PageQuestion:
    words = (word.rpartition(" ")[2] for word in question.words)
    return PageQuestion(question.url, question.title, marked(question.text[:LONGEST], words), question.relevance)
