"""Active learning during a crawl: asks a teacher concurrently, retrains the judge, and revises earlier verdicts."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from spoor.crawl import Crawl
from spoor.errors import OF_STORAGE
from spoor.events import Event
from spoor.frontier.sqlite import SqliteStore
from spoor.records import Failure, Judged, Outcome, Question
from spoor.roles import Judge, Teacher
from spoor.settings import Config
from spoor.store.journal import Journal
from spoor.store.marks import Marks, PageMark
from spoor.store.model_calls import ModelCalls
from spoor.strategy import verdicts_of
from spoor.teaching.kept_pages import JudgedPage, KeptPages, versions
from spoor.teaching.lessons import (
    answered,
    asked_urls,
    is_threshold_due_in,
    judge_again,
    next_questions,
    revised_lessons,
    student_of_version,
    unlearned,
    usable,
)
from spoor.teaching.questions import BATCHES, due, has_settled, is_lesson_due
from spoor.teaching.student import Student, sample
from spoor.teaching.taught_judge import TaughtJudge
from spoor.teaching.teachers import teacher_of

AT_ONCE = 4
"""Concurrent questions to a teacher."""
PATIENCE = 1.0
"""Interval in seconds at which answers of persons are polled, if no batch wakes the loop."""
PAUSE = 30.0
"""Seconds without questions after a request to a teacher, or a lesson, failed."""
GRACE = 1.0
"""Seconds to wait for pending answers after the crawl has ended."""
_log = logging.getLogger(__name__)


@dataclass
class ActiveLearning:
    """Asks questions and runs lessons when they are due. The crawl calls `wake` after every batch. `judge` is the
    current judge. `on_lesson` is called with the version of its student after each lesson, before the commit;
    `on_error` with a fatal storage error. `questions` and `visits` are the budgets; None is unlimited."""

    db: sqlite3.Connection
    crawl: Crawl
    journal: Journal
    kept: KeptPages
    marks: Marks
    judge: TaughtJudge
    teacher: Teacher | None
    questions: int
    visits: int | None
    clock: Callable[[], float]
    note: Callable[[Event], None] = field(default=lambda event: None)
    on_lesson: Callable[[int], None] = field(default=lambda version: None)
    on_error: Callable[[Exception], None] = field(default=lambda error: None)
    _began: int = field(init=False)
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _is_idle: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _pausing_until: float = field(default=0.0, init=False)
    _said: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._began = self.journal.last

    def judged(self, outcome: Outcome) -> Outcome:
        """Judges the page with the current student, even if a worker process used an earlier version."""
        if not isinstance(outcome, Judged):
            return outcome
        page, student, others = outcome.page, self.judge.student, self.judge.others(outcome.page)
        (verdict,) = verdicts_of(self.judge.judge, [page])
        kept = sample(page)
        probability = float(student.model.probabilities([kept])[0])
        facts = (student.version, probability, self.judge.decides(others), others, kept)
        self.kept.keep(JudgedPage(page.url, *facts, page.title, page.best_text))
        return replace(outcome, verdict=verdict)

    def wake(self) -> None:
        self._is_idle.clear()
        self._news.set()

    async def caught_up(self) -> None:
        """Returns when all questions and lessons that are due now are done."""
        self.wake()
        await self._is_idle.wait()

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Runs questions and lessons in a background task. At exit, waits up to `GRACE` seconds for pending answers:
        they may have been paid for."""
        task = asyncio.create_task(self._run())
        try:
            yield
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self.caught_up()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._news.wait()
            self._news.clear()
            try:
                while await self._step():
                    pass
            except OF_STORAGE as error:
                self.on_error(error)
                return
            except Exception:
                _log.exception("the judge could not be taught; it continues unchanged, and will be taught again later")
                await asyncio.sleep(PAUSE)
            if not self._news.is_set():
                self._is_idle.set()

    async def _step(self) -> bool:
        """Returns whether there was anything to do."""
        asked = 0 if self.teacher is None else await self._ask(self.teacher)
        is_due = self._is_lesson_due()
        if is_due:
            await self._learn()
        return asked > 0 or is_due

    async def _ask(self, teacher: Teacher) -> int:
        """Returns the number of questions that were due."""
        questions = self._due_questions(teacher)
        for first in range(0, len(questions), AT_ONCE):
            some = questions[first : first + AT_ONCE]
            if self.clock() >= self._pausing_until and not teacher.spent:
                await asyncio.gather(*(self._ask_about(teacher, question) for question in some))
        return len(questions)

    def _due_questions(self, teacher: Teacher) -> Sequence[Question]:
        """A batch of questions large enough for a lesson, or none if fewer are due."""
        asked = len(asked_urls(self.db))
        if self.clock() < self._pausing_until or self._is_over(teacher, asked):
            return ()
        now = due(self.crawl.frontier.visits, self.questions, self.visits) - asked
        batch = max(1, self.questions // BATCHES)
        if now < min(batch, self.questions - asked):
            return ()
        return next_questions(self.db, self.judge.student, min(now, batch), teacher.may_know)

    def _is_over(self, teacher: Teacher, asked: int) -> bool:
        """Whether questions end. A few answers may agree with a judge that is wrong elsewhere, so half of the
        questions are always asked."""
        settled = 2 * asked >= self.questions and has_settled([version.changed for version in versions(self.db)])
        reason = teacher.spent or ("the judge does not change any more" if settled else "")
        if reason and reason not in self._said:
            _log.info("%s is not asked any more: %s", teacher.who, reason)
            self._said.add(reason)
        return bool(reason)

    async def _ask_about(self, teacher: Teacher, question: Question) -> None:
        answer = await teacher.answer(question)
        if isinstance(answer, Failure):
            self._pausing_until = self.clock() + PAUSE
            return
        self.marks.add(question.url, answer, teacher.who, self.clock())
        self.crawl.frontier.commit()

    def _is_lesson_due(self) -> bool:
        known, new = len(self.judge.student.answers), unlearned(self.db, usable(self.db))
        return is_lesson_due(known + new, known, self.questions) or is_threshold_due_in(self.db)

    def finish(self) -> bool:
        """Learns from the remaining answers, however few. Returns whether there were any."""
        self.crawl.frontier.commit()
        is_left = unlearned(self.db, usable(self.db)) > 0
        if is_left:
            marks = usable(self.db)
            self._take(self.judge.student.taught(answered(self.db, marks)), marks)
        return is_left

    async def _learn(self) -> None:
        """Trains in a thread, so that the crawl does not wait."""
        marks = usable(self.db)
        student = await asyncio.to_thread(self.judge.student.taught, answered(self.db, marks))
        self._take(student, marks)

    def _take(self, student: Student, marks: Sequence[PageMark]) -> None:
        """Replaces the student, in one transaction with its verdicts and the priorities of links."""
        self.crawl.frontier.commit()
        taught = judge_again(self.db, self.judge, student, marks, self.clock(), (self._began, self.journal.last))
        self.judge = taught.judge
        self.kept.learned(taught.version, taught.revisions)
        self.note(taught.event)
        self.on_lesson(taught.version.version)
        lessons = (lesson for _, lesson in revised_lessons(self.db, self.crawl.strategy))
        self.crawl.revise(taught.judge.judge, taught.changed, lessons)
        self.crawl.frontier.commit()


def resumed_judge(judge: Judge, db: sqlite3.Connection) -> TaughtJudge | None:
    """The judge as of its last lesson; None if it contains no student."""
    taught = TaughtJudge.of(judge)
    if taught is None:
        return None
    KeptPages.create(db)
    Marks.create(db)
    return taught.with_student(student_of_version(db, taught.student))


def learning_of(
    judge: TaughtJudge,
    crawl: Crawl,
    journal: Journal,
    store: SqliteStore,
    settings: Config,
    clock: Callable[[], float],
) -> ActiveLearning:
    kept, marks, db = KeptPages(), Marks(), store.connection
    calls = ModelCalls.create(db, crawl.frontier.commit)
    for writer in (kept, marks, calls):
        store.write_along(writer.write)
    teacher = teacher_of(settings.teacher, settings.target.about, calls)
    budgets = (settings.teacher.questions, settings.crawl.max_pages)
    return ActiveLearning(db, crawl, journal, kept, marks, judge, teacher, *budgets, clock)
