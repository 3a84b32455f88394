"""Somboonviwat, Tamura, Kitsuregawa (2005): language-specific crawling on Thai-like and Japanese-like webs.

Seeds 401-410 are for the acceptance run only: nothing was ever tuned on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from spoor.lab.generate.chance import Request
from spoor.lab.generate.pages import TEXT_LIMIT
from spoor.lab.measures import Run
from spoor.lab.papers.experiment import (
    Cell,
    Chart,
    Claim,
    Estimate,
    Point,
    Setup,
    by_seed,
    generated,
    mean_line,
)
from spoor.lab.runs import prepared_task, run
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web
from spoor.parse.html import HTML_TYPES
from spoor.settings import USUAL_PARSING

SEEDS = tuple(range(401, 411))
PAGES = 30_000
EARLY = 7
"""The paper evaluates the first 2 of 14 million pages: a seventh of the crawl."""

STEPS = 56
"""Points of a curve."""

NS = (1, 2, 3, 4)
PLAIN = tuple(f"limited-distance:n={n}" for n in NS)
PRIORITISED = tuple(f"prioritised-limited-distance:n={n}" for n in NS)
SIMPLE = ("breadth-first", "hard-focused", "soft-focused")
STRATEGIES = SIMPLE + PLAIN + PRIORITISED
JUDGES = {"thai": "charset:th:sources=meta", "japanese": "charset:ja:sources=detected"}
"""As in the paper: Thai by the META declaration, Japanese by a charset detector."""

SHARES = {
    "thai": {"errors": 0.361, "non_html": 0.361, "mislabelled": 0.05},
    "japanese": {"errors": 0.067, "non_html": 0.067},
}
"""Of 14 million Thai URLs 3,886,944 were HTML with status 200, of 110 million Japanese URLs 95,183,978. The paper does
not state how many of the others were errors, nor how many pages were mislabelled: "in some cases"."""


Curves = dict[str, tuple[Point, ...]]
"""`harvest`, `coverage` and `queue` over the share of the reachable pages that were visited."""


@dataclass(frozen=True)
class Outcome:
    """One strategy on one web: harvest after a seventh of the crawl and at the end, coverage, maximum queue length, and
    visits made per page in reach."""

    early: float
    final: float
    coverage: float
    queue: int
    length: float
    curves: Curves


Outcomes = dict[str, Outcome]
"""By strategy."""


@dataclass(frozen=True)
class Experiment:
    """The outcomes on the webs of each seed."""

    seeds: tuple[int, ...]
    thai: tuple[Outcomes, ...]
    japanese: tuple[Outcomes, ...]


def reproduce(setup: Setup, pages: int) -> Experiment:
    """Generates the webs and runs every strategy on each."""
    jobs = [(outcomes, kind, seed, pages, setup.folder) for kind in ("thai", "japanese") for seed in setup.seeds]
    done = setup.run("webs crawled", jobs)
    seeds = len(setup.seeds)
    return Experiment(tuple(setup.seeds), thai=tuple(done[:seeds]), japanese=tuple(done[seeds:]))


def request_for(kind: str, seed: int, pages: int) -> Request:
    """Large webs have no texts; the judges of this paper need only the encodings."""
    return Request(kind, pages, seed, pages <= TEXT_LIMIT, None, **SHARES[kind], parsing=USUAL_PARSING)


def outcomes(kind: str, seed: int, pages: int, folder: Path) -> Outcomes:
    """All strategies on one web. The judge reads the actual pages."""
    web = generated(request_for(kind, seed, pages), folder / f"{kind}-{seed}")
    strategies = STRATEGIES if kind == "thai" else SIMPLE
    return {strategy: outcome(web, JUDGES[kind], strategy) for strategy in strategies}


def outcome(web: Path, judge: str, strategy: str) -> Outcome:
    """A seventh of the crawl is a seventh of its requests. Harvest is the share of relevant pages among the fetched
    HTML pages."""
    seeds = read_seeds(web / "seeds.txt")
    task = Task(web, "relevant", seeds, judge, budget=Web.open(web).pages, driver="compiled")
    prepared, done = prepared_task(task), run(task, strategy)
    early = min(prepared.reachable_pages // EARLY, len(done.found))
    came = _are_html(prepared.web)[done.order]
    found = int(done.found.sum())
    return Outcome(
        early=float(done.found[:early].sum() / came[:early].sum()),
        final=float(found / came.sum()),
        coverage=found / prepared.yardstick.relevant,
        queue=int(done.queue.max()),
        length=len(done.found) / prepared.reachable_pages,
        curves=curves(done, came, prepared.reachable_pages, prepared.yardstick.relevant),
    )


def _are_html(web: Web) -> NDArray[np.bool_]:
    """Mask of the URLs that table 3 counts as pages: HTML with status 200."""
    html = [number for number, name in enumerate(web.about["content_types"]) if name in HTML_TYPES]
    return web.answers() & np.isin(web.array("content_type"), html)


def curves(done: Run, came: NDArray[np.bool_], reachable: int, relevant: int) -> Curves:
    """`came` marks the requests that returned an HTML page. After a crawl has ended, its curves stay constant and its
    queue is empty."""
    found, pages, made = np.cumsum(done.found), np.maximum(1, np.cumsum(came)), len(done.found)
    visits = [max(1, reachable * step // STEPS) for step in range(1, STEPS + 1)]
    last = [min(visit, made) for visit in visits]
    harvest = tuple((v / reachable, float(found[n - 1] / pages[n - 1])) for v, n in zip(visits, last, strict=True))
    coverage = tuple((v / reachable, float(found[n - 1]) / relevant) for v, n in zip(visits, last, strict=True))
    queue = tuple((v / reachable, float(done.queue[v - 1]) / reachable if v <= made else 0.0) for v in visits)
    return {"harvest": harvest, "coverage": coverage, "queue": queue}


NEAREST_FIRST = "links nearest to relevant pages go first, so crawls are the same until the smaller N has no link left"
SAME_AT_FIRST = "links of relevant pages go first, in the same order, and a seventh of the crawl does not use them up"
ALL_IN_REACH = "it drops no link, and pages out of reach of the seeds do not count"
"""Why a claim holds by construction."""


def claims(experiment: Experiment) -> list[Claim]:
    """What the paper draws as curves over pages crawled is compared at equal numbers of visits."""
    soft, hard, simplest = "soft-focused", "hard-focused", "breadth-first"

    def thai(text: str, *sizes: Callable[[Outcomes], float], forced: str = "", or_equal: bool = False) -> Claim:
        margins = tuple(by_seed(map(size, experiment.thai), or_equal) for size in sizes)
        return Claim(f"Thai-like: {text}", margins, forced)

    def japanese(text: str, size: Callable[[Outcomes, Outcomes], float]) -> Claim:
        pairs = zip(experiment.japanese, experiment.thai, strict=True)
        return Claim(f"Japanese-like: {text}", (by_seed(size(*pair) for pair in pairs),))

    return [
        thai(
            "soft and hard harvest early more than 1.3 times breadth-first",
            lambda o: o[soft].early - 1.3 * o[simplest].early,
            lambda o: o[hard].early - 1.3 * o[simplest].early,
        ),
        thai(
            "hard-focused ends at a coverage of .6 to .9",
            lambda o: o[hard].coverage - 0.6,
            lambda o: 0.9 - o[hard].coverage,
        ),
        thai("largest queue of hard below half of soft", lambda o: 0.5 - o[hard].queue / o[soft].queue),
        thai(
            "limited distance: coverage at the end rises with every N",
            *_steps(PLAIN, lambda nearer, farther: farther.coverage - nearer.coverage),
        ),
        thai("limited distance: queue at equal visits rises with every N", *_steps(PLAIN, _longer_queue)),
        thai("limited distance: harvest at equal visits falls with every N", *_steps(PLAIN, _lower_harvest)),
        thai("prioritised: queue at equal visits rises with every N", *_steps(PRIORITISED, _longer_queue)),
        thai(
            "no strategy keeps up the best early harvest (each ends below .95 of it)",
            *(_falls_behind(strategy) for strategy in STRATEGIES),
        ),
        japanese("breadth-first already harvests more than .65 early", lambda j, _: j[simplest].early - 0.65),
        japanese("soft gains less over breadth-first than on the Thai-like web", lambda j, t: _gain(t) - _gain(j)),
        thai(
            "soft and hard harvest early within .03 of one another",
            lambda o: 0.03 - abs(o[soft].early - o[hard].early),
            forced=SAME_AT_FIRST,
        ),
        thai(
            "soft-focused reaches full coverage",
            lambda o: o[soft].coverage - 1.0,
            forced=ALL_IN_REACH,
            or_equal=True,
        ),
        thai(
            "prioritised: harvest at equal visits the same for all N (within .01)",
            *_steps(PRIORITISED, lambda nearer, farther: 0.01 - _widest_gap(nearer, farther, "harvest")),
            forced=NEAREST_FIRST,
        ),
        thai(
            "prioritised: coverage at equal visits the same for all N (within .01)",
            *_steps(PRIORITISED, lambda nearer, farther: 0.01 - _widest_gap(nearer, farther, "coverage")),
            forced=NEAREST_FIRST,
        ),
    ]


def _steps(strategies: Sequence[str], size: Callable[[Outcome, Outcome], float]) -> list[Callable[[Outcomes], float]]:
    """Compares the strategy of each N with that of the next."""

    def step(nearer: str, farther: str) -> Callable[[Outcomes], float]:
        return lambda o: size(o[nearer], o[farther])

    return [step(*pair) for pair in pairwise(strategies)]


def _gaps(nearer: Outcome, farther: Outcome, figure: str) -> list[float]:
    """By how much a curve of `farther` is above that of `nearer`, where both crawls go on."""
    both = min(nearer.length, farther.length)
    lines = zip(nearer.curves[figure], farther.curves[figure], strict=True)
    return [above - below for (visits, below), (_, above) in lines if visits <= both]


def _longer_queue(nearer: Outcome, farther: Outcome) -> float:
    return fmean(_gaps(nearer, farther, "queue"))


def _lower_harvest(nearer: Outcome, farther: Outcome) -> float:
    return -fmean(_gaps(nearer, farther, "harvest"))


def _widest_gap(nearer: Outcome, farther: Outcome, figure: str) -> float:
    return max(map(abs, _gaps(nearer, farther, figure)))


def _falls_behind(strategy: str) -> Callable[[Outcomes], float]:
    return lambda o: 0.95 * max(outcome.early for outcome in o.values()) - o[strategy].final


def _gain(o: Outcomes) -> float:
    return o["soft-focused"].early / o["breadth-first"].early


AT_THE_ENDS = """figures 6 and 7 are compared at equal numbers of visits, as long as both crawls go on;
at the ends of the crawls, which are longer with a larger N, see harvest at end and coverage above"""


PUBLISHED = (
    "Thai: hard and soft harvest about 60 % in the first 2 of 14 million pages, above breadth-first",
    "Thai: soft reaches full coverage at about 14 million pages, hard stops at about 70 %",
    "Thai: largest queue of soft about 8 million URLs, of hard about 1 million",
    "Japanese: even breadth-first harvests more than 70 %",
    "limited distance, larger N: larger queue, more coverage, less harvest",
    "prioritised limited distance: the queue grows with N, harvest and coverage hardly change",
)
"""Claims of the paper. Absolute numbers cannot be expected of a generated web."""


PUBLISHED_CURVES: dict[str, dict[str, list[Point]]] = {
    "harvest": {"soft-focused": [(1 / 7, 0.6)], "hard-focused": [(1 / 7, 0.6)]},
    "coverage": {"soft-focused": [(1.0, 1.0)], "hard-focused": [(1.0, 0.7)]},
    "queue": {"soft-focused": [(0.5, 8 / 14)], "hard-focused": [(0.5, 1 / 14)]},
}
"""Points of the curves that the text of the paper states. It does not state where a queue was longest."""


def charts(experiment: Experiment) -> list[Chart]:
    """Figures 3 to 7."""
    thai, japanese = experiment.thai, experiment.japanese
    return [
        *(_chart(f"figures 3, 5: {up}, Thai-like", up, thai, SIMPLE, PUBLISHED_CURVES[up]) for up in PUBLISHED_CURVES),
        _chart("figure 4: harvest, Japanese-like", "harvest", japanese, SIMPLE, {"breadth-first": [(1.0, 0.7)]}),
        *(_chart(f"figure 6: {up}, limited distance", up, thai, PLAIN) for up in PUBLISHED_CURVES),
        *(_chart(f"figure 7: {up}, prioritised", up, thai, PRIORITISED) for up in PUBLISHED_CURVES),
    ]


def _chart(
    title: str,
    up: str,
    results: Sequence[Outcomes],
    strategies: Sequence[str],
    published: Mapping[str, Sequence[Point]] | None = None,
) -> Chart:
    ours = {name: mean_line([outcomes[name].curves[up] for outcomes in results]) for name in strategies}
    return Chart(title, "visits / pages in reach", up, ours, published or {})


COLUMNS = {
    "web and strategy": "",
    "harvest at 1/7": ".3f",
    "harvest at end": ".3f",
    "coverage": ".3f",
    "largest queue": ",.0f",
    "visits / pages in reach": ".3f",
}


def rows(kind: str, results: Sequence[Outcomes]) -> list[list[Cell]]:
    """A row for each strategy."""
    figures: tuple[Callable[[Outcome], float], ...] = (
        lambda o: o.early,
        lambda o: o.final,
        lambda o: o.coverage,
        lambda o: o.queue,
        lambda o: o.length,
    )
    return [
        [
            f"{kind} {strategy}",
            *(Estimate(tuple(float(figure(o[strategy])) for o in results)) for figure in figures),
        ]
        for strategy in results[0]
    ]
