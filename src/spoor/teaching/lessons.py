"""A lesson: a student learns from all marks, and judges everything again that it has judged. By tables of crawl.db."""

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
from spoor.store.marks import PageMark, marks_since
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
from spoor.teaching.teachers import is_automatic

CHANGED = 0.05
"""A relevance that moves by less leaves a verdict as it was: strategies need not learn anew from every hair."""
SEEN = 1_000
"""Pages by whose scores the threshold is found, together with answers."""
CANDIDATES = 200
"""Pages among which those to ask about are chosen, and as many that are not uncertain."""


def last_marks(db: sqlite3.Connection) -> dict[str, PageMark]:
    """What was said of each page last, by URL; `relevant` None: taken back, or that a program could not say."""
    return {mark.url: mark for mark in marks_since(db)}


def asked_urls(db: sqlite3.Connection) -> set[str]:
    """Pages about which nobody is asked any more."""
    marks = last_marks(db).values()
    return {mark.url for mark in marks if mark.relevant is not None or is_automatic(mark.who)}


def usable(db: sqlite3.Connection) -> list[PageMark]:
    """Marks from which can be learned: of pages that were judged."""
    judged = {url for (url,) in db.execute("SELECT url FROM judged WHERE url IN (SELECT url FROM marks)")}
    return [mark for mark in last_marks(db).values() if mark.relevant is not None and mark.url in judged]


def unlearned(db: sqlite3.Connection, marks: Sequence[PageMark]) -> int:
    """How many of them the student does not know, or knows though they were taken back."""
    known = versions(db)
    return len({mark.id for mark in marks} ^ set(known[-1].marks if known else ()))


def is_threshold_due_in(db: sqlite3.Connection) -> bool:
    """Whether many more pages have come since the last lesson."""
    known = versions(db)
    return is_threshold_due(_pages_until(db, sys.maxsize), _pages_until(db, known[-1].row if known else 0))


def _pages_until(db: sqlite3.Connection, row: int) -> int:
    """How many came up to a row of the journal; no more are counted than make a difference."""
    some = "SELECT 1 FROM pages WHERE id <= ? LIMIT ?"
    return int(db.execute(f"SELECT count(*) FROM ({some})", (row, THRESHOLD_AFTER[-1])).fetchone()[0])


def student_of_version(db: sqlite3.Connection, student: Student) -> Student:
    """A student that has just begun, brought to the last version that there was."""
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
    """What a lesson changes. `changed` are verdicts that are others now, by URL."""

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
    """What follows if a `student` that was taught by these marks takes the place of the one in the judge; writes
    nothing. `rows` are the last ones of the journal, before this run and now."""
    shift = student.shift_by(some_samples(db, SEEN))
    before, taught = judge.student, judge.with_student(student.shifted(shift))
    revisions: list[Revision] = []
    changed: dict[str, Verdict] = {}
    turned = gain = 0
    for pages in stored_pages(db):
        for page, (own, verdict) in zip(pages, _judged(taught, pages), strict=True):
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
    """What the student says of each page, and what all say together."""
    own = judge.student.revised([page.url for page in pages], [page.sample for page in pages])
    return ((one, judge.verdict(one, page.others)) for page, one in zip(pages, own, strict=True))


def _differs(one: Verdict, other: Verdict) -> bool:
    return one.relevant != other.relevant or abs(one.relevance - other.relevance) >= CHANGED


def _is_confirmed(student: Student, page: StoredPage, verdict: Verdict) -> bool:
    """Whether somebody said so, and the verdict does not tell yet."""
    return page.url in student.answers and verdict.because != page.verdict.because


def _surprises(before: Student, after: Student) -> int:
    """New answers that contradict what was sure."""
    new = [one for url, one in after.answers.items() if url not in before.answers]
    margins = before.model.probabilities([one.sample for one in new]) - before.model.threshold
    return sum(
        abs(margin) >= SURE and (margin >= 0.0) != one.answer.relevant
        for margin, one in zip(margins.tolist(), new, strict=True)
    )


def _contradictions(db: sqlite3.Connection) -> int:
    """Pages of which two teachers say the opposite; of each teacher the last word counts."""
    said: dict[str, dict[str, bool | None]] = {}
    for mark in marks_since(db):
        said.setdefault(mark.url, {})[mark.who] = mark.relevant
    return sum({True, False} <= set(answers.values()) for answers in said.values())


def revised_lessons(db: sqlite3.Connection, strategy: Strategy, after: int = 0) -> Iterator[tuple[int, Lesson]]:
    """All that a crawl learned from after a row of the journal, each with its number, as it counts since the last
    revision of its verdicts."""
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
    """The pages to ask about now; the same for the same database. `done` were asked about, though the database does not
    say so yet."""
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
