"""Somboonviwat, Tamura, Kitsuregawa (2005): language-specific crawling on Thai-like and Japanese-like webs.

The conditions are frozen: they were fixed before seeds 301-310 were first run, and those seeds are for that run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.lab.generate.chance import Request
from spoor.lab.papers.experiment import Condition, Setup, falls, generated, rises, spread
from spoor.lab.runs import prepared_task, run
from spoor.lab.task import Task, read_seeds

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


def reproduce(setup: Setup, pages: int) -> Experiment:
    """Generates the webs and runs every strategy on each."""
    jobs = [(outcomes, kind, seed, pages, setup.folder) for kind in ("thai", "japanese") for seed in setup.seeds]
    done = setup.run("webs crawled", jobs)
    seeds = len(setup.seeds)
    return Experiment(tuple(setup.seeds), thai=tuple(done[:seeds]), japanese=tuple(done[seeds:]))


def outcomes(kind: str, seed: int, pages: int, folder: Path) -> Outcomes:
    """One web, all strategies, the judge reading what is really on the pages."""
    web = generated(Request(kind, pages, seed, text=True), folder / f"{kind}-{seed}")
    strategies = STRATEGIES if kind == "thai" else SIMPLE
    return {strategy: outcome(web, JUDGES[kind], strategy, pages) for strategy in strategies}


def outcome(web: Path, judge: str, strategy: str, pages: int) -> Outcome:
    seeds = read_seeds(web / "seeds.txt")
    task = Task(web, "relevant", seeds, judge, budget=pages, driver="compiled")
    prepared, done = prepared_task(task), run(task, strategy)
    early = min(prepared.reachable_pages // EARLY, len(done.found))
    found = int(done.found.sum())
    return Outcome(
        early=float(done.found[:early].mean()),
        final=found / len(done.found),
        coverage=found / prepared.yardstick.relevant,
        queue=int(done.queue.max()),
    )


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
            spread([getattr(outcomes[strategy], name) for outcomes in results], form)
            for name, form in (("early", ".3f"), ("final", ".3f"), ("coverage", ".3f"), ("queue", ",.0f"))
        ]
        rows.append([f"{kind} {strategy}", *cells])
    return rows


COLUMNS = ("web and strategy", "harvest at 1/7", "harvest at end", "coverage", "largest queue")
