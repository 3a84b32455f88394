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
"""Pages that are asked about: those after them may be others, once the first answers are learned."""
LONGEST = 1500
"""Characters of the main text that are shown."""


@dataclass(frozen=True, slots=True)
class Teaching:
    """What a judge has learned. `answers` are pages that somebody was asked about or marked, of the `questions` that
    the settings allow; `version` counts lessons, which turned so many verdicts all together; `surprises` are answers
    against what it was sure of, `contradictions` pages on which two teachers disagree."""

    version: int
    answers: int
    questions: int
    turned: int
    surprises: int
    contradictions: int


@dataclass(frozen=True, slots=True)
class QuestionQuery:
    """The page of which the judge is least sure comes first."""

    limit: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A page of which a person may say whether it is relevant, by the action `mark`. `text` is its beginning, with the
    words marked by which the judge decided; `relevance` is what the judge says, 0 to 1."""

    url: str
    title: str
    text: tuple[Piece, ...]
    relevance: float


def teaching_of(db: sqlite3.Connection, settings: Config | None) -> Teaching | None:
    """None: the judge cannot be taught."""
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
    """None where the judge cannot be taught."""
    student = _student(reading)
    found = next_questions(reading.db, student, asked.limit, lambda url: True) if student else []
    return Part(tuple(map(_shown, found)), None)


def _student(reading: Reading) -> Student | None:
    """As it judges now. Fitted anew only after a lesson."""
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
