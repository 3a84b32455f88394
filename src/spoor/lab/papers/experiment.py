"""Shared code of the paper experiments: setup, conditions fixed before a run, samples, cached verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.lab.comparison import Job, run_jobs
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.progress import Progress, unseen
from spoor.records import Page, Verdict
from spoor.roles import Judge
from spoor.strategy import verdicts_of

# The setup of an experiment.


@dataclass(frozen=True)
class Setup:
    """The seeds, a folder for generated files, and a process pool. `progress` shows the number of finished jobs."""

    seeds: Sequence[int]
    folder: Path
    pool: Executor
    progress: Progress

    def run(self, doing: str, jobs: Sequence[Job]) -> list[Any]:
        """Returns the results in the order of the jobs."""
        with self.progress(doing, len(jobs)) as advance:
            return run_jobs(jobs, self.pool, advance)


def generated(request: Request, web: Path) -> Path:
    """Reuses an existing web."""
    if not web.exists():
        generate(request, web, unseen)
    return web


# Conditions fixed before a run. Failures are printed as such.


@dataclass(frozen=True)
class Condition:
    """A claim of a paper in our terms, whether it held for each seed, and for how many seeds it must hold. `bound` is
    the reason why it holds by construction on any web, and such a condition does not count; "" if it is tested."""

    claim: str
    held: tuple[bool, ...]
    needed: int
    bound: str = ""

    @property
    def holds(self) -> bool:
        return sum(self.held) >= self.needed

    def line(self) -> str:
        answer = "yes" if self.holds else "no"
        needs = "" if self.bound else f" (needs {self.needed})"
        why = f": {self.bound}" if self.bound else ""
        return f"{answer:<4} {sum(self.held):>2} of {len(self.held)}{needs}  {self.claim}{why}"


def condition_lines(conditions: Sequence[Condition]) -> list[str]:
    """Tested conditions, and separately those that hold by construction."""
    tested, bound = ([one for one in conditions if bool(one.bound) == known] for known in (False, True))
    lines = ["tested:", *(f"  {one.line()}" for one in tested)]
    return [*lines, "by construction, not counted:", *(f"  {one.line()}" for one in bound)] if bound else lines


def all_hold(conditions: Sequence[Condition]) -> bool:
    """Considers only tested conditions."""
    return all(condition.holds for condition in conditions if not condition.bound)


def rises(values: Sequence[float]) -> bool:
    """Whether the values are strictly increasing."""
    return all(a < b for a, b in pairwise(values))


def falls(values: Sequence[float]) -> bool:
    return rises([-value for value in values])


# Tables and figures of a paper, with published and our numbers.


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def spread(values: Sequence[float], form: str) -> str:
    """Mean and range over the seeds; `form` is the format of a number, such as ".3f"."""
    mean = sum(values) / len(values)
    return f"{mean:{form}} ({min(values):{form}}–{max(values):{form}})"


Point = tuple[float, float]


@dataclass(frozen=True)
class Chart:
    """A figure of a paper redrawn: our lines by name and, if numbers are published, theirs. `across` and `up` are the
    axis labels."""

    title: str
    across: str
    up: str
    ours: Mapping[str, Sequence[Point]]
    published: Mapping[str, Sequence[Point]] = field(default_factory=dict)


def mean_line(lines: Sequence[Sequence[Point]]) -> list[Point]:
    """The mean of lines with the same x values, one per seed."""
    return [(points[0][0], sum(y for _, y in points) / len(points)) for points in zip(*lines, strict=True)]


# Pages are judged once, however many crawls visit them.


@dataclass(frozen=True)
class OnceJudged:
    """Caches verdicts by URL; for webs that do not change."""

    judge_of_pages: Judge
    _verdicts: dict[str, Verdict] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def reads_content(self) -> bool:
        return self.judge_of_pages.reads_content

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        new = [page for page in pages if page.url not in self._verdicts]
        self._verdicts.update(zip((page.url for page in new), verdicts_of(self.judge_of_pages, new), strict=True))
        return [self._verdicts[page.url] for page in pages]


# Which pages are sampled before a crawl, where it starts, and which pages are in reach.


SHARE = 0.1
"""The share of the pages used for training; an equal share is used to set the threshold."""
STARTS = 20


@dataclass(frozen=True, eq=False)
class Draw:
    """Two samples of labelled pages, `to_learn` and `to_calibrate`; `seeds` are pages of the field that are in
    neither."""

    to_learn: NDArray[np.bool_]
    to_calibrate: NDArray[np.bool_]
    seeds: tuple[int, ...]

    @property
    def sample(self) -> NDArray[np.bool_]:
        return self.to_learn | self.to_calibrate


def draw(relevant: NDArray[np.bool_], answers: NDArray[np.bool_], seed: int) -> Draw:
    """Samples all pages, so that the field has its natural share in them."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(answers))
    size = int(SHARE * len(order))
    to_learn, to_calibrate = (_mask(len(answers), part) for part in (order[:size], order[size : 2 * size]))
    left = order[2 * size :]
    seeds = left[relevant[left]][:STARTS]
    if len(seeds) < STARTS or not (relevant & to_learn).any() or not (relevant & to_calibrate).any():
        raise BadInput(f"{int(relevant.sum())} relevant pages are too few to train on some and start from {STARTS}")
    return Draw(to_learn, to_calibrate, tuple(seeds.tolist()))


def _mask(pages: int, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    mask = np.zeros(pages, np.bool_)
    mask[numbers] = True
    return mask


def within(web: Web, seeds: Sequence[int], depth: int) -> NDArray[np.bool_]:
    """Mask of the pages at most `depth` links away from a seed."""
    offsets, targets = web.steps()
    near = np.zeros(web.pages, np.bool_)
    edge = np.array(seeds)
    near[edge] = True
    for _ in range(depth):
        linked = [targets[offsets[page] : offsets[page + 1]] for page in edge]
        found = np.unique(np.concatenate([*linked, np.empty(0, np.int32)]))
        found = found[found < web.pages]
        edge = found[~near[found]]
        near[edge] = True
    return near
