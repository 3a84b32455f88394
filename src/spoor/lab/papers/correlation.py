"""Qin, Peng (2014): pages of one field by correlation analysis, figures beside ours.

The conditions are frozen: they were fixed before seeds 301-305 were first run, and those seeds are for that run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.crawl import Crawl
from spoor.errors import BadInput
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.similar_words import learned
from spoor.judging.topic_judges import VectorSpaceModel
from spoor.lab.measures import Run, Yardstick, measure
from spoor.lab.papers.experiment import Condition, Draw, OnceJudged, Setup, draw, spread, within
from spoor.lab.runs import visit_by_visit
from spoor.lab.simulated import simulate
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.ordering.admissions import AllOf, NoNoise
from spoor.ordering.scope import Scope
from spoor.ordering.simple import Arrival
from spoor.parse.words import Words
from spoor.records import Page, Visit
from spoor.registry import strategy
from spoor.roles import Judge
from spoor.strategy import Strategy

# Qin, Peng (2014): pages of one field by correlation analysis, from twenty seeds, three links deep.


SEEDS = tuple(range(301, 306))
PAGES = 5_000
"""Of a generated web, where no recorded one is at hand."""
DEPTH = 3
TERMS = 300
"""Words of the topic."""
ORDERS = ("two levels", "graded", "first in, first out")


@dataclass(frozen=True)
class Ground:
    """Where it is done: the pages of `web` labelled `field` are the field."""

    web: Path
    field: str


@dataclass(frozen=True)
class Collected:
    """Pages that the crawler took for relevant, those of them that are, and those that it could have found."""

    taken: float
    right: float
    relevant: float

    @property
    def recall(self) -> float:
        return self.right / self.relevant

    @property
    def accuracy(self) -> float:
        return self.right / self.taken if self.taken else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.taken + self.relevant)


PUBLISHED = Collected(1147, 868, 944)
"""Its recall sets our threshold: so many of the field's pages are to be above it."""


@dataclass(frozen=True)
class Outcome:
    """One draw: what was collected, `scope` pages being within reach, with words as they are and with similar words
    alike; and the area under the harvest curve by the order of the queue."""

    scope: int
    plain: Collected
    semantic: Collected
    areas: dict[str, float]


@dataclass(frozen=True)
class Experiment:
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]

    def mean(self, figure: Callable[[Outcome], float]) -> float:
        return sum(map(figure, self.outcomes)) / len(self.outcomes)


def reproduce(setup: Setup, grounds: Sequence[Ground]) -> Experiment:
    """On the ground of each seed."""
    jobs = [(outcome, ground, seed) for ground, seed in zip(grounds, setup.seeds, strict=True)]
    return Experiment(tuple(setup.seeds), tuple(setup.run("draws crawled", jobs)))


def outcome(ground: Ground, seed: int) -> Outcome:
    web = Web.open(ground.web)
    if not web.has_content:
        raise BadInput(f"the web {web.name} has no texts; build it from WARC files, or generate it with --text")
    answers = web.answers()
    relevant = web.labelled(ground.field) & answers
    drawn = draw(relevant, answers, seed)
    counted = within(web, drawn.seeds, DEPTH) & answers & ~drawn.sample
    world = RecordedWorld(web, relevant, with_content=True)
    plain, semantic = (OnceJudged(trained(world, drawn, ground.field, alike)) for alike in (False, True))
    runs = {name: crawled(world, order, drawn) for name, order in orders(semantic).items()}
    against = Yardstick(int((counted & relevant).sum()), int(counted.sum()))
    return Outcome(
        against.budget,
        collected(crawled(world, orders(plain)["two levels"], drawn), counted, against.relevant),
        collected(runs["two levels"], counted, against.relevant),
        {name: measure(name, _only(run, counted), against).area for name, run in runs.items()},
    )


def trained(world: RecordedWorld, drawn: Draw, name: str, semantic: bool) -> VectorSpaceModel:
    """A judge that has seen the samples and nothing else. Its threshold is set by pages of the field that it did not
    learn from: the words of those it knows weigh otherwise."""
    field = learned(*_texts(world, drawn.to_learn), Words("en"), semantic)
    topic = field.topic(TERMS)
    unseen, _ = _texts(world, drawn.to_calibrate & world.relevant)
    near = [topic.likeness(text).cosine for text in unseen]
    return VectorSpaceModel(name, topic, float(np.quantile(near, 1 - PUBLISHED.recall)))


def _texts(world: RecordedWorld, among: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
    """Of the field, and of others."""
    field, others = np.flatnonzero(among & world.relevant), np.flatnonzero(among & ~world.relevant)
    return [_text(world, int(number)) for number in field], [_text(world, int(number)) for number in others]


def _text(world: RecordedWorld, number: int) -> str:
    page, _ = world.fetch(Visit(world.web.urls[number], "", 0, 0.0))
    assert isinstance(page, Page)
    return page.titled_text


def orders(judge: Judge) -> dict[str, Strategy]:
    """The crawler of the paper, the same with more than two levels, and without any."""
    plain = Strategy(judge, Arrival(), admission=AllOf((NoNoise(), Scope(max_depth=DEPTH))))
    made = (strategy(f"vsm:depth={DEPTH}", judge), strategy(f"vsm:depth={DEPTH}:graded=True", judge), plain)
    return dict(zip(ORDERS, made, strict=True))


def crawled(world: RecordedWorld, strategy: Strategy, drawn: Draw) -> Run:
    """Until nothing is left within the depth."""
    crawl = Crawl(strategy, Frontier(MemoryStore()))
    crawl.begin(world.web.urls[number] for number in drawn.seeds)
    return visit_by_visit(simulate(crawl, world), world)


def collected(run: Run, counted: NDArray[np.bool_], relevant: int) -> Collected:
    among = _only(run, counted)
    return Collected(int(among.stored.sum()), int((among.stored & among.found).sum()), relevant)


def _only(run: Run, counted: NDArray[np.bool_]) -> Run:
    """The visits to pages that count."""
    kept = counted[run.order] & (run.order >= 0)
    return Run(run.order[kept], run.found[kept], run.queue[kept], run.stored[kept], run.sizes[kept], run.seconds)


def conditions(experiment: Experiment) -> list[Condition]:
    """The frozen list. The crawler of the paper takes similar words for alike."""
    recall = experiment.mean(lambda o: o.semantic.recall)
    accuracy = experiment.mean(lambda o: o.semantic.accuracy)
    f1 = experiment.mean(lambda o: o.semantic.f1)
    lost = experiment.mean(lambda o: o.plain.f1) - f1
    sooner = experiment.mean(lambda o: o.areas["two levels"] - o.areas["first in, first out"])
    return [
        Condition("mean recall at least .85", (recall >= 0.85,), 1),
        Condition("mean accuracy at least .65", (accuracy >= 0.65,), 1),
        Condition("mean F1 at least .75", (f1 >= 0.75,), 1),
        Condition("similar words lower the mean F1 by .02 at most", (lost <= 0.02,), 1),
        Condition("mean area under the harvest curve: two levels above first in, first out", (sooner > 0,), 1),
    ]


# The figures of the correlation paper beside ours.


COLUMNS = ("crawler", "taken", "right", "relevant in scope", "recall", "accuracy", "F1")
AREAS = ("order of the queue", "area under the harvest curve")


def collected_rows(experiment: Experiment) -> list[list[str]]:
    """The mean over the draws, and from where to where it goes."""
    published = [f"{PUBLISHED.taken:.0f}", f"{PUBLISHED.right:.0f}", f"{PUBLISHED.relevant:.0f}"]
    rates = [f"{rate:.3f}" for rate in (PUBLISHED.recall, PUBLISHED.accuracy, PUBLISHED.f1)]
    return [
        ["paper", *published, *rates],
        ["ours, similar words alike", *_cells(experiment, lambda o: o.semantic)],
        ["ours, words as they are", *_cells(experiment, lambda o: o.plain)],
    ]


def area_rows(experiment: Experiment) -> list[list[str]]:
    return [[order, spread([o.areas[order] for o in experiment.outcomes], ".3f")] for order in ORDERS]


def _cells(experiment: Experiment, of: Callable[[Outcome], Collected]) -> list[str]:
    all_of_them = [of(outcome) for outcome in experiment.outcomes]
    counts = [[c.taken for c in all_of_them], [c.right for c in all_of_them], [c.relevant for c in all_of_them]]
    rates = [[c.recall for c in all_of_them], [c.accuracy for c in all_of_them], [c.f1 for c in all_of_them]]
    return [*(spread(values, ".0f") for values in counts), *(spread(values, ".3f") for values in rates)]
