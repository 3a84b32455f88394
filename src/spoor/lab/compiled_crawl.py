"""The crawl of the simulated driver, compiled to machine code, for link graphs of 10^7 to 10^8 pages.

Depth-first (`crawl_depth_first`) needs no queue: the links of each visit are contiguous in the link array, so a stack
of visits, each with its position in its links, gives the order. A link found again belongs to the later visit; the
earlier visit skips it.

In all other strategies a page is unknown, waiting or closed (visited, or a seed, which is visited anyway). A waiting
page has a *grade*, which only rises. Strategies differ only in how they assign grades:

    breadth-first       every link has grade 0
    hard-focused        0 from a relevant page; below 0 from others, so not queued
    soft-focused        1 from a relevant page, 0 from another
    limited-distance    N from a relevant page, from another one less than its own; below 0 is not queued
    in-links            the number of visited relevant pages that link to the page
    oracle              0; the rank of each page is given in advance

Waiting pages are in FIFO queues by *rank*, highest rank first. Where a higher grade moves a page (soft-focused,
prioritised, in-links), its rank is its grade: it is queued again, and the old entry, whose rank no longer equals the
grade, is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import BOOL, INT, array, compiled, kernel, kernels_in, named_tuple
from spoor.errors import BadInput, UsageError
from spoor.lab.link_graph import FAR, read_only
from spoor.lab.rank_queues import BEST, Queues, ahead, drop_first, enlarged, first, new_queues, prefetch, push, room_for
from spoor.lab.web import Web

# Compiled depth-first: the links of the latest visit come first, in document order.


UNSEEN, FETCHED = 0, -1
"""States of a page. A value above 0 means waiting: the number of the visit that found it, counted from 1."""


_LINKS = array(np.int64, read_only=True), array(np.int32, read_only=True)


@kernel(*_LINKS, array(np.int32, read_only=True), INT, INT)
def crawl_depth_first(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], seeds: NDArray[np.int32], pages: int, visits: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Returns the pages in visit order, and how many pages waited before each visit."""
    order, queue = np.empty(visits, np.int32), np.empty(visits, np.int32)
    stack, progress = np.empty(visits, np.int32), np.empty(visits, np.int32)
    found_by = np.zeros(pages, np.int32)
    found_by[seeds] = FETCHED
    visited, waiting, depth = 0, len(seeds), 0
    while visited < visits and waiting > 0:
        if visited < len(seeds):
            page = seeds[visited]
        else:
            depth, page = _next(offsets, targets, order, stack, progress, found_by, depth)
        order[visited], queue[visited] = page, waiting
        found_by[page] = FETCHED
        waiting += _find(offsets, targets, found_by, page, visited + 1) - 1
        stack[depth], progress[depth] = visited, 0
        visited, depth = visited + 1, depth + 1
    return order[:visited], queue[:visited]


@compiled
def _next(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    order: NDArray[np.int32],
    stack: NDArray[np.int32],
    progress: NDArray[np.int32],
    found_by: NDArray[np.int32],
    depth: int,
) -> tuple[int, int]:
    """Returns the stack depth after taking the next waiting page, and that page. At least one page must be waiting."""
    while True:
        visit = stack[depth - 1]
        parent = order[visit]
        slot = offsets[parent] + progress[depth - 1]
        if slot == offsets[parent + 1]:
            depth -= 1
            continue
        progress[depth - 1] += 1
        target = targets[slot]
        if target < len(found_by) and found_by[target] == visit + 1:
            return depth, int(target)


@compiled
def _find(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], found_by: NDArray[np.int32], page: int, visit: int
) -> int:
    """Assigns the unvisited links of a page to this visit. Returns how many were unknown."""
    new = 0
    for slot in range(offsets[page], offsets[page + 1]):
        target = targets[slot]
        if target < len(found_by) and found_by[target] != FETCHED:
            new += found_by[target] == UNSEEN
            found_by[target] = visit
    return new


# All other strategies: FIFO queues by rank.


SUPPORTED: Final = (
    "breadth-first",
    "depth-first",
    "hard-focused",
    "soft-focused",
    "limited-distance",
    "in-links",
    "oracle",
    "greedy-oracle",
)
UNKNOWN, CLOSED, WAITING = 0, 1, 2
"""States of a page. From WAITING on the page waits, with the grade `state - WAITING`."""

BY_REFERRER, BY_DISTANCE, BY_COUNT = range(3)
"""How grades are assigned: by the relevance of the linking page, by distance, by counting linking pages."""

FAR_AHEAD, AHEAD, NEAR_AHEAD = 16, 8, 4
"""Prefetch distances, in visits."""

LINKS_AHEAD: Final = 16
"""Number of links of a page whose target states are prefetched."""

State = NDArray[np.uint8] | NDArray[np.int32]
"""Bytes if all grades fit, since small arrays stay in the processor cache."""

HIGHEST_SMALL_GRADE: Final = 255 - WAITING


class LinkGraph(NamedTuple):
    """Pages, links, and the verdict of the judge on each page. Link targets that are not pages are ignored."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    relevant: NDArray[np.bool_]

    @staticmethod
    def of(web: Web, relevant: NDArray[np.bool_]) -> LinkGraph:
        if web.redirects is not None:
            raise BadInput(
                f"the web {web.name} has redirects, which the compiled driver cannot follow; use the simulated"
            )
        if len(relevant) != web.pages:
            raise BadInput(f"{len(relevant):,} pages were judged, but the web {web.name} has {web.pages:,}")
        return LinkGraph(web.link_offsets, web.link_targets, relevant)


@dataclass(frozen=True)
class Plan:
    """A strategy for the compiled driver: a name in SUPPORTED and its parameters.

    `n` and `prioritised` are for limited-distance. `levels` is for the oracles: a small integer per page, visited in
    ascending order; `link_graph.FAR` is last.
    """

    strategy: str
    n: int = 0
    prioritised: bool = False
    levels: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class CompiledCrawl:
    """The pages in visit order, and how many pages waited before each visit, including the visited one."""

    order: NDArray[np.int32]
    queue: NDArray[np.int32]

    @property
    def max_queue(self) -> int:
        return int(self.queue.max(initial=0))


class Rules(NamedTuple):
    """A plan in the form that the compiled code reads."""

    kind: int
    after_relevant: int
    after_other: int
    moves: bool
    top: int
    levels: NDArray[np.int32]


def run(graph: LinkGraph, plan: Plan, seeds: Sequence[int], budget: int) -> CompiledCrawl:
    """Crawls until no page waits or `budget` pages are visited. Seeds are visited first, in the given order."""
    links = read_only(graph.offsets, np.int64), read_only(graph.targets, np.int32)
    for seed in seeds:
        if not 0 <= seed < len(graph.relevant):
            raise UsageError(f"seed {seed} is not the number of a page; they go from 0 to {len(graph.relevant) - 1}")
    starts = read_only(list(dict.fromkeys(seeds)), np.int32)
    visits = min(budget, len(graph.relevant))
    if plan.strategy == "depth-first":
        return CompiledCrawl(*crawl_depth_first(*links, starts, len(graph.relevant), visits))
    rules = _rules(plan, len(graph.relevant))
    return _run_ranked(LinkGraph(*links, read_only(graph.relevant, np.bool_)), rules, starts, visits)


def _rules(plan: Plan, pages: int) -> Rules:
    nothing = read_only((), np.int32)
    match plan.strategy:
        case "breadth-first":
            return Rules(BY_REFERRER, 0, 0, False, 0, nothing)
        case "hard-focused":
            return Rules(BY_REFERRER, 0, -1, False, 0, nothing)
        case "soft-focused":
            return Rules(BY_REFERRER, 1, 0, True, 1, nothing)
        case "in-links":
            return Rules(BY_COUNT, 1, 0, True, 1, nothing)
        case "limited-distance":
            # No path is longer than there are pages.
            n = min(plan.n, pages)
            return Rules(BY_DISTANCE, n, -1, plan.prioritised, n if plan.prioritised else 0, nothing)
        case "oracle" | "greedy-oracle" if plan.levels is not None:
            levels = read_only(plan.levels, np.int32)
            top = int(levels.max(initial=0, where=levels < FAR)) + 1
            return Rules(BY_REFERRER, 0, 0, False, top, levels)
        case "oracle" | "greedy-oracle":
            raise UsageError(f"the compiled {plan.strategy} needs the level of each page")
    raise UsageError(f"the compiled driver does not know {plan.strategy!r}; it knows {', '.join(SUPPORTED)}")


class Record(NamedTuple):
    """Progress of the crawl. `counts` has the number of visits so far, up to which `order` and `queue` are filled, and
    the number of waiting pages."""

    order: NDArray[np.int32]
    queue: NDArray[np.int32]
    counts: NDArray[np.int64]


def _run_ranked(graph: LinkGraph, rules: Rules, seeds: NDArray[np.int32], visits: int) -> CompiledCrawl:
    """Runs the compiled code, which returns when it is done or when the queues need more room."""
    small = rules.kind != BY_COUNT and rules.after_relevant <= HIGHEST_SMALL_GRADE
    state: State = np.zeros(len(graph.relevant), np.uint8) if small else np.zeros(len(graph.relevant), np.int32)
    state[seeds] = CLOSED
    record = Record(np.empty(visits, np.int32), np.empty(visits, np.int32), np.array([0, len(seeds)], np.int64))
    queues = new_queues(rules.top + 1)
    while not _advance(graph, rules, seeds, state, queues, record):
        queues = enlarged(queues)
    visited = int(record.counts[0])
    return CompiledCrawl(record.order[:visited], record.queue[:visited])


@kernel(
    named_tuple(LinkGraph, *_LINKS, array(np.bool_, read_only=True)),
    named_tuple(Rules, INT, INT, INT, BOOL, INT, array(np.int32, read_only=True)),
    array(np.int32, read_only=True),
    array(np.uint8),
    named_tuple(Queues, *[array(np.int32)] * 2, *[array(np.int64)] * 3),
    named_tuple(Record, *[array(np.int32)] * 2, array(np.int64)),
)
def _advance(
    graph: LinkGraph, rules: Rules, seeds: NDArray[np.int32], state: State, queues: Queues, record: Record
) -> bool:
    """Visits page after page. Returns False, between two visits, if the queues may not have room for the next links."""
    visited, waiting = record.counts
    while visited < len(record.order) and waiting > 0:
        from_queue = visited >= len(seeds)
        page = _first_valid(state, queues, rules.moves) if from_queue else int(seeds[visited])
        if not room_for(queues, graph.offsets[page + 1] - graph.offsets[page]):
            record.counts[0], record.counts[1] = visited, waiting
            return False
        grade = int(state[page]) - WAITING if from_queue else rules.after_relevant
        if from_queue:
            drop_first(queues)
            _fetch_ahead(graph, state, queues)
        state[page] = CLOSED
        record.order[visited], record.queue[visited] = page, waiting
        visited += 1
        waiting += _offer_links(graph, rules, state, queues, page, grade) - 1
    record.counts[0], record.counts[1] = visited, waiting
    return True


@compiled
def _first_valid(state: State, queues: Queues, moves: bool) -> int:
    """The next page in the queues. Skips outdated entries."""
    page = first(queues)
    while moves and int(state[page]) - WAITING != queues.marks[BEST]:
        drop_first(queues)
        page = first(queues)
    return page


@compiled
def _fetch_ahead(graph: LinkGraph, state: State, queues: Queues) -> None:
    """Prefetches what later visits read: the link offsets of a page, then its links, then the states of their
    targets."""
    page = ahead(queues, FAR_AHEAD)
    prefetch(graph.offsets, page)
    prefetch(graph.relevant, page)
    prefetch(state, page)
    prefetch(graph.targets, graph.offsets[ahead(queues, AHEAD)])
    page = ahead(queues, NEAR_AHEAD)
    for slot in range(graph.offsets[page], min(graph.offsets[page + 1], graph.offsets[page] + LINKS_AHEAD)):
        prefetch(state, graph.targets[slot])


@compiled
def _offer_links(graph: LinkGraph, rules: Rules, state: State, queues: Queues, page: int, own_grade: int) -> int:
    """Processes the links of a page that was reached with `own_grade`. Returns how many pages started to wait."""
    grade = rules.after_relevant if graph.relevant[page] else rules.after_other
    if rules.kind == BY_DISTANCE and not graph.relevant[page]:
        grade = own_grade - 1
    began = 0
    if grade < 0:
        return began
    for slot in range(graph.offsets[page], graph.offsets[page + 1]):
        target = graph.targets[slot]
        if target >= len(state) or state[target] == CLOSED:
            continue
        known = int(state[target])
        better = (known if rules.kind == BY_COUNT and known != UNKNOWN else WAITING) + grade
        if better > known:
            state[target] = better
            began += known == UNKNOWN
            if known == UNKNOWN or rules.moves:
                push(queues, _rank(rules, target, better), target)
    return began


@compiled
def _rank(rules: Rules, page: int, state: int) -> int:
    if len(rules.levels) > 0:
        return int(rules.top - min(rules.levels[page], rules.top))
    return state - WAITING if rules.moves else 0


KERNELS = kernels_in(__name__)
