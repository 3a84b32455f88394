"""Kumar, Vig: pages of one branch of engineering by ontology, rules and a dictionary, figures beside ours.

The conditions are frozen: they were fixed before seeds 301-320 were first run, and those seeds are for that run alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spoor.judging.dictionary import read_dictionary
from spoor.judging.page_rules import trained_on_web, write_rules
from spoor.lab.generate.chance import Request
from spoor.lab.generate.courses import OWN_HINDI
from spoor.lab.measures import Run
from spoor.lab.papers.experiment import Condition, Setup, generated, rises
from spoor.lab.runs import prepared_task, run
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web

# Kumar, Vig: pages of one branch of engineering by ontology, rules and a dictionary, on webs partly in Hindi.


SEEDS = tuple(range(301, 321))
PAGES = 1_000
BUDGET = 0.3
"""Visits for every page of a web."""
TARGET = "class=CSE"
TICKS = 10
"""Points of a harvest curve."""
OTHER_SEED = 500
"""What is known of the classes beforehand comes from the web that is so many seeds on, all in English."""

IMPORTANCE = """term,importance,forms
Comp. Sc. and Engg.,1.0,computer science and engineering
Comp. Engg.,0.9,computer engineering
Comp. Sc.,0.8,computer science
Information Tech.,0.5,information technology
Computer,0.4,
Engineering,0.3,
"""
"""Table 1, with the terms written out as pages have them."""

BASELINE, CORE, ML_CORE = CRAWLERS = ("baseline", "CORE", "ML-CORE")
IN_ENGLISH = "CORE, no page mixed"
"""What there is to win by knowing the other language."""


@dataclass(frozen=True)
class Given:
    """Files that the crawlers are given before they have learned anything."""

    ontology: Path
    dictionary: Path

    def strategies(self, rules: Path) -> dict[str, str]:
        """By crawler."""
        known = f"model={rules}:ontology={self.ontology}"
        made = (f"core-baseline:model={rules}", f"core:{known}", f"ml-core:{known}:dictionary={self.dictionary}")
        return dict(zip(CRAWLERS, made, strict=True))


@dataclass(frozen=True)
class Outcome:
    """One seed: how many of the `relevant` pages each crawler had found after each tick, CORE also where all is in
    English; and whether ML-CORE, which differs from it by the dictionary alone, makes the same visits there."""

    relevant: int
    found: dict[str, tuple[int, ...]]
    same_in_english: bool


@dataclass(frozen=True)
class Experiment:
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    budget: int

    def found(self, crawler: str) -> list[int]:
        """At the end, seed by seed."""
        return [outcome.found[crawler][-1] for outcome in self.outcomes]

    def curve(self, crawler: str) -> list[float]:
        """The mean over the seeds, tick by tick."""
        ticks = zip(*(outcome.found[crawler] for outcome in self.outcomes), strict=True)
        return [sum(found) / len(found) for found in ticks]


def reproduce(setup: Setup, request: Request) -> Experiment:
    """Generates webs like `request` for each seed and lets every crawler loose on them."""
    given = given_to_all(request.words, setup.folder)
    jobs = [(outcome, replace(request, seed=seed), given, setup.folder) for seed in setup.seeds]
    done = setup.run("seeds crawled", jobs)
    return Experiment(tuple(setup.seeds), tuple(done), round(BUDGET * request.pages))


def given_to_all(dictionary: Path | None, folder: Path) -> Given:
    """The ontology is that of the paper, the dictionary that of the pages: from outside, or the generator's own. Read
    here, so that what is wrong with it is said once, and before anything takes long."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {hindi: english for english, hindi in OWN_HINDI.items()}
    if dictionary:
        known = {" ".join(term): sense for term, sense in read_dictionary(dictionary).entries.items()}
    lines = "".join(f"{term}\t{sense}\n" for term, sense in known.items())
    return Given(_written(folder / "importance.csv", IMPORTANCE), _written(folder / "dictionary.tsv", lines))


def _written(path: Path, text: str) -> Path:
    path.write_text(text, "utf8")
    return path


def outcome(request: Request, given: Given, folder: Path) -> Outcome:
    """The webs of one seed, all crawlers."""
    strategies = given.strategies(learned(request, folder))
    mixed = _task(request, folder)
    english = _task(replace(request, name="courses-english", words=None), folder)
    one, other = (run(english, strategies[crawler]) for crawler in (CORE, ML_CORE))
    found = {crawler: _curve(run(mixed, strategy), mixed) for crawler, strategy in strategies.items()}
    relevant = prepared_task(mixed).yardstick.relevant
    return Outcome(relevant, found | {IN_ENGLISH: _curve(one, english)}, np.array_equal(one.order, other.order))


def learned(request: Request, folder: Path) -> Path:
    """Classes and rules, from another web of the same size."""
    elsewhere = replace(request, name="courses-english", seed=request.seed + OTHER_SEED, words=None)
    rules = folder / f"rules-{elsewhere.seed}.spoor"
    write_rules(rules, trained_on_web(Web.open(_generated(elsewhere, folder)), TARGET))
    return rules


def _generated(request: Request, folder: Path) -> Path:
    words = f"-{request.words.stem}" if request.words else ""
    return generated(request, folder / f"{request.name}-{request.seed}{words}")


def _task(request: Request, folder: Path) -> Task:
    """The judge is the truth, which none of these crawlers asks: they go by classes that they have learned."""
    web = _generated(request, folder)
    return Task(web, TARGET, read_seeds(web / "seeds.txt"), budget=round(BUDGET * request.pages))


def _curve(done: Run, task: Task) -> tuple[int, ...]:
    """A crawl that ended early keeps what it has."""
    visits = prepared_task(task).yardstick.budget
    return tuple(int(done.found[: visits * tick // TICKS].sum()) for tick in range(1, TICKS + 1))


def conditions(experiment: Experiment) -> list[Condition]:
    """The frozen list."""
    means = [experiment.curve(crawler)[-1] for crawler in CRAWLERS]
    pairs = zip(experiment.found(ML_CORE), experiment.found(CORE), strict=True)
    needed = -(-16 * len(experiment.seeds) // 20)
    same = tuple(outcome.same_in_english for outcome in experiment.outcomes)
    return [
        Condition("mean relevant pages found: ML-CORE above CORE above baseline", (rises(means),), 1),
        Condition("relevant pages found: ML-CORE at least as many as CORE", tuple(a >= b for a, b in pairs), needed),
        Condition("no page mixed: ML-CORE makes the very visits of CORE", same, len(same)),
    ]


PUBLISHED = (
    "1,000 pages, 20 % of them mixed English and Hindi, thresholds 5 and 3; a figure without numbers:",
    "relevant pages against pages downloaded, ML-CORE above CORE above the baseline",
)
"""What the paper says."""


# What the three crawlers of the CORE paper found, and how soon.


FOUND = ("crawler", "relevant pages found", "of those in reach", "harvest")
_CURVES = (*CRAWLERS, IN_ENGLISH)
CURVE = ("visits", *_CURVES)


def found_rows(experiment: Experiment) -> list[list[str]]:
    """Mean and range over the seeds."""
    return [_found_row(experiment, crawler) for crawler in _CURVES]


def _found_row(experiment: Experiment, crawler: str) -> list[str]:
    found = experiment.found(crawler)
    mean = sum(found) / len(found)
    relevant = sum(outcome.relevant for outcome in experiment.outcomes) / len(found)
    spread = f"{mean:.1f} ({min(found)}–{max(found)})"
    return [crawler, spread, f"{mean / relevant:.3f}", f"{mean / experiment.budget:.3f}"]


def curve_rows(experiment: Experiment) -> list[list[str]]:
    """The harvest curves: mean relevant pages found after so many visits."""
    curves = zip(*(experiment.curve(crawler) for crawler in _CURVES), strict=True)
    visits = (experiment.budget * tick // TICKS for tick in range(1, TICKS + 1))
    return [[str(after), *(f"{found:.1f}" for found in row)] for after, row in zip(visits, curves, strict=True)]
