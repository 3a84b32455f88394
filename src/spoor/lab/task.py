"""A task prepared for strategies: opens the web, computes reachable pages, verdicts and orders of seeds."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spoor import registry
from spoor.errors import BadInput
from spoor.judging.combined import Remembered, Truth, Verdicts
from spoor.lab.link_graph import distance_to_relevant, reachable
from spoor.lab.measures import OrderScore, Score, Yardstick
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions, RecordedWorld
from spoor.records import Page, Verdict, Visit
from spoor.roles import Judge
from spoor.settings import seeds_in
from spoor.strategy import Strategy, verdicts_of
from spoor.urls import normalise

# Orders of the seeds, and the runs from several orders as one score.


MEANS = (
    "visits",
    "found",
    "area",
    "normalised",
    "r_precision",
    "coverage",
    "max_queue",
    "seconds",
    "relevant_hosts",
    "failed",
    "requests",
    "normalised_time",
    "horizon",
    "elapsed",
    "idle",
)
UNTIL = ("n90", "half_time", "n90_time")
"""Visits or seconds until an event. Over several orders the median is taken; None (never) counts as infinity."""


def seed_orders(seeds: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Up to `most` distinct orders of the seeds: the given one first, then orders that depend only on the seeds. Fewer
    if no more exist. The first few are the same for any `most`."""
    orders = {tuple(seeds): None}
    draw = 0
    while len(orders) < min(most, math.factorial(len(seeds))):
        draw += 1
        orders[tuple(sorted(seeds, key=lambda seed: _drawn(draw, seed)))] = None
    return list(orders)


def _drawn(draw: int, seed: str) -> bytes:
    return hashlib.blake2b(f"{draw} {seed}".encode(), digest_size=8).digest()


def over_orders(scores: Sequence[Score]) -> Score:
    """Combines the scores of one strategy from each order, first to last, into one."""
    figures: dict[str, Any] = {name: _mean(_known(scores, name)) for name in MEANS}
    figures |= {name: _median_until(scores, name) for name in UNTIL}
    figures["requests_per_relevant"] = figures["requests"] / figures["found"] if figures["found"] else None
    figures |= {f"spread{of}": _spread(_known(scores, f"normalised{of}")) for of in ("", "_time")}
    return replace(scores[0], **figures, orders=tuple(map(_of_order, scores)), found_at=None)


def _known(scores: Sequence[Score], name: str) -> list[float]:
    return [figure for score in scores if (figure := getattr(score, name)) is not None]


def _mean(figures: Sequence[float]) -> float | None:
    return mean(figures) if figures else None


def _spread(figures: Sequence[float]) -> float | None:
    return stdev(figures) if len(figures) > 1 else None


def _median_until(scores: Sequence[Score], name: str) -> float | None:
    middle = median(math.inf if (figure := getattr(score, name)) is None else figure for score in scores)
    return None if math.isinf(middle) else middle


def _of_order(score: Score) -> OrderScore:
    return OrderScore(**{name: getattr(score, name) for name in OrderScore.__dataclass_fields__})


# A task prepared for strategies: the web opened, reachable pages and verdicts computed.


Driver = Literal["auto", "simulated", "compiled"]
PAGES_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class CustomStrategy:
    """A strategy passed as a function instead of by name. Equal only to itself."""

    name: str
    make: Callable[[Judge], Strategy]

    def __str__(self) -> str:
        return self.name


StrategySpec = str | CustomStrategy
"""A strategy by name or as a function; its `str` is the name in scores."""


@dataclass(frozen=True, eq=False)
class CustomJudge:
    """A judge passed as an object. Equal only to itself, so that a task with one is hashable."""

    judge: Judge


@dataclass(frozen=True)
class Task:
    """A task for strategies. `budget`: visits; None means four per relevant page, at least 200. `per_host`: maximum
    pages per host; None means no limit. `verdicts`: a file with the verdict on every page; None means pages are judged
    during the crawl. `conditions`: None means the lab, where `open_ended` states whether links out of the web cost a
    failed visit; other conditions have a setting for it. `given` replaces `judge`, which is then only a name.
    `sitemaps`: hosts with relevant pages are asked for theirs."""

    web: Path
    target: str
    seeds: tuple[str, ...]
    judge: str = "truth"
    budget: int | None = None
    open_ended: bool = False
    driver: Driver = "auto"
    per_host: int | None = None
    verdicts: Path | None = None
    conditions: Conditions | None = None
    given: CustomJudge | None = None
    sitemaps: bool = False

    @property
    def open_web(self) -> bool:
        """Whether links that lead out of the web are offered."""
        return self.open_ended if self.conditions is None else self.conditions.open_web


def read_seeds(path: Path) -> tuple[str, ...]:
    """One URL per line; empty lines and lines that start with # are skipped."""
    seeds = seeds_in(path)
    if not seeds:
        raise BadInput(f"the seeds file {path} holds no URL")
    return seeds


@dataclass(frozen=True)
class PreparedTask:
    """A task with the web opened and reachable pages computed, on demand and cached."""

    task: Task

    @cached_property
    def web(self) -> Web:
        return Web.open(self.task.web)

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """Mask of the pages with the label, without errors and redirects, which cannot be found."""
        return self.web.labelled(self.task.target) & self.web.answers()

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that are in the web, as page numbers."""
        found = [self.web.urls.find(normalise(url) or url) for url in self.task.seeds]
        numbers = tuple(dict.fromkeys(n for n in found if n is not None and n < self.web.pages))
        if not numbers:
            raise BadInput(f"none of the {len(found)} seeds is a page of the web {self.web.name}")
        return numbers

    def seed_orders(self, most: int) -> list[tuple[int, ...]]:
        """Up to `most` orders of the seeds, that of the task first."""
        numbers = {self.web.urls[number]: number for number in self.seeds}
        return [tuple(numbers[url] for url in order) for order in seed_orders(list(numbers), most)]

    @cached_property
    def reachable(self) -> NDArray[np.bool_]:
        """Mask of the pages reachable from the seeds through links, redirects and sitemaps."""
        steps, listing = self.web.steps(), self._listing_hosts()
        found = reachable(*steps, self.seeds, self.web.pages)
        while asked := [host for host, (own, _) in listing.items() if (found & self.relevant)[own].any()]:
            listed = [page for host in asked for page in listing.pop(host)[1]]
            found |= reachable(*steps, listed, self.web.pages)
        return found

    def _listing_hosts(self) -> dict[str, tuple[NDArray[np.int64], list[int]]]:
        """For each host with sitemaps, its pages and the pages they list; empty if the task does not use sitemaps."""
        if not self.task.sitemaps:
            return {}
        world, hosts, sitemaps = self.world(with_content=False), self.web.array("page_host"), self.web.sitemaps
        listing = {}
        for host in sitemaps.announced:
            found = map(world.number, sitemaps.pages_of(host))
            if pages := [page for page in found if page is not None and page < self.web.pages]:
                listing[host] = np.flatnonzero(hosts == hosts[pages[0]]), pages
        return listing

    @property
    def reachable_pages(self) -> int:
        return int(self._pages_in_reach.sum())

    @cached_property
    def _pages_in_reach(self) -> NDArray[np.bool_]:
        """Reachable pages without redirects."""
        redirects = self.web.redirects
        return self.reachable if redirects is None else self.reachable & (redirects < 0)

    @cached_property
    def yardstick(self) -> Yardstick:
        hosts, pages = self.web.array("page_host"), self.reachable & self.relevant
        relevant = self._allowed(pages)
        if not relevant:
            raise BadInput(f"no page labelled {self.task.target} can be reached from the seeds in {self.web.name}")
        most = min(self._allowed(self._pages_in_reach), max(4 * relevant, 200))
        budget = most if self.task.budget is None else self.task.budget
        return Yardstick(relevant, budget, len(np.unique(hosts[pages])), hosts)

    def _allowed(self, pages: NDArray[np.bool_]) -> int:
        """How many of these pages one crawl may visit under the cap. Seeds are always visited, and count."""
        if self.task.per_host is None:
            return int(pages.sum())
        hosts = self.web.array("page_host")
        seeds = np.bincount(hosts[list(self.seeds)], minlength=int(hosts.max()) + 1)
        there = np.bincount(hosts[pages], minlength=len(seeds))
        return int(np.minimum(there, np.maximum(seeds, self.task.per_host)).sum())

    def world(self, with_content: bool) -> RecordedWorld:
        return RecordedWorld(self.web, self.relevant, with_content, self.task.open_web)

    def judge(self) -> Judge:
        if self.task.given is not None:
            return self.task.given.judge
        if self.task.judge == "truth":
            return Truth(self.task.target, self.world(with_content=False).truth)
        return registry.judge(self.task.judge)

    def levels(self, oracle: str) -> NDArray[np.int32]:
        """The level of each page for an oracle; smaller levels are visited sooner."""
        if oracle == "greedy-oracle":
            return (~self.relevant).astype(np.int32)
        return self._distances

    @cached_property
    def _distances(self) -> NDArray[np.int32]:
        return distance_to_relevant(*self.web.steps(), self.relevant, self.reachable)

    def judged(self) -> NDArray[np.bool_]:
        """Mask of the pages that the judge finds relevant, for at least all reachable pages."""
        if self.task.judge == "truth":
            return self.relevant
        if self.task.verdicts is not None:
            return Verdicts.read(self.task.verdicts).relevant
        judge = self.judge()
        return self._judged_by_texts(judge) if judge.reads_content else self._judged_by_attributes(judge)

    def remembered(self) -> Judge:
        """The judge, with its verdicts read from a file."""
        assert self.task.verdicts is not None
        verdicts, number = Verdicts.read(self.task.verdicts), self.world(with_content=False).number

        def verdict_of(url: str) -> Verdict:
            page = number(url)
            assert page is not None, "only pages of the web are judged"
            return verdicts.of(page)

        return Remembered(self.task.judge, verdict_of)

    def verdicts(self) -> Verdicts:
        """The verdict on every page of the web, whatever the seeds, so that other tasks can use it too."""
        relevance, relevant = np.zeros(self.web.pages), np.zeros(self.web.pages, np.bool_)
        numbers = np.flatnonzero(self.web.answers())
        for number, verdict in zip(numbers, self._verdicts_on(numbers, self.judge()), strict=True):
            relevance[number], relevant[number] = verdict.relevance, verdict.relevant
        return Verdicts(relevance, relevant)

    def _verdicts_on(self, numbers: NDArray[np.int64], judge: Judge) -> Iterator[Verdict]:
        for batch in np.array_split(numbers, len(numbers) // PAGES_AT_ONCE + 1):
            yield from verdicts_of(judge, self.pages(batch))

    def pages(self, numbers: NDArray[np.int64]) -> Sequence[Page]:
        """Pages with their texts. `numbers` must be pages that answered."""
        world = self.world(with_content=True)
        fetched = [world.fetch(Visit(self.web.urls[int(number)], "", 0, 0.0)) for number in numbers]
        return [outcome for outcome, _ in fetched if isinstance(outcome, Page)]

    def _judged_by_texts(self, judge: Judge) -> NDArray[np.bool_]:
        """One page at a time, in batches."""
        taken, numbers = np.zeros(self.web.pages, np.bool_), np.flatnonzero(self.reachable & self.web.answers())
        taken[numbers] = [verdict.relevant for verdict in self._verdicts_on(numbers, judge)]
        return taken

    def _judged_by_attributes(self, judge: Judge) -> NDArray[np.bool_]:
        """Pages with the same attributes share one verdict, which is fast for any web. Errors are not judged."""
        names = ("status", "content_type", "header_charset", "meta_charset", "detected_charset")
        kind = np.zeros(self.web.pages, np.int64)
        for name in names:
            kind = kind * 2**10 + self.web.array(name)
        _, examples, kind_of = np.unique(kind, return_index=True, return_inverse=True)
        verdicts = verdicts_of(judge, [self.web.page(int(number)) for number in examples])
        return np.array([verdict.relevant for verdict in verdicts], np.bool_)[kind_of] & self.web.answers()
