"""Shared code of the paper experiments: setup, claims fixed before a run, tables, samples, cached verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal

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


# Figures over several seeds: mean and 95 % interval.


STUDENT_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""The 97.5 % quantiles of Student's distribution for 1 to 30 degrees of freedom. With more, the last is used, so that
intervals are slightly too wide."""


@dataclass(frozen=True)
class Estimate:
    """A figure that was measured once for each seed."""

    by_seed: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.by_seed)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean. None with a single seed."""
        seeds = len(self.by_seed)
        if seeds < 2:
            return None
        half = STUDENT_T[min(seeds - 1, len(STUDENT_T)) - 1] * stdev(self.by_seed) / sqrt(seeds)
        return self.mean - half, self.mean + half

    def as_json(self) -> dict[str, object]:
        low, high = self.interval or (None, None)
        return {"mean": self.mean, "low": low, "high": high, "by_seed": list(self.by_seed)}

    def shown(self, form: str) -> str:
        """`form` is the format of a number, such as ".3f"."""
        if self.interval is None:
            return f"{self.mean:{form}}"
        low, high = self.interval
        return f"{self.mean:{form}} ({low:{form}} to {high:{form}})"


# Claims of a paper, fixed before a run.


Answer = Literal["yes", "no", "undecided"]
WORST_FIRST: tuple[Answer, ...] = ("no", "undecided", "yes")


@dataclass(frozen=True)
class Margin:
    """By how much a comparison holds, for each seed: above 0 where it does. `or_equal`: 0 is enough."""

    size: Estimate
    or_equal: bool = False

    @property
    def answer(self) -> Answer:
        """Undecided if the 95 % interval of the mean has 0 inside, or if there is a single seed."""
        if self.size.interval is None:
            return "undecided"
        low, high = self.size.interval
        if low > 0 or (self.or_equal and low == 0):
            return "yes"
        return "no" if high < 0 or (high == 0 and not self.or_equal) else "undecided"

    def holds(self) -> list[bool]:
        return [size > 0 or (self.or_equal and size == 0) for size in self.size.by_seed]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in our terms, and the comparisons that it consists of. `forced` is the reason why it holds by
    construction, or almost, and such a claim does not count; "" if it is tested."""

    text: str
    margins: tuple[Margin, ...]
    forced: str = ""

    @property
    def answer(self) -> Answer:
        """Yes if every comparison holds, no if one of them does not."""
        return self._closest.answer

    @property
    def _closest(self) -> Margin:
        """The comparison that decides the answer."""
        return min(self.margins, key=lambda margin: (WORST_FIRST.index(margin.answer), margin.size.mean))

    @property
    def seeds_in_favour(self) -> int:
        """The number of seeds for which every comparison holds."""
        return sum(map(all, zip(*(margin.holds() for margin in self.margins), strict=True)))

    def line(self) -> str:
        size, seeds = self._closest.size, len(self._closest.size.by_seed)
        form = "+,.0f" if abs(size.mean) >= 100 else "+.3f"
        why = f": {self.forced}" if self.forced else ""
        return f"{self.answer:<9}  {size.shown(form):<28}  {self.seeds_in_favour:>2} of {seeds}  {self.text}{why}"

    def as_json(self) -> dict[str, object]:
        return {
            "claim": self.text,
            "answer": self.answer,
            "forced": self.forced or None,
            "seeds": len(self.margins[0].size.by_seed),
            "seeds_in_favour": self.seeds_in_favour,
            "margins": [margin.size.as_json() | {"or_equal": margin.or_equal} for margin in self.margins],
        }


def by_seed(values: Iterable[float], or_equal: bool = False) -> Margin:
    return Margin(Estimate(tuple(float(value) for value in values)), or_equal)


def claim_lines(claims: Sequence[Claim]) -> list[str]:
    """Tested claims, and separately those that are forced."""
    tested, forced = ([claim for claim in claims if bool(claim.forced) == known] for known in (False, True))
    about = "tested: answer, margin of the closest comparison (95 % interval), seeds in favour"
    lines = [about, *(f"  {claim.line()}" for claim in tested)]
    return [*lines, "forced, not counted:", *(f"  {claim.line()}" for claim in forced)] if forced else lines


def all_hold(claims: Sequence[Claim]) -> bool:
    """Considers only tested claims. One that is undecided does not hold."""
    return all(claim.answer == "yes" for claim in claims if not claim.forced)


# Tables and figures of a paper, with published and our numbers.


Cell = str | float | Estimate | None
"""None is a number that the paper does not state."""


@dataclass(frozen=True)
class Table:
    """`columns`: by name, the format of numbers in it, such as ".3f"; "" in columns of text."""

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]

    def as_text(self) -> list[list[str]]:
        return [[_text(cell, form) for cell, form in zip(row, self._forms, strict=True)] for row in self.rows]

    def as_json(self) -> dict[str, object]:
        rows = [[cell.as_json() if isinstance(cell, Estimate) else cell for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}

    @property
    def _forms(self) -> list[str]:
        return list(self.columns.values())


def _text(cell: Cell, form: str) -> str:
    if cell is None or isinstance(cell, str):
        return cell or ""
    return cell.shown(form) if isinstance(cell, Estimate) else f"{cell:{form}}"


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
