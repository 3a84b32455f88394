"""Kumar, Vig: finds pages of one branch of engineering by ontology, rules and a dictionary; published and our results.

Seeds 401-410 are for the acceptance run only: nothing was ever tuned on them.
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
from spoor.lab.papers.experiment import Cell, Chart, Claim, Estimate, Setup, by_seed, generated
from spoor.lab.runs import prepared_task, run
from spoor.lab.task import Task, read_seeds
from spoor.lab.web import Web

# Kumar, Vig: finds pages of one branch of engineering by ontology, rules and a dictionary, on webs partly in Hindi.


SEEDS = tuple(range(401, 411))
PAGES = 1_000
BUDGET = 0.3
"""Visits per page of a web."""
TARGET = "class=CSE"
TICKS = 10
"""Points of a harvest curve."""
OTHER_SEED = 500
"""Offset to the seed of the training web, which is entirely in English."""

IMPORTANCE = """term,importance,forms
Comp. Sc. and Engg.,1.0,computer science and engineering
Comp. Engg.,0.9,computer engineering
Comp. Sc.,0.8,computer science
Information Tech.,0.5,information technology
Computer,0.4,
Engineering,0.3,
"""
"""Table 1, with the terms written out as they occur on pages."""

BASELINE, CORE, ML_CORE = CRAWLERS = ("baseline", "CORE", "ML-CORE")
IN_ENGLISH = "CORE, no page mixed"
"""The upper bound for handling the second language."""
CORE_ALONE, ML_CORE_ALONE = WITHOUT_RULES = ("CORE without rules", "ML-CORE without rules")


@dataclass(frozen=True)
class Given:
    """Files that the crawlers receive before training. With a `translator`, a TOML file that configures one, ML-CORE
    does not use the dictionary."""

    ontology: Path
    dictionary: Path
    translator: Path | None = None

    def strategies(self, rules: Path) -> dict[str, str]:
        """Strategies by crawler."""
        known = f"ontology={self.ontology}"
        translated = f"translator={self.translator}" if self.translator else f"dictionary={self.dictionary}"
        return {
            BASELINE: f"core-baseline:model={rules}",
            CORE: f"core:model={rules}:{known}",
            ML_CORE: f"ml-core:model={rules}:{known}:{translated}",
            CORE_ALONE: f"core:{known}",
            ML_CORE_ALONE: f"ml-core:{known}:{translated}",
        }


@dataclass(frozen=True)
class Outcome:
    """One seed: the number of `relevant` pages that each crawler has found after each tick, including CORE on the web
    without mixed pages; and whether ML-CORE, which differs only by the dictionary, makes the same visits there."""

    relevant: int
    found: dict[str, tuple[int, ...]]
    same_in_english: bool


@dataclass(frozen=True)
class Experiment:
    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    budget: int

    def found(self, crawler: str) -> list[int]:
        """The final counts, one per seed."""
        return [outcome.found[crawler][-1] for outcome in self.outcomes]

    def curve(self, crawler: str) -> list[float]:
        """The mean over the seeds, for each tick."""
        ticks = zip(*(outcome.found[crawler] for outcome in self.outcomes), strict=True)
        return [sum(found) / len(found) for found in ticks]


def reproduce(setup: Setup, request: Request, translator: Path | None = None) -> Experiment:
    """Generates webs like `request` for each seed and runs every crawler on them. A `translator` replaces the
    dictionary of ML-CORE."""
    given = replace(given_to_all(request.words, setup.folder), translator=translator)
    jobs = [(outcome, replace(request, seed=seed), given, setup.folder) for seed in setup.seeds]
    done = setup.run("seeds crawled", jobs)
    return Experiment(tuple(setup.seeds), tuple(done), round(BUDGET * request.pages))


def given_to_all(dictionary: Path | None, folder: Path) -> Given:
    """The ontology of the paper, and the dictionary of the pages: a given file, or that of the generator. Reads the
    dictionary first, so that an error in it is raised once, before long work starts."""
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
    """All crawlers on the webs of one seed."""
    strategies = given.strategies(learned(request, folder))
    mixed = _task(request, folder)
    english = _task(replace(request, name="courses-english", words=None), folder)
    one, other = (run(english, strategies[crawler]) for crawler in (CORE, ML_CORE))
    found = {crawler: _curve(run(mixed, strategy), mixed) for crawler, strategy in strategies.items()}
    relevant = prepared_task(mixed).yardstick.relevant
    return Outcome(relevant, found | {IN_ENGLISH: _curve(one, english)}, np.array_equal(one.order, other.order))


def learned(request: Request, folder: Path) -> Path:
    """Classes and rules, trained on another web of the same size."""
    elsewhere = replace(request, name="courses-english", seed=request.seed + OTHER_SEED, words=None)
    rules = folder / f"rules-{elsewhere.seed}.spoor"
    write_rules(rules, trained_on_web(Web.open(_generated(elsewhere, folder)), TARGET))
    return rules


def _generated(request: Request, folder: Path) -> Path:
    words = f"-{request.words.stem}" if request.words else ""
    return generated(request, folder / f"{request.name}-{request.seed}{words}")


def _task(request: Request, folder: Path) -> Task:
    """The judge is the ground truth, which these crawlers do not use: they rely on their trained classes."""
    web = _generated(request, folder)
    return Task(web, TARGET, read_seeds(web / "seeds.txt"), budget=round(BUDGET * request.pages))


def _curve(done: Run, task: Task) -> tuple[int, ...]:
    """After a crawl has ended early, the curve stays constant."""
    visits = prepared_task(task).yardstick.budget
    return tuple(int(done.found[: visits * tick // TICKS].sum()) for tick in range(1, TICKS + 1))


ONLY_THE_DICTIONARY = "the two differ by the dictionary alone, and no page has a word of it"
"""Why a claim holds by construction."""


def claims(experiment: Experiment) -> list[Claim]:
    def above(crawler: str, other: str) -> Claim:
        pairs = zip(experiment.found(crawler), experiment.found(other), strict=True)
        return Claim(f"relevant pages found: {crawler} above {other}", (by_seed(a - b for a, b in pairs),))

    same = by_seed((outcome.same_in_english - 1 for outcome in experiment.outcomes), or_equal=True)
    return [
        above(ML_CORE, CORE),
        above(CORE, BASELINE),
        above(CORE, CORE_ALONE),
        above(ML_CORE, ML_CORE_ALONE),
        Claim("no page mixed: ML-CORE makes the very visits of CORE", (same,), ONLY_THE_DICTIONARY),
    ]


PUBLISHED = (
    "1,000 pages, 20 % of them mixed English and Hindi, thresholds 5 and 3; a figure without numbers:",
    "relevant pages against pages downloaded, ML-CORE above CORE above the baseline",
)
"""Claims of the paper."""


# The pages that the three crawlers of the CORE paper found, and how soon.


FOUND = {"crawler": "", "relevant pages found": ".1f", "of those in reach": ".3f", "harvest": ".3f"}
_CURVES = (*CRAWLERS, *WITHOUT_RULES, IN_ENGLISH)
CURVE = {"visits": "d"} | dict.fromkeys(_CURVES, ".1f")


def found_rows(experiment: Experiment) -> list[list[Cell]]:
    return [_found_row(experiment, crawler) for crawler in _CURVES]


def _found_row(experiment: Experiment, crawler: str) -> list[Cell]:
    found = experiment.found(crawler)
    of_reach = (n / outcome.relevant for n, outcome in zip(found, experiment.outcomes, strict=True))
    harvest = (n / experiment.budget for n in found)
    return [crawler, *(Estimate(tuple(values)) for values in (map(float, found), of_reach, harvest))]


def charts(experiment: Experiment) -> list[Chart]:
    """The figure of the paper, which has no numbers."""
    visits = [float(experiment.budget * tick // TICKS) for tick in range(1, TICKS + 1)]
    ours = {crawler: list(zip(visits, experiment.curve(crawler), strict=True)) for crawler in _CURVES}
    return [Chart("relevant pages against pages downloaded", "visits", "relevant pages found, mean", ours)]


def curve_rows(experiment: Experiment) -> list[list[Cell]]:
    """The harvest curves: mean number of relevant pages found after that many visits."""
    curves = zip(*(experiment.curve(crawler) for crawler in _CURVES), strict=True)
    visits = (experiment.budget * tick // TICKS for tick in range(1, TICKS + 1))
    return [[after, *row] for after, row in zip(visits, curves, strict=True)]
