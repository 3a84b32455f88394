"""Qin, Peng (2014): finds pages of one field by correlation analysis; published and our results.

Seeds 401-410 are for the acceptance run only: nothing was ever tuned on them.
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
from spoor.judging.ngrams import calibrate
from spoor.judging.similar_words import learned
from spoor.judging.topic_judges import VectorSpaceModel
from spoor.lab.measures import Run, Yardstick, measure
from spoor.lab.papers.experiment import (
    Cell,
    Chart,
    Claim,
    Draw,
    Estimate,
    OnceJudged,
    Setup,
    by_seed,
    draw,
    within,
)
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
from spoor.settings import ParseSettings
from spoor.strategy import Strategy

# Qin, Peng (2014): finds pages of one field by correlation analysis, from twenty seeds, up to three links deep.


SEEDS = tuple(range(401, 411))
PAGES = 5_000
"""Size of the generated web, if there is no recorded one."""
DEPTH = 3
TERMS = 300
"""Number of words in the topic."""
PARSING = ParseSettings(main_text="node-ratio")
"""How the pages of a recorded web are parsed: the extractor of the paper."""
ORDERS = ("two levels", "graded", "first in, first out")


@dataclass(frozen=True)
class LabelledWeb:
    """A web; its pages with the label `field` are the relevant ones. `generated`: their texts are, too."""

    web: Path
    field: str
    generated: bool = False


@dataclass(frozen=True)
class Collected:
    """Number of pages that the crawler took for relevant, those of them that are relevant, and relevant pages in
    scope."""

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
"""Its recall sets our threshold: that share of the pages of the field is to be above it."""


@dataclass(frozen=True)
class Outcome:
    """One draw, with `scope` pages in reach: pages collected with plain words, with similar words merged, and with
    similar words and the threshold of the best F1; and the area under the harvest curve for each queue order."""

    scope: int
    plain: Collected
    semantic: Collected
    best_f1: Collected
    areas: dict[str, float]


@dataclass(frozen=True)
class Experiment:
    """`generated`: the texts of the pages are."""

    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    generated: bool


def reproduce(setup: Setup, grounds: Sequence[LabelledWeb]) -> Experiment:
    """One ground per seed."""
    jobs = [(outcome, ground, seed) for ground, seed in zip(grounds, setup.seeds, strict=True)]
    generated = any(ground.generated for ground in grounds)
    return Experiment(tuple(setup.seeds), tuple(setup.run("draws crawled", jobs)), generated)


def outcome(ground: LabelledWeb, seed: int) -> Outcome:
    web = Web.open(ground.web)
    if not web.has_content:
        raise BadInput(f"the web {web.name} has no texts; build it from WARC files, or generate it with --text")
    answers = web.answers()
    relevant = web.labelled(ground.field) & answers
    drawn = draw(relevant, answers, seed)
    counted = within(web, drawn.seeds, DEPTH) & answers & ~drawn.sample
    world = RecordedWorld(web, relevant, with_content=True)
    plain, semantic = (OnceJudged(trained(world, drawn, ground.field, alike)) for alike in (False, True))
    best = OnceJudged(trained(world, drawn, ground.field, semantic=True, threshold=_best_f1))
    runs = {name: crawled(world, order, drawn) for name, order in orders(semantic).items()}
    against = Yardstick(int((counted & relevant).sum()), int(counted.sum()))
    return Outcome(
        against.budget,
        collected(crawled(world, orders(plain)["two levels"], drawn), counted, against.relevant),
        collected(runs["two levels"], counted, against.relevant),
        collected(crawled(world, orders(best)["two levels"], drawn), counted, against.relevant),
        {name: measure(name, _only(run, counted), against).area for name, run in runs.items()},
    )


Threshold = Callable[[list[float], list[float]], float]
"""Computes the threshold from the similarities to the topic of pages in the field and of other pages."""


def _published_recall(field: list[float], others: list[float]) -> float:
    return float(np.quantile(field, 1 - PUBLISHED.recall))


def _best_f1(field: list[float], others: list[float]) -> float:
    return calibrate(field, others)


def trained(
    world: RecordedWorld, drawn: Draw, name: str, semantic: bool, threshold: Threshold = _published_recall
) -> VectorSpaceModel:
    """A judge trained on the samples only. Its threshold is set on pages that were not used for training, because the
    words of training pages have other weights."""
    topic = learned(*_texts(world, drawn.to_learn), Words("en"), semantic).topic(TERMS)
    near = ([topic.likeness(text).cosine for text in texts] for texts in _texts(world, drawn.to_calibrate))
    return VectorSpaceModel(name, topic, threshold(*near))


def _texts(world: RecordedWorld, among: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
    """Texts of the pages in the field, and of the others."""
    field, others = np.flatnonzero(among & world.relevant), np.flatnonzero(among & ~world.relevant)
    return [_text(world, int(number)) for number in field], [_text(world, int(number)) for number in others]


def _text(world: RecordedWorld, number: int) -> str:
    page, _ = world.fetch(Visit(world.web.urls[number], "", 0, 0.0))
    assert isinstance(page, Page)
    return page.titled_text


def orders(judge: Judge) -> dict[str, Strategy]:
    """The crawler of the paper, the same with more than two levels, and FIFO."""
    plain = Strategy(judge, Arrival(), admission=AllOf((NoNoise(), Scope(max_depth=DEPTH))))
    made = (strategy(f"vsm:depth={DEPTH}", judge), strategy(f"vsm:depth={DEPTH}:graded=True", judge), plain)
    return dict(zip(ORDERS, made, strict=True))


def crawled(world: RecordedWorld, strategy: Strategy, drawn: Draw) -> Run:
    """Until no page within the depth is left."""
    crawl = Crawl(strategy, Frontier(MemoryStore()))
    crawl.begin(world.web.urls[number] for number in drawn.seeds)
    return visit_by_visit(simulate(crawl, world), world)


def collected(run: Run, counted: NDArray[np.bool_], relevant: int) -> Collected:
    among = _only(run, counted)
    return Collected(int(among.stored.sum()), int((among.stored & among.found).sum()), relevant)


def _only(run: Run, counted: NDArray[np.bool_]) -> Run:
    """Only the visits to pages that count."""
    kept = counted[run.order] & (run.order >= 0)
    return Run(run.order[kept], run.found[kept], run.queue[kept], run.stored[kept], run.sizes[kept], run.seconds)


THRESHOLD_FOR_RECALL = "the threshold is set so that 92 % of the pages of the field in another sample are above it"
FEW_WORDS = "the texts are generated, of so few words that almost any threshold separates the field from the rest"
"""Why claims hold nearly by construction."""


def claims(experiment: Experiment) -> list[Claim]:
    """The crawler of the paper merges similar words."""
    few_words = FEW_WORDS if experiment.generated else ""

    def claim(text: str, margin: Callable[[Outcome], float], forced: str = "") -> Claim:
        return Claim(text, (by_seed(map(margin, experiment.outcomes), or_equal=True),), forced)

    two_levels, fifo = ORDERS[0], ORDERS[-1]
    sooner = by_seed(outcome.areas[two_levels] - outcome.areas[fifo] for outcome in experiment.outcomes)
    return [
        claim("recall at least .85", lambda o: o.semantic.recall - 0.85, few_words or THRESHOLD_FOR_RECALL),
        claim("accuracy at least .65", lambda o: o.semantic.accuracy - 0.65, few_words),
        claim("F1 at least .75", lambda o: o.semantic.f1 - 0.75, few_words),
        claim("threshold of the best F1: F1 at least .75", lambda o: o.best_f1.f1 - 0.75, few_words),
        claim("similar words lower F1 by .02 at most", lambda o: 0.02 + o.semantic.f1 - o.plain.f1, few_words),
        Claim("area under the harvest curve: two levels above first in, first out", (sooner,)),
    ]


# Published and our figures of the correlation paper.


COLUMNS = {"crawler": ""} | dict.fromkeys(("taken", "right", "relevant in scope"), ".0f")
COLUMNS |= dict.fromkeys(("recall", "accuracy", "F1"), ".3f")
AREAS = {"order of the queue": "", "area under the harvest curve": ".3f"}
FIGURES: tuple[Callable[[Collected], float], ...] = (
    lambda c: c.taken,
    lambda c: c.right,
    lambda c: c.relevant,
    lambda c: c.recall,
    lambda c: c.accuracy,
    lambda c: c.f1,
)
"""In the order of COLUMNS."""


def collected_rows(experiment: Experiment) -> list[list[Cell]]:
    return [
        ["paper", *(figure(PUBLISHED) for figure in FIGURES)],
        ["ours, similar words alike", *_cells(experiment, lambda o: o.semantic)],
        ["ours, words as they are", *_cells(experiment, lambda o: o.plain)],
        ["ours, threshold of the best F1", *_cells(experiment, lambda o: o.best_f1)],
    ]


def charts(experiment: Experiment) -> list[Chart]:
    """Recall and accuracy of each draw."""
    kinds: dict[str, Callable[[Outcome], Collected]] = {
        "similar words alike": lambda o: o.semantic,
        "words as they are": lambda o: o.plain,
        "threshold of the best F1": lambda o: o.best_f1,
    }
    ours = {
        name: sorted((of(outcome).recall, of(outcome).accuracy) for outcome in experiment.outcomes)
        for name, of in kinds.items()
    }
    published = {"similar words alike": [(PUBLISHED.recall, PUBLISHED.accuracy)]}
    return [Chart("recall and accuracy of what was collected", "recall", "accuracy", ours, published)]


def area_rows(experiment: Experiment) -> list[list[Cell]]:
    return [[order, Estimate(tuple(o.areas[order] for o in experiment.outcomes))] for order in ORDERS]


def _cells(experiment: Experiment, of: Callable[[Outcome], Collected]) -> list[Cell]:
    collected = [of(outcome) for outcome in experiment.outcomes]
    return [Estimate(tuple(map(figure, collected))) for figure in FIGURES]
