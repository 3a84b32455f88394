"""A contest for strategies that are trained beforehand: they learn on one half of a web and crawl the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spoor.assembly import STRATEGIES
from spoor.contest.comparison import Comparison, compare, side_by_side
from spoor.contest.halves import Halves, halved, seeds, write_halves
from spoor.contest.rows import Row
from spoor.contest.runs import course
from spoor.context.path_model_file import write_paths
from spoor.course import Task
from spoor.model_file import SUFFIX
from spoor.training.context import Lesson, trained
from spoor.webs.backlinks import WebBacklinks
from spoor.webs.web import Web

UNTRAINED = ("breadth-first", "soft-focused", "tunnelling", "learned")
"""That run beside them, as far as they are there."""
FEWEST = 10
"""Wanted pages within reach; with fewer, a row is left to luck."""
CLUSTERS = (None, 10)
"""Each model is trained with as many clusters as the pages suggest, and with as many as people like to name."""


@dataclass(frozen=True)
class HeldOutRow:
    """A row of the contest on the half that is crawled. `why_not` is "" when it can be run."""

    row: Row
    halves: Halves
    task: Task
    why_not: str = ""


@dataclass(frozen=True)
class HeldOutResult:
    """`areas` are normalised, by the name of the strategy in the table."""

    row: HeldOutRow
    comparison: Comparison
    areas: dict[str, float]


def prepare(rows: Sequence[Row], webs: Path, advance: Callable[[int], None]) -> list[HeldOutRow]:
    """Parts the webs that are in the folder `webs`, and draws seeds; `advance` is told of each row."""
    found = []
    for row in rows:
        halves = halved(webs / row.web.name, row.target)
        write_halves(halves, webs)
        half = Web.open(webs / halves.crawled)
        task = Task(half.folder, row.target, seeds(half, row.target, row.start))
        found.append(HeldOutRow(row, halves, task, _obstacle(task)))
        advance(1)
    return found


def _obstacle(task: Task) -> str:
    found = course(task).yardstick.relevant if task.seeds else 0
    return (
        "" if found >= FEWEST else f"{found} wanted pages can be reached in the half that is crawled, {FEWEST} needed"
    )


def train_all(rows: Sequence[HeldOutRow], out: Path, pool: Executor, advance: Callable[[int], None]) -> None:
    """A model for each half and target, and each number of clusters; `advance` is told of each."""
    jobs = {model_file(row, clusters, out): (row, clusters) for row in rows for clusters in CLUSTERS}
    out.mkdir(parents=True, exist_ok=True)
    side_by_side([(teach, *job, file) for file, job in jobs.items()], pool, advance)


def model_file(row: HeldOutRow, clusters: int | None, out: Path) -> Path:
    name = "".join(letter if letter.isalnum() else "-" for letter in row.row.target)
    return out / f"{row.halves.taught}-{name}-{clusters or 'auto'}{SUFFIX}"


def teach(row: HeldOutRow, clusters: int | None, file: Path) -> None:
    half = Web.open(row.task.web.parent / row.halves.taught)
    wanted = np.flatnonzero(half.labelled(row.row.target) & half.answers())
    lesson = Lesson(row.row.target, half.name, clusters=clusters)
    write_paths(file, trained(WebBacklinks(half), wanted, lesson, lambda pages: None).model)


def strategies(row: HeldOutRow, models: Path) -> dict[str, str]:
    """What is run, by its name in the table."""
    auto, ten = (model_file(row, clusters, models) for clusters in CLUSTERS)
    untrained = {name: name for name in UNTRAINED if name in STRATEGIES}
    by_layer = {"context-graph": f"context-graph:model={auto}"}
    found = {name: f"{name}:model={auto}" for name in ("hmm", "ahmm")}
    given = {f"{name}, {CLUSTERS[1]} clusters": f"{name}:model={ten}" for name in ("hmm", "ahmm")}
    return {**untrained, **by_layer, **found, **given, "oracle": "oracle"}


def compete(row: HeldOutRow, models: Path, pool: Executor, advance: Callable[[int], None]) -> HeldOutResult:
    named = strategies(row, models)
    comparison = compare(row.task, list(named.values()), pool, advance)
    normalised = {score.strategy: score.normalised or 0.0 for score in comparison.scores}
    return HeldOutResult(row, comparison, {name: normalised[asked] for name, asked in named.items()})
