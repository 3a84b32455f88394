"""A lesson retrains the student on all marks, and judges all stored pages again. Works on tables of crawl.db."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from random import Random

from spoor.crawling.revision import revised
from spoor.events import Taught
from spoor.records import Lesson, Question, Verdict
from spoor.store.journal import numbered_lessons
from spoor.store.marks import PageMark, is_automatic, marks_since, said_by_persons
from spoor.strategy import Strategy
from spoor.teaching.kept_pages import (
    Revision,
    StoredPage,
    Version,
    excerpt_of,
    revised_pages,
    sample_of_page,
    some_samples,
    stored_pages,
    uncertain_pages,
    versions,
)
from spoor.teaching.questions import SURE, THRESHOLD_AFTER, Candidate, chosen, is_threshold_due
from spoor.teaching.student import Answer, Answered, Student
from spoor.teaching.taught_judge import TaughtJudge

CHANGED = 0.05
"""Smallest change of relevance that revises a verdict: strategies do not relearn for smaller ones."""
SEEN = 1_000
"""Pages from whose scores, with the answers, the threshold is estimated."""
CANDIDATES = 200
"""Uncertain pages from which questions are selected; as many others are added."""


def last_marks(db: sqlite3.Connection) -> dict[str, PageMark]:
    """The last mark of each page, by URL. `relevant` is None if it was withdrawn, or if a program could not say."""
    return {mark.url: mark for mark in marks_since(db)}


def asked_urls(db: sqlite3.Connection) -> set[str]:
    """URLs about which no more questions are asked: answered, or asked of a program that could not say."""
    marks = last_marks(db).values()
    return {mark.url for mark in marks if mark.relevant is not None or is_automatic(mark.who)}


def usable(db: sqlite3.Connection) -> list[PageMark]:
    """Marks to learn from: the last of each page, not withdrawn, of pages that were judged."""
    judged = {url for (url,) in db.execute("SELECT url FROM judged WHERE url IN (SELECT url FROM marks)")}
    return [mark for mark in last_marks(db).values() if mark.relevant is not None and mark.url in judged]


def unlearned(db: sqlite3.Connection, marks: Sequence[PageMark]) -> int:
    """Number of marks that the student has not learned, or that it learned and that were withdrawn since."""
    known = versions(db)
    return len({mark.id for mark in marks} ^ set(known[-1].marks if known else ()))


def is_threshold_due_in(db: sqlite3.Connection) -> bool:
    """Whether enough pages were added since the last lesson to estimate the threshold again."""
    known = versions(db)
    return is_threshold_due(_pages_until(db, sys.maxsize), _pages_until(db, known[-1].row if known else 0))


def _pages_until(db: sqlite3.Connection, row: int) -> int:
    """Number of pages up to a row of the journal, counted up to the last entry of `THRESHOLD_AFTER`."""
    some = "SELECT 1 FROM pages WHERE id <= ? LIMIT ?"
    return int(db.execute(f"SELECT count(*) FROM ({some})", (row, THRESHOLD_AFTER[-1])).fetchone()[0])


def student_of_version(db: sqlite3.Connection, student: Student) -> Student:
    """Restores the last stored version, from a student of version 0."""
    known = versions(db)
    if not known:
        return student
    last = set(known[-1].marks)
    marks = [mark for mark in marks_since(db) if mark.id in last]
    taught = replace(student, version=known[-1].version - 1).taught(answered(db, marks))
    return taught.shifted(known[-1].shift)


def answered(db: sqlite3.Connection, marks: Sequence[PageMark]) -> list[Answered]:
    found = ((mark, sample_of_page(db, mark.url)) for mark in marks)
    return [
        Answered(Answer(mark.url, mark.relevant is True, mark.who, mark.at), sample)
        for mark, sample in found
        if sample is not None
    ]


@dataclass(frozen=True)
class Retrained:
    """The changes of a lesson. `changed` are the revised verdicts, by URL."""

    judge: TaughtJudge
    version: Version
    revisions: Sequence[Revision]
    changed: dict[str, Verdict]
    event: Taught


def judge_again(
    db: sqlite3.Connection,
    judge: TaughtJudge,
    student: Student,
    marks: Sequence[PageMark],
    now: float,
    rows: tuple[int, int],
) -> Retrained:
    """Judges all stored pages again with a `student` trained on these marks, and returns the changes; writes nothing.
    `rows` are the last rows of the journal before this run and now."""
    shift = student.shift_by(some_samples(db, SEEN))
    before, taught = judge.student, judge.with_student(student.shifted(shift))
    revisions: list[Revision] = []
    changed: dict[str, Verdict] = {}
    turned = gain = 0
    said = said_by_persons(db)  # Also of other judges' pages, and while the student was trained.
    for pages in stored_pages(db):
        for page, (own, judged) in zip(pages, _judged(taught, pages), strict=True):
            verdict = said.get(page.url, judged)
            turned += verdict.relevant != page.verdict.relevant
            gain += (verdict.relevant - page.verdict.relevant) * (page.row > rows[0])
            if _differs(verdict, page.verdict) or _is_confirmed(taught.student, page, verdict):
                changed[page.url] = verdict
            revisions.append(Revision(page.url, page.host, own.relevance, changed.get(page.url)))
    ids = tuple(mark.id for mark in marks)
    version = Version(taught.student.version, now, ids, turned / max(1, len(revisions)), rows[1], shift)
    surprises, contradictions = _surprises(before, taught.student), _contradictions(db)
    event = Taught(now, version.version, len(ids), turned, gain, surprises, contradictions)
    return Retrained(taught, version, revisions, changed, event)


def _judged(judge: TaughtJudge, pages: Sequence[StoredPage]) -> Iterator[tuple[Verdict, Verdict]]:
    """For each page, the verdict of the student and the combined verdict of all judges."""
    own = judge.student.revised([page.url for page in pages], [page.sample for page in pages])
    return ((one, judge.verdict(one, page.others)) for page, one in zip(pages, own, strict=True))


def _differs(one: Verdict, other: Verdict) -> bool:
    return one.relevant != other.relevant or abs(one.relevance - other.relevance) >= CHANGED


def _is_confirmed(student: Student, page: StoredPage, verdict: Verdict) -> bool:
    """Whether the page has an answer that its stored verdict does not mention yet."""
    return page.url in student.answers and verdict.because != page.verdict.because


def _surprises(before: Student, after: Student) -> int:
    """Number of new answers that contradict a certain verdict of the earlier student."""
    new = [one for url, one in after.answers.items() if url not in before.answers]
    margins = before.model.probabilities([one.sample for one in new]) - before.model.threshold
    return sum(
        abs(margin) >= SURE and (margin >= 0.0) != one.answer.relevant
        for margin, one in zip(margins.tolist(), new, strict=True)
    )


def _contradictions(db: sqlite3.Connection) -> int:
    """Number of pages on which teachers disagree; the last mark of each teacher counts."""
    said: dict[str, dict[str, bool | None]] = {}
    for mark in marks_since(db):
        said.setdefault(mark.url, {})[mark.who] = mark.relevant
    return sum({True, False} <= set(answers.values()) for answers in said.values())


def revised_lessons(db: sqlite3.Connection, strategy: Strategy, after: int = 0) -> Iterator[tuple[int, Lesson]]:
    """Yields the row number and the lesson of each row of the journal after `after`, with the verdicts as last
    revised."""
    pages = revised_pages(db)
    if not pages:
        yield from numbered_lessons(db, after)
        return
    for number, lesson in numbered_lessons(db, after):
        row, verdict = pages.get(lesson.visit.found_on, (0, None))
        known = {lesson.visit.found_on: verdict} if verdict is not None and number <= row else {}
        yield from ((number, one) for one in revised([lesson], known, strategy))


def next_questions(
    db: sqlite3.Connection,
    student: Student,
    most: int,
    may_know: Callable[[str], bool],
    done: Set[str] = frozenset(),
) -> list[Question]:
    """Selects the pages to ask about now; deterministic for a given database. `done` are URLs already asked about that
    are not yet in the database."""
    asked, threshold = asked_urls(db) | done, student.model.threshold
    found = uncertain_pages(db, threshold, CANDIDATES + len(asked))
    candidates = [
        Candidate(url, probability - threshold, sample)
        for url, probability, sample in found
        if url not in asked and may_know(url) and not student.is_example(sample)
    ]
    return [question(db, student, url) for url in chosen(candidates, most, asked, Random(len(asked)))]


def question(db: sqlite3.Connection, student: Student, url: str) -> Question:
    title, text = excerpt_of(db, url)
    opinion = student.model.opinion(title, text)
    return Question(url, title, text, (*opinion.speaks_for, *opinion.against), opinion.probability)
