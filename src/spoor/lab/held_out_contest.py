"""A contest for trained strategies: trained on one part of a web, run on the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spoor.files import SUFFIX
from spoor.lab.comparison import Comparison, compare, run_jobs
from spoor.lab.contest import Row
from spoor.lab.link_graph import WebBacklinks, reachable, write_part
from spoor.lab.runs import prepared_task
from spoor.lab.task import Task
from spoor.lab.web import Web
from spoor.ordering.path_model import write_paths
from spoor.ordering.train_paths import Lesson, train_paths
from spoor.progress import Advance, unseen
from spoor.registry import STRATEGIES
from spoor.urls import host_of, registrable_domain

# The train/test split of a web, by sites if possible, otherwise by pages.


LEAST_SHARE = 0.2
"""Minimum share of the relevant pages that train and test must each have for a split by sites."""
MOST_LINKED = 200
"""Number of pages with the most links, from which hub seeds are drawn."""
SEEDS = 3
ENOUGH = 50
"""Reachable relevant pages. The first draw of seeds that reaches this many is used."""

How = Literal["sites", "pages"]


@dataclass(frozen=True)
class TrainTestSplit:
    """`how` is by sites (all hosts of a registrable domain together), or by pages if the relevant pages are on too few
    sites. By pages, a site has pages in train and test, which makes the test easier."""

    web: Path
    how: How

    @property
    def train(self) -> str:
        """The name of the web for training."""
        return f"{self.web.name}-by-{self.how}-to-learn"

    @property
    def test(self) -> str:
        """The name of the web to crawl."""
        return f"{self.web.name}-by-{self.how}-to-crawl"


def train_test_split(folder: Path, target: str) -> TrainTestSplit:
    web = Web.open(folder)
    relevant = web.labelled(target) & web.answers()
    share = float(is_train(web, "sites")[relevant].mean()) if relevant.any() else 0.0
    return TrainTestSplit(folder, "sites" if LEAST_SHARE <= share <= 1.0 - LEAST_SHARE else "pages")


def is_train(web: Web, how: How) -> NDArray[np.bool_]:
    """The train mask: about every second site or page, chosen by a hash, so always the same."""
    said: Callable[[str], str] = _site if how == "sites" else str
    return np.array([draw(said(web.urls[number])) % 2 == 0 for number in range(web.pages)], np.bool_)


def _site(url: str) -> str:
    host = host_of(url)
    return registrable_domain(host) or host


def write_split(split: TrainTestSplit, webs: Path) -> None:
    """Writes both parts into the folder `webs`, unless they exist."""
    web = Web.open(split.web)
    train = is_train(web, split.how)
    for name, kept in ((split.train, train), (split.test, ~train)):
        if not (webs / name).exists():
            write_part(web, kept, name, webs / name)


def seeds(web: Web, target: str, start: str) -> tuple[str, ...]:
    """Three relevant pages; for the start `hub`, three of the irrelevant pages with the most links. Repeats the draw
    until enough relevant pages are reachable; if that never happens, returns the best draw. Empty if there are fewer
    than three candidates, or if no draw reaches a relevant page."""
    numbers = _hubs(web, target) if start == "hub" else np.flatnonzero(web.answers() & web.labelled(target))
    urls = [web.urls[int(number)] for number in numbers]
    order = sorted(range(len(urls)), key=lambda place: draw(f"{target} {start} {urls[place]}"))
    best: tuple[int, ...] = ()
    most = 0
    for first in range(0, len(order) - SEEDS + 1, SEEDS):
        three = tuple(order[first : first + SEEDS])
        found = _within_reach(web, target, numbers[list(three)])
        if found > most:
            best, most = three, found
        if found >= ENOUGH:
            break
    return tuple(urls[place] for place in best)


def _hubs(web: Web, target: str) -> NDArray[np.int64]:
    links = np.where(web.answers() & ~web.labelled(target), np.diff(web.link_offsets), -1)
    return np.argsort(-links, kind="stable")[:MOST_LINKED]


def _within_reach(web: Web, target: str, begin: NDArray[np.int64]) -> int:
    """The number of reachable relevant pages."""
    found = reachable(*web.steps(), begin.tolist(), web.pages)
    return int((found & web.answers() & web.labelled(target)).sum())


def draw(text: str) -> int:
    """A number that depends only on the text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


# A contest for trained strategies: trained on the train part of a web, run on the test part.


UNTRAINED = ("breadth-first", "soft-focused", "tunnelling", "learned")
"""Baselines, as far as they are registered."""
FEWEST = 10
"""Minimum number of reachable relevant pages; with fewer, results are mostly chance."""
CLUSTERS = (None, 10)
"""Each model is trained once with an automatic number of clusters, once with a fixed number."""


@dataclass(frozen=True)
class HeldOutRow:
    """A row of the contest on the test part of its web. `why_not` is "" if the row can be run."""

    row: Row
    split: TrainTestSplit
    task: Task
    why_not: str = ""


@dataclass(frozen=True)
class HeldOutResult:
    """`areas` are normalised areas by the display name of the strategy."""

    row: HeldOutRow
    comparison: Comparison
    areas: dict[str, float]


def prepare(rows: Sequence[Row], webs: Path, advance: Advance) -> list[HeldOutRow]:
    """Splits the webs in the folder `webs` and draws seeds. Calls `advance` for each row."""
    found = []
    for row in rows:
        split = train_test_split(webs / row.web.name, row.target)
        write_split(split, webs)
        test = Web.open(webs / split.test)
        task = Task(test.folder, row.target, seeds(test, row.target, row.start))
        found.append(HeldOutRow(row, split, task, _obstacle(task)))
        advance(1)
    return found


def _obstacle(task: Task) -> str:
    found = prepared_task(task).yardstick.relevant if task.seeds else 0
    return "" if found >= FEWEST else f"{found} relevant pages can be reached in the test part, {FEWEST} needed"


def train_all(rows: Sequence[HeldOutRow], out: Path, pool: Executor, advance: Advance) -> None:
    """Trains a model for each train part, target and number of clusters. Calls `advance` for each model."""
    jobs = {model_file(row, clusters, out): (row, clusters) for row in rows for clusters in CLUSTERS}
    out.mkdir(parents=True, exist_ok=True)
    run_jobs([(teach, *job, file) for file, job in jobs.items()], pool, advance)


def model_file(row: HeldOutRow, clusters: int | None, out: Path) -> Path:
    name = "".join(letter if letter.isalnum() else "-" for letter in row.row.target)
    return out / f"{row.split.train}-{name}-{clusters or 'auto'}{SUFFIX}"


def teach(row: HeldOutRow, clusters: int | None, file: Path) -> None:
    train = Web.open(row.task.web.parent / row.split.train)
    relevant = np.flatnonzero(train.labelled(row.row.target) & train.answers())
    lesson = Lesson(row.row.target, train.name, clusters=clusters)
    write_paths(file, train_paths(WebBacklinks(train), relevant, lesson, unseen).model)


def strategies(row: HeldOutRow, models: Path) -> dict[str, str]:
    """Strategies by their display names."""
    auto, ten = (model_file(row, clusters, models) for clusters in CLUSTERS)
    untrained = {name: name for name in UNTRAINED if name in STRATEGIES}
    by_layer = {"context-graph": f"context-graph:model={auto}"}
    found = {name: f"{name}:model={auto}" for name in ("hmm", "ahmm")}
    given = {f"{name}, {CLUSTERS[1]} clusters": f"{name}:model={ten}" for name in ("hmm", "ahmm")}
    return {**untrained, **by_layer, **found, **given, "oracle": "oracle"}


def compete(row: HeldOutRow, models: Path, pool: Executor, advance: Advance) -> HeldOutResult:
    named = strategies(row, models)
    comparison = compare(row.task, list(named.values()), pool, advance)
    normalised = {score.strategy: score.normalised or 0.0 for score in comparison.scores}
    return HeldOutResult(row, comparison, {name: normalised[asked] for name, asked in named.items()})
