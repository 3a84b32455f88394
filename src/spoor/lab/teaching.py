"""Active learning in simulated crawls, with the ground truth as teacher: measures the gain of answers and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random

import numpy as np

from spoor import registry
from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.classifiers import PRIOR_WORDS
from spoor.judging.combined import Remembered, Truth
from spoor.judging.held_out import accuracy, f1
from spoor.judging.regression import Sample
from spoor.lab.measures import measure
from spoor.lab.runs import as_seen, host_rules, prepared_task, score, visit_by_visit
from spoor.lab.simulated import simulate
from spoor.lab.task import PreparedTask, Task
from spoor.lab.web import TEXTS, Web
from spoor.lab.worlds import RecordedWorld
from spoor.pricing import Limits
from spoor.records import Lesson, Miss, Page, Sighting, TargetPrior, Verdict
from spoor.roles import Judge
from spoor.teaching.beginning import beginner
from spoor.teaching.presumed import telling_words
from spoor.teaching.questions import Candidate, chosen, due, is_lesson_due, is_threshold_due
from spoor.teaching.student import Answer, Answered, Student, sample

EXAMPLES = 3
"""Number of relevant pages from which a crawl starts."""


@dataclass(frozen=True)
class Teaching:
    """Parameters of a taught crawl. `about`: the words of the label are the sentence. `wrong` is the share of wrong
    answers. `perfect`: the ground truth is the judge, for comparison."""

    questions: int = 0
    about: bool = False
    wrong: float = 0.0
    perfect: bool = False


@dataclass(frozen=True)
class Taught:
    """Result of a crawl: its normalised area, F1 of the final verdicts on all visited pages, and the number of answers
    and of positive ones."""

    area: float
    f1: float
    answers: int
    positive: int


def from_start(task: Task, start: int) -> Task:
    """The task with its own seeds (`start` 0), or with random relevant pages, deterministic per start. Draws again
    until at least half as many relevant pages can be reached as from its own seeds: some sites are isolated."""
    if start == 0:
        return task
    prepared = prepared_task(task)
    relevant = np.flatnonzero(prepared.relevant).tolist()
    chance = Random(f"{task.web.name} {task.target} {start}")
    while True:
        seeds = tuple(prepared.web.urls[number] for number in chance.sample(relevant, EXAMPLES))
        drawn = replace(task, seeds=seeds)
        if 2 * PreparedTask(drawn).yardstick.relevant >= prepared.yardstick.relevant:
            return drawn


def taught(task: Task, teaching: Teaching) -> Taught:
    """Runs one crawl with the strategy `learned`."""
    prepared = prepared_task(task)
    if teaching.perfect:
        return Taught(_share(prepared, _perfect_run(prepared, teaching)), 1.0, 0, 0)
    lessons = Lessons(prepared, teaching)
    area = _share(prepared, lessons.events())
    answers = lessons.answers.values()
    return Taught(area, lessons.f1(), len(answers), sum(one.answer.relevant for one in answers))


def _share(prepared: PreparedTask, events: Iterable[Event]) -> float:
    """The normalised area: relative to that of the oracle."""
    run = visit_by_visit(events, prepared.world(with_content=False))
    return measure("taught", run, prepared.yardstick).area / _oracle_area(prepared.task)


@lru_cache(maxsize=256)
def _oracle_area(task: Task) -> float:
    return score(task, "oracle").area


def _perfect_run(prepared: PreparedTask, teaching: Teaching) -> Iterator[Event]:
    truth = _truth(prepared)
    words = telling_words([sentence(prepared.task.target)], PRIOR_WORDS) if teaching.about else ()
    crawl = _crawl(prepared, _Primed(truth, TargetPrior(words=tuple(words))), truth, MemoryStore())
    return _events(prepared, crawl, prepared.world(with_content=True))


def _events(prepared: PreparedTask, crawl: Crawl, world: RecordedWorld) -> Iterator[Event]:
    conditions = prepared.task.conditions
    connections = 1 if conditions is None else conditions.connections
    return simulate(crawl, as_seen(prepared, world, crawl.strategy, conditions), connections)


def sentence(target: str) -> str:
    """The last part of a label, in words: African Geography for subject.Geography.African_Geography."""
    return re.split("[.=]", target)[-1].replace("_", " ")


def _truth(prepared: PreparedTask) -> Truth:
    return Truth(prepared.task.target, prepared.world(with_content=False).truth)


@dataclass(frozen=True)
class _Primed:
    """Wraps a judge and replaces its prior."""

    of: Judge
    target_prior: TargetPrior

    @property
    def reads_content(self) -> bool:
        return self.of.reads_content

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return self.of.judge(pages)


def _crawl(prepared: PreparedTask, primed: Judge, judge: Judge, store: MemoryStore) -> Crawl:
    strategy = replace(registry.strategy("learned", primed), judge=judge)
    limits = Limits(visits=prepared.yardstick.budget)
    crawl = Crawl(strategy, Frontier(store, host_rules(prepared.task.conditions, limits)), limits)
    crawl.begin(prepared.web.urls[number] for number in prepared.seeds)
    return crawl


@lru_cache(maxsize=2)
def samples_of(web: Path) -> tuple[Sample, ...]:
    """Samples of all pages of a web, by page number."""
    opened = Web.open(web)
    texts = (dict(zip(TEXTS, opened.texts[number] or (), strict=False)) for number in range(opened.pages))
    return tuple(sample(Page("", **known)) for known in texts)


@dataclass
class Lessons:
    """A simulated crawl with its student and lessons. `store` is that of the frontier; `visited` has the current
    verdicts, by URL."""

    prepared: PreparedTask
    teaching: Teaching
    answers: dict[str, Answered] = field(default_factory=dict, init=False)
    student: Student = field(init=False)
    crawl: Crawl = field(init=False)
    store: MemoryStore = field(default_factory=MemoryStore, init=False)
    visited: dict[str, Verdict] = field(default_factory=dict, init=False)
    _asked: list[str] = field(default_factory=list, init=False)
    _learned: list[Lesson] = field(default_factory=list, init=False)
    _seen: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        pages = self.prepared.pages(np.array(self.prepared.seeds))
        about = sentence(self.prepared.task.target) if self.teaching.about else ""
        self._samples = samples_of(self.prepared.task.web)
        self._world = self.prepared.world(with_content=True)
        self.student = beginner(pages, about)
        self.crawl = _crawl(self.prepared, self.student, self._judge(), self.store)

    def events(self) -> Iterator[Event]:
        for event in _events(self.prepared, self.crawl, self._world):
            if (lesson := lesson_of(event)) is not None:
                self._learned.append(lesson)
            if isinstance(event, Visited):
                self.visited[event.visit.url] = event.verdict
                self._ask()
            yield event

    def f1(self) -> float:
        truth = np.array([self._world.truth(url) for url in self.visited])
        return f1(accuracy(np.array([verdict.relevant for verdict in self.visited.values()]), truth))

    def _ask(self) -> None:
        """Asks the questions that are due, once there are enough for a lesson."""
        asked, questions = len(self._asked), self.teaching.questions
        now = due(len(self.visited), questions, self.prepared.yardstick.budget)
        if is_lesson_due(now, asked, questions):
            self.put(now - asked)
            self.teach()
        elif is_threshold_due(len(self.visited), self._seen):
            self.teach()

    def put(self, most: int) -> None:
        """Asks up to `most` questions; the answers are immediate."""
        chance = Random(len(self._asked))
        for url in chosen(self._candidates(), most, self._asked, chance):
            self._asked.append(url)
            self.answers[url] = Answered(self._answer(url, chance), self._sample(url))

    def _candidates(self) -> list[Candidate]:
        threshold = self.student.model.threshold
        return [
            Candidate(url, verdict.relevance - threshold, self._sample(url))
            for url, verdict in self.visited.items()
            if url not in self.answers and not self.student.is_example(self._sample(url))
        ]

    def _answer(self, url: str, chance: Random) -> Answer:
        return Answer(url, self._world.truth(url) != (chance.random() < self.teaching.wrong), "truth")

    def teach(self) -> None:
        """A lesson: retrains the student on all answers, and revises the verdicts on visited pages."""
        urls = list(self.visited)
        student, self._seen = self.student.taught(list(self.answers.values())), len(urls)
        self.student = student.shifted(student.shift_by([self._sample(url) for url in urls]))
        now = dict(zip(urls, self.student.revised(urls, [self._sample(url) for url in urls]), strict=True))
        changed = {url: verdict for url, verdict in now.items() if not _same(verdict, self.visited[url])}
        self.visited = now
        self.crawl.revise(self._judge(), changed, list(self._learned))

    def _judge(self) -> Judge:
        """The student as a judge, with the probabilities of all pages of the web computed in advance."""
        student, number = self.student, self._world.number
        chances = student.model.probabilities(self._samples)

        def verdict_of(url: str) -> Verdict:
            page = number(url)
            assert page is not None, "only pages of the web are judged"
            return student.with_probability(url, float(chances[page]))

        return Remembered(student.name, verdict_of)

    def _sample(self, url: str) -> Sample:
        number = self._world.number(url)
        assert number is not None
        return self._samples[number]


def _same(one: Verdict, other: Verdict) -> bool:
    return (one.relevance, one.relevant) == (other.relevance, other.relevant)


def lesson_of(event: Event) -> Lesson | None:
    """The lesson of a strategy from an event, for relearning; None if there is none."""
    match event:
        case Visited(visit=visit, status=status, verdict=verdict):
            return Sighting(visit, Page(visit.url, status), verdict, None)
        case Redirected(visit=visit, because=because) if because:
            return Miss(visit, because)
        case Failed(visit=visit, reason=reason, excused=False):
            return Miss(visit, reason)
    return None
