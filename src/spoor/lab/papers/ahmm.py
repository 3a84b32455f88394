"""Jia, Fang (2016): a crawler with an adaptive hidden Markov model; published and our results.

Seeds 401-410 are for the acceptance run only: nothing was ever tuned on them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np

from spoor.lab.generate.chance import Request
from spoor.lab.generate.prose import TOPICS
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.papers.experiment import Cell, Chart, Claim, Estimate, Margin, Setup, by_seed, generated
from spoor.lab.runs import run, visits
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web
from spoor.ordering.path_model import write_paths
from spoor.ordering.train_paths import Lesson, train_paths
from spoor.progress import unseen

# Jia, Fang (2016): a crawler with an adaptive hidden Markov model, on webs with uninformative anchors, on webs with
# descriptive anchors, and on webs where typical paths lead to relevant pages.


SEEDS = tuple(range(401, 411))
PAGES = 20_000
BUDGET = 0.1
"""Visits per page of a web."""
TRAINING = 0.25
"""Size of the training web, relative to the web that is crawled."""
OTHER_SEED = 500
"""Offset from the seed of a web to the seed of its training web."""


@dataclass(frozen=True)
class Kind:
    """A kind of web: the generator, its distinguishing property, and the number of layers around relevant pages in the
    model."""

    like: str
    special: str
    layers: int = Lesson.layers


WEBS = {
    "weak": Kind("topical-weak", "weak anchors"),
    "descriptive": Kind("topical", "descriptive anchors"),
    "paths": Kind("topical-paths", "typical paths", layers=4),
}
"""Typical paths: a layer for each type of page on them, and one for all pages farther away."""
JUDGE = f"tag-weighted:{'+'.join(TOPICS[0])}"
"""The relevance of the paper, formula 2, with the words of the target topic."""
CLUSTERS = 3
"""The number of clusters that the user of a traditional HMM crawler specifies."""
ROUNDS = 5
"""Iterations of forward-backward re-estimation."""
TRIES = 2
"""Crawls per strategy where time matters. The shorter processor time counts; the longer one was disturbed."""

S = "parent=0.45:anchor=0.225:url=0.225:chain=0.1"
"""Weights of the four aspects of a link, which the paper does not state: nine tenths as in composite BF, one tenth for
the chain."""
CRAWLERS = {
    "composite BF": "composite-bf",
    "content BF": "content-bf",
    "link BF": "link-bf",
    "AHMM": f"ahmm:model={{found}}:key=argmax:{S}",
    "HMM": "hmm:model={given}:key=argmax",
    "breadth-first": "breadth-first",
    "AHMM, aspects alike": "ahmm:model={found}:key=argmax",
}
"""Strategies by crawler. {found} is a model with an automatic number of clusters, {given} one with CLUSTERS, {refined}
is {found} after ROUNDS of re-estimation."""
ABLATION = {
    "S alone": f"four-aspect:{S}",
    "S alone, aspects alike": "four-aspect",
    "first order": "hmm:model={found}:order=1",
    "second order": "hmm:model={found}:order=2",
    "first order and S": f"ahmm:model={{found}}:order=1:{S}",
    "second order and S": f"ahmm:model={{found}}:order=2:{S}",
    "second order and composite": "ahmm:model={found}:order=2:parent=0.5:anchor=0.25:url=0.25:chain=0.0",
    "first order, key argmax": "hmm:model={found}:order=1:key=argmax",
    "second order, key argmax": "hmm:model={found}:order=2:key=argmax",
    "AHMM, first order": f"ahmm:model={{found}}:key=argmax:order=1:{S}",
    "AHMM, Viterbi": f"ahmm:model={{found}}:key=argmax:decoder=viterbi:{S}",
    "AHMM, re-estimated": f"ahmm:model={{refined}}:key=argmax:{S}",
    "AHMM, re-estimated, Viterbi": f"ahmm:model={{refined}}:key=argmax:decoder=viterbi:{S}",
}
"""All use the same clusters. AHMM has the key `argmax`; the others have `expected` unless another key is given."""
BESIDE = {"AHMM": "S alone", "AHMM, Viterbi": "S alone", "AHMM, aspects alike": "S alone, aspects alike"}
"""Crawlers, each with its variant without the path model."""


@dataclass(frozen=True)
class Outcome:
    """The share of visits that found a relevant page, the processor time of the crawl in seconds, and the numbers of
    the visited pages."""

    precision: float
    seconds: float
    pages: frozenset[int]


Outcomes = dict[str, Outcome]
"""By crawler, including those of the ablation."""


@dataclass(frozen=True)
class OnWeb:
    """`likeliest`: the shares of AHMM visits by the most likely layer of the link, layer 0 first. Seeds have no
    layer."""

    outcomes: Outcomes
    likeliest: tuple[float, ...]

    def in_common(self, one: str, other: str) -> float:
        """Jaccard similarity of the sets of pages that two crawlers visited."""
        a, b = self.outcomes[one].pages, self.outcomes[other].pages
        return len(a & b) / len(a | b)


@dataclass(frozen=True)
class Experiment:
    """The results for each kind of web, one per seed."""

    seeds: tuple[int, ...]
    webs: dict[str, tuple[OnWeb, ...]]

    def of(self, kind: str, crawler: str) -> list[Outcome]:
        return [web.outcomes[crawler] for web in self.webs[kind]]

    def mean(self, kind: str, crawler: str) -> float:
        """The mean precision."""
        return fmean(outcome.precision for outcome in self.of(kind, crawler))

    def likeliest(self, kind: str) -> list[float]:
        """The mean share of each layer."""
        shares = zip(*(web.likeliest for web in self.webs[kind]), strict=True)
        return [sum(of_layer) / len(of_layer) for of_layer in shares]


def reproduce(setup: Setup, pages: int) -> Experiment:
    """Generates the webs and runs every crawler on each."""
    webs = list(product(WEBS, setup.seeds))
    jobs = [(on_web, kind, seed, pages, setup.folder) for kind, seed in webs]
    done = dict(zip(webs, setup.run("webs crawled", jobs), strict=True))
    by_kind = {kind: tuple(done[kind, seed] for seed in setup.seeds) for kind in WEBS}
    return Experiment(tuple(setup.seeds), by_kind)


def on_web(kind: str, seed: int, pages: int, folder: Path) -> OnWeb:
    """All crawlers on one web. The judge reads the actual content of the pages."""
    models, task = learned(kind, seed, pages, folder), task_on(kind, seed, pages, folder)
    run(task, "breadth-first")  # So that no timed crawl has to prepare the web.
    tries = TRIES if kind == "weak" else 1
    timed = {name: outcome(task, text.format(**models), tries) for name, text in CRAWLERS.items()}
    parts = {name: outcome(task, text.format(**models)) for name, text in ABLATION.items()}
    return OnWeb(timed | parts, likeliest(task, CRAWLERS["AHMM"].format(**models), WEBS[kind].layers))


def task_on(kind: str, seed: int, pages: int, folder: Path) -> Task:
    web = _generated(Request(WEBS[kind].like, pages, seed, text=True), folder)
    return Task(web, "relevant", read_seeds(web / "seeds.txt"), JUDGE, budget=round(BUDGET * pages))


def likeliest(task: Task, ahmm: str, farthest: int) -> tuple[float, ...]:
    """See `OnWeb.likeliest`."""
    found = Counter(int(visit.evidence["layer"]) for visit in visits(task, ahmm) if visit.evidence)
    return tuple(found[layer] / found.total() for layer in range(farthest + 1))


def outcome(task: Task, strategy: str, tries: int = 1) -> Outcome:
    return min((_timed(task, strategy) for _ in range(tries)), key=lambda timed: timed.seconds)


def _timed(task: Task, strategy: str) -> Outcome:
    began = time.process_time()
    done = run(task, strategy)
    return Outcome(float(done.found.mean()), time.process_time() - began, frozenset(done.order.tolist()))


def learned(kind: str, seed: int, pages: int, folder: Path) -> dict[str, Path]:
    """The models, trained on a smaller web of the same kind."""
    elsewhere = Request(WEBS[kind].like, round(TRAINING * pages), seed + OTHER_SEED, text=True)
    web = Web.open(_generated(elsewhere, folder))
    relevant = np.flatnonzero(web.labelled("relevant"))
    models: dict[str, Path] = {}
    for name, clusters, rounds in (("found", None, 0), ("given", CLUSTERS, 0), ("refined", None, ROUNDS)):
        lesson = Lesson("relevant", web.name, WEBS[kind].layers, clusters, rounds)
        models[name] = folder / f"{elsewhere.name}-{elsewhere.seed}-{name}.spoor"
        write_paths(models[name], train_paths(WebBacklinks(web), relevant, lesson, unseen).model)
    return models


def _generated(request: Request, folder: Path) -> Path:
    return generated(request, folder / f"{request.name}-{request.seed}")


CRAWLS_BY_S = "the likeliest layer hardly varies, so AHMM crawls by S, and nine tenths of S are the composite score"
FARTHEST_FIRST = "the farthest layer is nearly always the likeliest, and HMM visits what is most certainly there"
"""Why claims hold nearly by construction, on webs with weak anchors."""


def claims(experiment: Experiment) -> list[Claim]:
    """The published order with weak anchors, the benefit of the model with typical paths."""
    return [*_as_published(experiment), *_on_paths(experiment)]


def _as_published(experiment: Experiment) -> list[Claim]:
    def margin(size: Callable[[Mapping[str, Outcome]], float], or_equal: bool = False) -> Margin:
        return by_seed((size(web.outcomes) for web in experiment.webs["weak"]), or_equal)

    def above(crawler: str, other: str, or_equal: bool = False) -> Margin:
        return margin(lambda o: o[crawler].precision - o[other].precision, or_equal)

    def slower(crawler: str, other: str) -> Margin:
        return margin(lambda o: o[crawler].seconds - o[other].seconds)

    return [
        Claim("precision: composite at least AHMM", (above("composite BF", "AHMM", or_equal=True),)),
        Claim("precision: AHMM above content", (above("AHMM", "content BF"),)),
        Claim("precision: content above link", (above("content BF", "link BF"),)),
        Claim("processor time: content below composite", (slower("composite BF", "content BF"),)),
        Claim("processor time: composite below AHMM", (slower("AHMM", "composite BF"),)),
        Claim(
            "precision: AHMM at least three times HMM",
            (margin(lambda o: o["AHMM"].precision - 3 * o["HMM"].precision, or_equal=True),),
            FARTHEST_FIRST,
        ),
        Claim(
            "precision: AHMM within a tenth of composite",
            (margin(_within_a_tenth, or_equal=True),),
            CRAWLS_BY_S,
        ),
    ]


def _within_a_tenth(outcomes: Mapping[str, Outcome]) -> float:
    composite, ahmm = outcomes["composite BF"].precision, outcomes["AHMM"].precision
    return 0.1 * composite - abs(composite - ahmm)


def _on_paths(experiment: Experiment) -> list[Claim]:
    webs = experiment.webs["paths"]

    def precision(text: str, size: Callable[[Mapping[str, float]], float], or_equal: bool = False) -> Claim:
        sizes = (size({name: o.precision for name, o in web.outcomes.items()}) for web in webs)
        return Claim(f"typical paths, precision: {text}", (by_seed(sizes, or_equal),))

    varied = by_seed((0.9 - max(web.likeliest) for web in webs), or_equal=True)
    return [
        Claim("typical paths: no layer is the likeliest of over nine tenths of AHMM's visits", (varied,)),
        precision("AHMM above S alone", lambda p: p["AHMM"] - p["S alone"]),
        precision("AHMM above composite", lambda p: p["AHMM"] - p["composite BF"]),
        precision("AHMM above HMM", lambda p: p["AHMM"] - p["HMM"]),
        precision("AHMM above the same of first order", lambda p: p["AHMM"] - p["AHMM, first order"]),
        precision("Viterbi at least nine tenths of AHMM", lambda p: p["AHMM, Viterbi"] - 0.9 * p["AHMM"], True),
        precision("re-estimated at least AHMM", lambda p: p["AHMM, re-estimated"] - p["AHMM"], True),
    ]


# Published and our figures of the AHMM paper, and the contribution of each part of its crawler.


FIGURE_1 = {"composite BF": 0.166, "content BF": 0.132, "link BF": 0.050, "HMM": 0.031}
"""Precision; the figure does not include AHMM."""
TABLE_2 = {
    "composite BF": (0.155, 1271.0),
    "content BF": (0.128, 738.7),
    "AHMM": (0.152, 1387.4),
    "HMM": (0.033, 1404.2),
}
"""Precision, and minutes per 10,000 pages."""

_SPECIAL = [web.special for web in WEBS.values()]
PRECISION = {
    "crawler": "",
    "paper: figure 1": ".3f",
    "table 2": ".3f",
    "minutes": ".1f",
    **{f"ours: {web}": ".3f" for web in _SPECIAL},
    "CPU seconds": ".2f",
}
PARTS = {"what orders the queue": ""} | dict.fromkeys(_SPECIAL, ".3f")
_LAYERS = range(max(web.layers for web in WEBS.values()) + 1)
EFFECT = {
    "webs": "",
    **{f"in common: {crawler}": ".2f" for crawler in BESIDE},
    **{f"layer {layer}": ".3f" for layer in _LAYERS},
}
ADDED = {"added part": "", "webs": "", "precision gained": "+.3f", "better on": "d", "of": "d"}


def precision_rows(experiment: Experiment) -> list[list[Cell]]:
    """Times are those with weak anchors."""
    return [
        [crawler, *_published(crawler), *_precisions(experiment, crawler), _seconds(experiment.of("weak", crawler))]
        for crawler in CRAWLERS
    ]


def ablation_rows(experiment: Experiment) -> list[list[Cell]]:
    return [[part, *_precisions(experiment, part)] for part in ABLATION]


def effect_rows(experiment: Experiment) -> list[list[Cell]]:
    """The effect of the path model: pages in common with the crawl without it, and AHMM visits by most likely layer."""
    return [
        [
            web.special,
            *(_in_common(experiment, kind, crawler) for crawler in BESIDE),
            *experiment.likeliest(kind),
            *[None] * (len(_LAYERS) - web.layers - 1),
        ]
        for kind, web in WEBS.items()
    ]


def _in_common(experiment: Experiment, kind: str, crawler: str) -> Estimate:
    return Estimate(tuple(web.in_common(crawler, BESIDE[crawler]) for web in experiment.webs[kind]))


def charts(experiment: Experiment) -> list[Chart]:
    """Figure 1 and table 2 in one chart: the precision of each crawler, by its index in the list."""
    places = {crawler: float(place) for place, crawler in enumerate(CRAWLERS)}
    ours = {
        web.special: [(place, experiment.mean(kind, crawler)) for crawler, place in places.items()]
        for kind, web in WEBS.items()
    }
    theirs = {
        "figure 1": [(places[crawler], precision) for crawler, precision in FIGURE_1.items()],
        "table 2": [(places[crawler], precision) for crawler, (precision, _) in TABLE_2.items()],
    }
    return [
        Chart(
            "precision", ", ".join(f"{place:.0f} {name}" for name, place in places.items()), "precision", ours, theirs
        )
    ]


def added_rows(experiment: Experiment) -> list[list[Cell]]:
    """How much precision a part added, and in how many webs it helped."""
    pairs = (
        ("second order", "first order"),
        ("second order and S", "S alone"),
        ("second order and composite", "composite BF"),
        ("AHMM", "S alone"),
        ("AHMM", "AHMM, first order"),
        ("AHMM, Viterbi", "AHMM"),
        ("AHMM, re-estimated", "AHMM"),
    )
    return [_added(experiment, kind, *pair) for pair in pairs for kind in WEBS]


def _added(experiment: Experiment, kind: str, crawler: str, without: str) -> list[Cell]:
    both = zip(experiment.of(kind, crawler), experiment.of(kind, without), strict=True)
    gained = tuple(a.precision - b.precision for a, b in both)
    helped = sum(gain > 0 for gain in gained)
    return [f"{crawler} above {without}", WEBS[kind].special, Estimate(gained), helped, len(gained)]


def _published(crawler: str) -> list[Cell]:
    return [FIGURE_1.get(crawler), *TABLE_2.get(crawler, (None, None))]


def _precisions(experiment: Experiment, crawler: str) -> list[Estimate]:
    return [Estimate(tuple(outcome.precision for outcome in experiment.of(web, crawler))) for web in WEBS]


def _seconds(outcomes: Iterable[Outcome]) -> Estimate:
    return Estimate(tuple(outcome.seconds for outcome in outcomes))
