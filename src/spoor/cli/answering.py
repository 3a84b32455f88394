"""`spoor ask`: a person teaches the judge of a crawl, running or not, page by page."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import sqlite3
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from spoor import registry
from spoor.actions import Mark
from spoor.cli.crawling import taught_line
from spoor.cli.terminal import announced, say
from spoor.compiled import prepare
from spoor.errors import UsageError
from spoor.events import Event, Taught
from spoor.live.from_settings import begun_student, kernels_for
from spoor.live.inputs import check_inputs
from spoor.live.session import open_session
from spoor.parse.words import folded
from spoor.records import Failure, Question
from spoor.report.showing import count_of, plain
from spoor.settings import Config
from spoor.steering.submitting import submit
from spoor.store.crawl_folder import CrawlFolder, is_crawled_into, open_for_crawling, open_for_reading
from spoor.store.journal import open_to_read
from spoor.store.lesson_tables import has_students
from spoor.teaching.lessons import asked_urls, next_questions, student_of_version
from spoor.teaching.student import Student
from spoor.trust import admit

MOST_SHOWN = 1_500
"""Maximum number of characters of the main text."""
KEYS = "y yes, n no, s skip, u undo, q quit"
STOPPED = "you stopped"
_BOLD, _MARKED, _USUAL = "\033[1m", "\033[7m", "\033[0m"
_WORD = re.compile(r"\w+")


@dataclass
class Person:
    """A teacher at a terminal. `undo` retracts the last answer and returns a message; "" if there is none."""

    read: Callable[[str], str] = input
    write: Callable[[str], None] = print
    undo: Callable[[], str] = lambda: ""
    colours: bool = False
    who: str = "person"
    spent: str = field(default="", init=False)

    def may_know(self, url: str) -> bool:
        return True

    async def answer(self, question: Question) -> bool | Failure | None:
        self.write(shown(question, self.colours))
        while not self.spent:
            match self._key():
                case "y" | "yes":
                    return True
                case "n" | "no":
                    return False
                case "s" | "skip" | "?":
                    return None
                case "q" | "quit":
                    self.spent = STOPPED
                case "u" | "undo":
                    self.write(self.undo() or "there is no answer to undo")
                case _:
                    self.write(KEYS)
        return Failure(self.spent)

    def _key(self) -> str:
        try:
            return self.read("relevant? [y/n/s/u/q] ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            return "q"


def shown(question: Question, colours: bool) -> str:
    """The page, with the words that contributed most to the verdict highlighted."""
    width = min(100, shutil.get_terminal_size().columns)
    title, url = plain(question.title, 200) or "without a title", plain(question.url)
    words = frozenset(folded(word.rpartition(" ")[2]) for word in question.words)
    lines = [line for line in question.text[:MOST_SHOWN].splitlines() if line.strip()]
    text = [marked(part, words, colours) for line in lines for part in textwrap.wrap(plain(line, MOST_SHOWN), width)]
    sure = f"the judge says {'yes' if question.relevance >= 0.5 else 'no'}, probability {question.relevance:.2f}"
    return "\n".join(["", f"{_BOLD}{title}{_USUAL}" if colours else title, url, "", *text, "", sure])


def marked(text: str, words: frozenset[str], colours: bool) -> str:
    before, after = (_MARKED, _USUAL) if colours else ("*", "*")
    return _WORD.sub(lambda one: f"{before}{one[0]}{after}" if folded(one[0]) in words else one[0], text)


@dataclass
class Sitting:
    """One session of one person with one crawl. Answers given here count at once, though the crawl may apply them a
    second later."""

    folder: CrawlFolder
    settings: Config
    begun: Student
    db: sqlite3.Connection
    answered: list[str] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)

    async def ask(self, person: Person, most: int | None) -> None:
        while not person.spent and (most is None or len(self.answered) < most):
            question = self._next()
            if question is None:
                say("there is no page to ask about now; try again when the crawl has fetched more")
                return
            person.write(f"\n— {len(self.answered)} answered, {self._left()} of {self._budget} questions left —")
            self._take(question.url, await person.answer(question))

    def undo(self) -> str:
        if not self.answered:
            return ""
        url = self.answered.pop()
        submit(self.folder, Mark(url, None))
        return f"taken back: {plain(url)}"

    def _take(self, url: str, answer: bool | Failure | None) -> None:
        if answer is None:
            self.skipped.add(url)
        elif isinstance(answer, bool):
            submit(self.folder, Mark(url, answer))
            self.answered.append(url)

    def _next(self) -> Question | None:
        student = student_of_version(self.db, self.begun)
        done = {*self.answered, *self.skipped}
        return next(iter(next_questions(self.db, student, 1, lambda url: True, done)), None)

    @property
    def _budget(self) -> int:
        return self.settings.teacher.questions

    def _left(self) -> int:
        return max(0, self._budget - len(asked_urls(self.db) | set(self.answered)))


def run_ask(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    if len(folder.parts) > 1:
        raise UsageError(f"{folder.path} is a crawl of several shards, each with a judge of its own; give one of them")
    settings = registry.loads(folder.settings() or "", folder.path)
    admit(settings, folder.path)
    check_inputs(settings, folder)
    with closing(open_to_read(folder.database)) as db:
        sitting = Sitting(folder, settings, _student(folder, settings, db), db)
        person = Person(undo=sitting.undo, colours=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
        asyncio.run(sitting.ask(person, arguments.questions))
    say(f"{count_of(len(sitting.answered), 'answer')}; {_learned(folder, settings)}")
    return 0


def _student(folder: CrawlFolder, settings: Config, db: sqlite3.Connection) -> Student:
    student = begun_student(settings, folder)
    if student is None or not has_students(db):
        raise UsageError(f"the judge of {folder.path} cannot be taught; crawl with [target] like or about")
    return student


def _learned(folder: CrawlFolder, settings: Config) -> str:
    """A running crawl learns by itself; otherwise the judge is trained now."""
    if is_crawled_into(folder):
        return "the running crawl learns from them"
    with open_for_crawling(folder.path) as opened:
        prepare(kernels_for(settings), announced)
        lessons = [event for event in asyncio.run(_learn(opened, settings)) if isinstance(event, Taught)]
    if not lessons:
        return "there is nothing new to learn"
    return taught_line(lessons[-1])


async def _learn(folder: CrawlFolder, settings: Config) -> list[Event]:
    async with open_session(folder, settings) as session:
        return await session.learn()
