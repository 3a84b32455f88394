"""Somboonviwat, Tamura, Kitsuregawa (2005): language-specific crawling on Thai-like and Japanese-like webs.

The conditions are frozen: they were fixed before seeds 401-410 were first run, and those seeds are for that run only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.lab.generate.chance import Request
from spoor.lab.measures import Run
from spoor.lab.papers.experiment import (
    Chart,
    Condition,
    Point,
    Setup,
    falls,
    generated,
    mean_line,
    rises,
    spread,
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
SMALL = 1_000_000
"""Maximum size of webs that are generated with texts; the judges read only encodings."""

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
    """One strategy on one web: harvest after a seventh of the crawl and at the end, coverage, maximum queue length."""

    early: float
    final: float
    coverage: float
    queue: int
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


def outcomes(kind: str, seed: int, pages: int, folder: Path) -> Outcomes:
    """All strategies on one web. The judge reads the actual pages."""
    request = Request(kind, pages, seed, pages <= SMALL, None, **SHARES[kind], parsing=USUAL_PARSING)
    web = generated(request, folder / f"{kind}-{seed}")
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


SAME_AT_FIRST = "links of relevant pages go first, in the same order, and a seventh of the crawl does not use them up"
ALL_IN_REACH = "it drops no link, and pages out of reach of the seeds do not count"
"""Why a condition holds by construction."""


def conditions(experiment: Experiment) -> list[Condition]:
    """The frozen list."""
    needed = -(-8 * len(experiment.seeds) // 10)

    def thai(claim: str, holds: Callable[[Outcomes], bool], bound: str = "") -> Condition:
        return Condition(f"Thai-like: {claim}", tuple(map(holds, experiment.thai)), needed, bound)

    def both(claim: str, holds: Callable[[Outcomes, Outcomes], bool]) -> Condition:
        pairs = zip(experiment.japanese, experiment.thai, strict=True)
        return Condition(f"Japanese-like: {claim}", tuple(holds(*pair) for pair in pairs), needed)

    return [
        thai("soft and hard harvest early more than 1.3 times breadth-first", _focus_pays),
        thai("soft and hard harvest early within .03 of one another", _soft_is_hard_early, SAME_AT_FIRST),
        thai("hard-focused ends at a coverage of .6 to .9", lambda o: 0.6 <= o["hard-focused"].coverage <= 0.9),
        thai("soft-focused reaches full coverage", lambda o: o["soft-focused"].coverage == 1.0, ALL_IN_REACH),
        thai(
            "largest queue of hard below half of soft", lambda o: 2 * o["hard-focused"].queue < o["soft-focused"].queue
        ),
        thai("limited distance: coverage rises with every N", lambda o: rises([o[s].coverage for s in PLAIN])),
        thai("limited distance: largest queue rises with every N", lambda o: rises([o[s].queue for s in PLAIN])),
        thai("limited distance: early harvest falls with every N", lambda o: falls([o[s].early for s in PLAIN])),
        thai("prioritised: early harvest the same for all N (spread below .01)", _steady_early, SAME_AT_FIRST),
        thai("prioritised: harvest of the whole crawl the same for all N (spread below .05)", _steady("final")),
        thai("prioritised: coverage the same for all N (spread below .05)", _steady("coverage")),
        thai("prioritised: largest queue rises with every N", lambda o: rises([o[s].queue for s in PRIORITISED])),
        thai("no strategy keeps up the best early harvest (each ends below .95 of it)", _not_kept_up),
        both("breadth-first already harvests more than .65 early", lambda j, _: j["breadth-first"].early > 0.65),
        both("soft gains less over breadth-first than on the Thai-like web", lambda j, t: _gain(j) < _gain(t)),
    ]


def _focus_pays(o: Outcomes) -> bool:
    return min(o["soft-focused"].early, o["hard-focused"].early) > 1.3 * o["breadth-first"].early


def _soft_is_hard_early(o: Outcomes) -> bool:
    return abs(o["soft-focused"].early - o["hard-focused"].early) < 0.03


def _steady_early(o: Outcomes) -> bool:
    early = [o[strategy].early for strategy in PRIORITISED]
    return max(early) - min(early) < 0.01


def _steady(figure: str) -> Callable[[Outcomes], bool]:
    """As in figure 7."""

    def steady(o: Outcomes) -> bool:
        values = [getattr(o[strategy], figure) for strategy in PRIORITISED]
        return bool(max(values) - min(values) < 0.05)

    return steady


def _not_kept_up(o: Outcomes) -> bool:
    best = max(outcome.early for outcome in o.values())
    return all(outcome.final < 0.95 * best for outcome in o.values())


def _gain(o: Outcomes) -> float:
    return o["soft-focused"].early / o["breadth-first"].early


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


def table(kind: str, results: Sequence[Outcomes]) -> list[list[str]]:
    """Mean and range over the seeds, a row for each strategy."""
    rows = []
    for strategy in results[0]:
        cells = [
            spread([getattr(outcomes[strategy], name) for outcomes in results], form)
            for name, form in (("early", ".3f"), ("final", ".3f"), ("coverage", ".3f"), ("queue", ",.0f"))
        ]
        rows.append([f"{kind} {strategy}", *cells])
    return rows


COLUMNS = ("web and strategy", "harvest at 1/7", "harvest at end", "coverage", "largest queue")
