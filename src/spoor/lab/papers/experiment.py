"""What the experiments of the papers share: a setup, conditions fixed before a run, samples, verdicts given once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.lab.comparison import Job, side_by_side
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.progress import Progress, unseen
from spoor.records import Page, Verdict
from spoor.roles import Judge
from spoor.strategy import verdicts_of

# What an experiment is given, whoever runs it.


@dataclass(frozen=True)
class Setup:
    """The seeds, a folder for what is made, and the processes to work in. `progress` shows how many jobs are done."""

    seeds: Sequence[int]
    folder: Path
    pool: Executor
    progress: Progress

    def run(self, doing: str, jobs: Sequence[Job]) -> list[Any]:
        """What each job returns, in their order."""
        with self.progress(doing, len(jobs)) as advance:
            return side_by_side(jobs, self.pool, advance)


def generated(request: Request, web: Path) -> Path:
    """Webs that were kept are used again."""
    if not web.exists():
        generate(request, web, unseen)
    return web


# Conditions fixed before a run: each holds or does not, and a failure is printed as one.


@dataclass(frozen=True)
class Condition:
    """A claim of a paper in our terms, the seeds in which it held, and in how many it must hold."""

    claim: str
    held: tuple[bool, ...]
    needed: int

    @property
    def holds(self) -> bool:
        return sum(self.held) >= self.needed

    def line(self) -> str:
        answer = "yes" if self.holds else "no"
        return f"{answer:<4} {sum(self.held):>2} of {len(self.held)} (needs {self.needed})  {self.claim}"


def rises(values: Sequence[float]) -> bool:
    """Strictly, at every step."""
    return all(a < b for a, b in pairwise(values))


def falls(values: Sequence[float]) -> bool:
    return rises([-value for value in values])


def spread(values: Sequence[float], form: str) -> str:
    """Mean and range over the seeds; `form` is that of a number, such as ".3f"."""
    mean = sum(values) / len(values)
    return f"{mean:{form}} ({min(values):{form}}–{max(values):{form}})"


# Pages are judged once, however many crawls come by them.


@dataclass(frozen=True)
class OnceJudged:
    """Remembers verdicts by URL, so that it suits a web that does not change."""

    judge_of_pages: Judge
    _verdicts: dict[str, Verdict] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def reads_content(self) -> bool:
        return self.judge_of_pages.reads_content

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        new = [page for page in pages if page.url not in self._verdicts]
        self._verdicts.update(zip((page.url for page in new), verdicts_of(self.judge_of_pages, new), strict=True))
        return [self._verdicts[page.url] for page in pages]


# Which pages are looked at beforehand, where a crawl begins, and which pages are within its reach.


SHARE = 0.1
"""Of the pages of the web, to learn from; and as many again to set a threshold by."""
STARTS = 20


@dataclass(frozen=True, eq=False)
class Draw:
    """Two samples of pages that somebody sorted by hand, `to_learn` and `to_calibrate`; `seeds` are pages of the field
    that are in neither."""

    to_learn: NDArray[np.bool_]
    to_calibrate: NDArray[np.bool_]
    seeds: tuple[int, ...]

    @property
    def sample(self) -> NDArray[np.bool_]:
        return self.to_learn | self.to_calibrate


def draw(relevant: NDArray[np.bool_], answers: NDArray[np.bool_], seed: int) -> Draw:
    """Samples of pages about anything, so that the field has its natural share in them."""
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
    """Which pages are at most so many links away from a seed."""
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
