"""Somboonviwat, Tamura, Kitsuregawa (2005): language-specific crawling on Thai-like and Japanese-like webs.

The conditions are frozen: they were fixed before seeds 301-310 were first run, and those seeds are for that run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.papers.experiment import Condition, falls, rises
from spoor.lab.runs import prepared_task, run
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web
from spoor.parse.html import HTML_TYPES

SEEDS = tuple(range(301, 311))
PAGES = 30_000
EARLY = 7
"""The paper looks at the first 2 of 14 million pages: a seventh of the crawl."""

NS = (1, 2, 3, 4)
PLAIN = tuple(f"limited-distance:n={n}" for n in NS)
PRIORITISED = tuple(f"prioritised-limited-distance:n={n}" for n in NS)
SIMPLE = ("breadth-first", "hard-focused", "soft-focused")
STRATEGIES = SIMPLE + PLAIN + PRIORITISED
JUDGES = {"thai": "charset:th:sources=meta", "japanese": "charset:ja:sources=detected"}
"""As in the paper: Thai by the META declaration, Japanese by a detector."""

SHARES = {
    "thai": {"errors": 0.361, "non_html": 0.361, "mislabelled": 0.05},
    "japanese": {"errors": 0.067, "non_html": 0.067},
}
"""Of 14 million Thai URLs 3,886,944 were HTML with the status 200, of 110 million Japanese ones 95,183,978. How many of
the others were errors the paper does not say, nor how many pages were mislabelled: "in some cases"."""


@dataclass(frozen=True)
class Outcome:
    """One strategy on one web: harvest after a seventh of the crawl and at the end, coverage, largest queue."""

    early: float
    final: float
    coverage: float
    queue: int


Outcomes = dict[str, Outcome]
"""By strategy."""


@dataclass(frozen=True)
class Experiment:
    """The outcomes on the webs of each seed."""

    seeds: tuple[int, ...]
    thai: tuple[Outcomes, ...]
    japanese: tuple[Outcomes, ...]


def reproduce(
    seeds: Sequence[int], pages: int, folder: Path, pool: Executor, advance: Callable[[int], None]
) -> Experiment:
    """Generates the webs in `folder` and runs every strategy on each; `advance` is told of each web that is done."""
    jobs = {pool.submit(outcomes, kind, seed, pages, folder): (kind, seed) for kind in JUDGES for seed in seeds}
    done: dict[tuple[str, int], Outcomes] = {}
    for future in as_completed(jobs):
        done[jobs[future]] = future.result()
        advance(1)
    thai, japanese = (tuple(done[kind, seed] for seed in seeds) for kind in JUDGES)
    return Experiment(tuple(seeds), thai, japanese)


def outcomes(kind: str, seed: int, pages: int, folder: Path) -> Outcomes:
    """One web, all strategies, the judge reading what is really on the pages."""
    web = folder / f"{kind}-{seed}"
    if not web.exists():
        generate(Request(kind, pages, seed, True, None, **SHARES[kind]), web, lambda pages: None)
    strategies = STRATEGIES if kind == "thai" else SIMPLE
    return {strategy: outcome(web, JUDGES[kind], strategy) for strategy in strategies}


def outcome(web: Path, judge: str, strategy: str) -> Outcome:
    """A seventh of the crawl is a seventh of its requests; harvest is the share of the HTML pages that came."""
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
    )


def _are_html(web: Web) -> NDArray[np.bool_]:
    """Which URLs are pages as table 3 counts them: HTML with the status 200."""
    html = [number for number, name in enumerate(web.about["content_types"]) if name in HTML_TYPES]
    return web.answers() & np.isin(web.array("content_type"), html)


def conditions(experiment: Experiment) -> list[Condition]:
    """The frozen list."""
    needed = -(-8 * len(experiment.seeds) // 10)

    def thai(claim: str, holds: Callable[[Outcomes], bool]) -> Condition:
        return Condition(f"Thai-like: {claim}", tuple(map(holds, experiment.thai)), needed)

    def both(claim: str, holds: Callable[[Outcomes, Outcomes], bool]) -> Condition:
        pairs = zip(experiment.japanese, experiment.thai, strict=True)
        return Condition(f"Japanese-like: {claim}", tuple(holds(*pair) for pair in pairs), needed)

    return [
        thai("soft and hard harvest early more than 1.3 times breadth-first", _focus_pays),
        thai("soft and hard harvest early within .03 of one another", _soft_is_hard_early),
        thai("hard-focused ends at a coverage of .6 to .9", lambda o: 0.6 <= o["hard-focused"].coverage <= 0.9),
        thai("soft-focused reaches full coverage", lambda o: o["soft-focused"].coverage == 1.0),
        thai(
            "largest queue of hard below half of soft", lambda o: 2 * o["hard-focused"].queue < o["soft-focused"].queue
        ),
        thai("limited distance: coverage rises with every N", lambda o: rises([o[s].coverage for s in PLAIN])),
        thai("limited distance: largest queue rises with every N", lambda o: rises([o[s].queue for s in PLAIN])),
        thai("limited distance: early harvest falls with every N", lambda o: falls([o[s].early for s in PLAIN])),
        thai("prioritised: early harvest the same for all N (spread below .01)", _prioritised_is_steady),
        thai("prioritised: largest queue rises with every N", lambda o: rises([o[s].queue for s in PRIORITISED])),
        both("breadth-first already harvests more than .65 early", lambda j, _: j["breadth-first"].early > 0.65),
        both("soft gains less over breadth-first than on the Thai-like web", lambda j, t: _gain(j) < _gain(t)),
    ]


def _focus_pays(o: Outcomes) -> bool:
    return min(o["soft-focused"].early, o["hard-focused"].early) > 1.3 * o["breadth-first"].early


def _soft_is_hard_early(o: Outcomes) -> bool:
    return abs(o["soft-focused"].early - o["hard-focused"].early) < 0.03


def _prioritised_is_steady(o: Outcomes) -> bool:
    early = [o[strategy].early for strategy in PRIORITISED]
    return max(early) - min(early) < 0.01


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
"""What the paper says. Absolute numbers are not to be expected of a generated web."""


def table(kind: str, results: Sequence[Outcomes]) -> list[list[str]]:
    """Mean and range over the seeds, a row for each strategy."""
    rows = []
    for strategy in results[0]:
        cells = [
            _spread([getattr(outcomes[strategy], name) for outcomes in results], digits)
            for name, digits in (("early", 3), ("final", 3), ("coverage", 3), ("queue", 0))
        ]
        rows.append([f"{kind} {strategy}", *cells])
    return rows


COLUMNS = ("web and strategy", "harvest at 1/7", "harvest at end", "coverage", "largest queue")


def _spread(values: Sequence[float], digits: int) -> str:
    mean = sum(values) / len(values)
    return f"{mean:,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"
