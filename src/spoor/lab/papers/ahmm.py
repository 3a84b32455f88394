"""Jia, Fang (2016): a crawler with an adaptive hidden Markov model, its figures beside ours.

The conditions are frozen: they were fixed before seeds 301-305 were first run, and those seeds are for that run alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from spoor.lab.generate.chance import Request
from spoor.lab.generate.prose import TOPICS
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.papers.experiment import Condition, Setup, generated, rises, spread
from spoor.lab.runs import run
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web
from spoor.ordering.path_model import write_paths
from spoor.ordering.train_paths import Lesson, train_paths
from spoor.progress import unseen

# Jia, Fang (2016): a crawler with an adaptive hidden Markov model, on webs whose anchors tell little, and much.


SEEDS = tuple(range(301, 306))
PAGES = 20_000
BUDGET = 0.1
"""Visits for every page of a web."""
TRAINING = 0.25
"""Pages of the web that is learned from, for every page of the web that is crawled."""
OTHER_SEED = 500
"""How many seeds on the web is that is learned from."""
WEBS = {"weak": "topical-weak", "descriptive": "topical"}
"""By how much their anchors tell."""
JUDGE = f"tag-weighted:{'+'.join(TOPICS[0])}"
"""The relevance of the paper, formula 2, with the words of the target topic."""
CLUSTERS = 3
"""That the user of a traditional HMM crawler asks for."""
TRIES = 2
"""Crawls where time matters; the shorter processor time counts, for the other was disturbed."""

S = "parent=0.45:anchor=0.225:url=0.225:chain=0.1"
"""How the four aspects of a link are put together, which the paper does not say: nine tenths as composite BF has them,
one tenth for the chain."""
CRAWLERS = {
    "composite BF": "composite-bf",
    "content BF": "content-bf",
    "link BF": "link-bf",
    "AHMM": f"ahmm:model={{found}}:key=argmax:{S}",
    "HMM": "hmm:model={given}:key=argmax",
    "breadth-first": "breadth-first",
    "AHMM, aspects alike": "ahmm:model={found}:key=argmax",
}
"""Strategies; {found} is a model with as many clusters as were found, {given} one with CLUSTERS."""
ABLATION = {
    "S alone": f"four-aspect:{S}",
    "first order": "hmm:model={found}:order=1",
    "second order": "hmm:model={found}:order=2",
    "first order and S": f"ahmm:model={{found}}:order=1:{S}",
    "second order and S": f"ahmm:model={{found}}:order=2:{S}",
    "second order and composite": "ahmm:model={found}:order=2:parent=0.5:anchor=0.25:url=0.25:chain=0.0",
    "first order, key argmax": "hmm:model={found}:order=1:key=argmax",
    "second order, key argmax": "hmm:model={found}:order=2:key=argmax",
}
"""All with the same clusters, and with the key that is not said to be another: `expected`."""


@dataclass(frozen=True)
class Outcome:
    """The share of visits that brought a relevant page, and the seconds of processor time that the crawl took."""

    precision: float
    seconds: float


Outcomes = dict[str, Outcome]
"""By crawler, those of the ablation included."""


@dataclass(frozen=True)
class Experiment:
    """The outcomes on the webs of each seed, by how much anchors tell."""

    seeds: tuple[int, ...]
    outcomes: dict[str, tuple[Outcomes, ...]]

    def of(self, anchors: str, crawler: str) -> list[Outcome]:
        return [outcomes[crawler] for outcomes in self.outcomes[anchors]]

    def mean(self, crawler: str, figure: Callable[[Outcome], float]) -> float:
        """Where anchors tell little, as the paper has it."""
        values = [figure(outcome) for outcome in self.of("weak", crawler)]
        return sum(values) / len(values)


def reproduce(setup: Setup, pages: int) -> Experiment:
    """Generates the webs and lets every crawler loose on each."""
    webs = list(product(WEBS, setup.seeds))
    jobs = [(outcomes, anchors, seed, pages, setup.folder) for anchors, seed in webs]
    done = dict(zip(webs, setup.run("webs crawled", jobs), strict=True))
    by_anchors = {anchors: tuple(done[anchors, seed] for seed in setup.seeds) for anchors in WEBS}
    return Experiment(tuple(setup.seeds), by_anchors)


def outcomes(anchors: str, seed: int, pages: int, folder: Path) -> Outcomes:
    """One web, all crawlers, the judge reading what is really on the pages."""
    models = learned(anchors, seed, pages, folder)
    web = _generated(Request(WEBS[anchors], pages, seed, text=True), folder)
    task = Task(web, "relevant", read_seeds(web / "seeds.txt"), JUDGE, budget=round(BUDGET * pages))
    run(task, "breadth-first")  # So that no crawl that is timed has to prepare the web.
    tries = TRIES if anchors == "weak" else 1
    timed = {name: outcome(task, text.format(**models), tries) for name, text in CRAWLERS.items()}
    return timed | {name: outcome(task, text.format(**models)) for name, text in ABLATION.items()}


def outcome(task: Task, strategy: str, tries: int = 1) -> Outcome:
    return min((_timed(task, strategy) for _ in range(tries)), key=lambda timed: timed.seconds)


def _timed(task: Task, strategy: str) -> Outcome:
    began = time.process_time()
    done = run(task, strategy)
    return Outcome(float(done.found.mean()), time.process_time() - began)


def learned(anchors: str, seed: int, pages: int, folder: Path) -> dict[str, Path]:
    """The models, from a smaller web of the same kind."""
    elsewhere = Request(WEBS[anchors], round(TRAINING * pages), seed + OTHER_SEED, text=True)
    web = Web.open(_generated(elsewhere, folder))
    relevant = np.flatnonzero(web.labelled("relevant"))
    models: dict[str, Path] = {}
    for name, clusters in (("found", None), ("given", CLUSTERS)):
        lesson = Lesson("relevant", web.name, clusters=clusters)
        models[name] = folder / f"{elsewhere.name}-{elsewhere.seed}-{name}.spoor"
        write_paths(models[name], train_paths(WebBacklinks(web), relevant, lesson, unseen).model)
    return models


def _generated(request: Request, folder: Path) -> Path:
    return generated(request, folder / f"{request.name}-{request.seed}")


def conditions(experiment: Experiment) -> list[Condition]:
    """The frozen list, all of it about weak anchors."""
    composite, content, link, ahmm, hmm, *_ = (experiment.mean(name, lambda o: o.precision) for name in CRAWLERS)
    times = [experiment.mean(name, lambda o: o.seconds) for name in ("content BF", "composite BF", "AHMM")]
    return [
        Condition("mean precision: composite at least AHMM", (composite >= ahmm,), 1),
        Condition("mean precision: AHMM above content above link", (ahmm > content > link,), 1),
        Condition("mean precision: AHMM at least three times HMM", (ahmm >= 3 * hmm,), 1),
        Condition("mean precision: AHMM within a tenth of composite", (abs(composite - ahmm) <= 0.1 * composite,), 1),
        Condition("mean processor time: content below composite below AHMM", (rises(times),), 1),
    ]


# The figures of the AHMM paper beside ours, and what each part of its crawler contributes.


FIGURE_1 = {"composite BF": 0.166, "content BF": 0.132, "link BF": 0.050, "HMM": 0.031}
"""Precision, without the AHMM."""
TABLE_2 = {
    "composite BF": (0.155, 1271.0),
    "content BF": (0.128, 738.7),
    "AHMM": (0.152, 1387.4),
    "HMM": (0.033, 1404.2),
}
"""Precision, and minutes for 10,000 pages."""

_ANCHORS = [f"{anchors} anchors" for anchors in WEBS]
PRECISION = ("crawler", "paper: figure 1", "table 2", "minutes", *[f"ours: {web}" for web in _ANCHORS], "CPU seconds")
PARTS = ("what orders the queue", *_ANCHORS)


def precision_rows(experiment: Experiment) -> list[list[str]]:
    """The time is that with weak anchors."""
    return [
        [crawler, *_published(crawler), *_precisions(experiment, crawler), _seconds(experiment.of("weak", crawler))]
        for crawler in CRAWLERS
    ]


def ablation_rows(experiment: Experiment) -> list[list[str]]:
    return [[part, *_precisions(experiment, part)] for part in ABLATION]


def findings(experiment: Experiment) -> list[str]:
    """In how many webs a part that was added helped."""
    pairs = (
        ("second order", "first order"),
        ("second order and S", "S alone"),
        ("second order and composite", "composite BF"),
    )
    return [_above(experiment, anchors, *pair) for pair in pairs for anchors in WEBS]


def _above(experiment: Experiment, anchors: str, one: str, other: str) -> str:
    both = zip(experiment.of(anchors, one), experiment.of(anchors, other), strict=True)
    times = sum(a.precision > b.precision for a, b in both)
    return f"{one} above {other} in {times} of {len(experiment.seeds)} webs with {anchors} anchors"


def _published(crawler: str) -> list[str]:
    precision, minutes = TABLE_2.get(crawler, (None, None))
    return [_given(FIGURE_1.get(crawler), 3), _given(precision, 3), _given(minutes, 1)]


def _precisions(experiment: Experiment, crawler: str) -> list[str]:
    return [spread([outcome.precision for outcome in experiment.of(web, crawler)], ".3f") for web in WEBS]


def _seconds(outcomes: Sequence[Outcome]) -> str:
    return spread([outcome.seconds for outcome in outcomes], ".2f")


def _given(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}f}"
