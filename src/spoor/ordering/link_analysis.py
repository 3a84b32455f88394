"""Scorers by the graph crawled so far: PageRank, on-line page importance, and hubs.

rank(p) = (1 - d) + d flow(p)        flow(p) = Σ rank(q) / links of q, over the visited pages q that link to p

a(v) = R(v) Σ h(u) over the links u → v       where R(v) is above a threshold; normalised to the sum 1
h(u) = R(u) Σ a(v) over the links u → v       normalised to the sum 1
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.files import ANY, State, array_in, state_in, texts_in
from spoor.ordering.simple import check_every, total
from spoor.records import Evidence, Link, Page, Sighting
from spoor.roles import Merge, WaitingLinks
from spoor.urls import host_of

# The crawled graph: visited pages and their links.


Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]


class CrawledGraph:
    """URLs are numbered in the order they are found; only visited ones have links. Each link takes eight bytes; most
    memory is used by the URLs."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self._numbers: dict[str, int] = {}
        self._degrees = array("i")
        self._sources = array("i")
        self._targets = array("i")

    def __len__(self) -> int:
        return len(self.urls)

    def visit(self, page: Page) -> int:
        """Adds a page and its links; returns its number."""
        number = self.number(page.url)
        targets = [self.number(link.url) for link in page.links]
        self._degrees[number] = page.out_degree
        self._sources.extend([number] * len(targets))
        self._targets.extend(targets)
        return number

    def number(self, url: str) -> int:
        """The number of a URL, which may be new."""
        number = self._numbers.get(url)
        if number is None:
            number = self._numbers[url] = len(self.urls)
            self.urls.append(url)
            self._degrees.append(-1)
        return number

    def state(self) -> State:
        sources, targets = self.links()
        return {"urls": list(self.urls), "degrees": self.degrees(), "sources": sources, "targets": targets}

    def restore(self, state: State) -> None:
        urls = texts_in(state, "urls")
        degrees = array_in(state, "degrees", np.int32, (len(urls),), -1)
        sources = array_in(state, "sources", np.int32, (ANY,), 0, len(urls) - 1)
        targets = array_in(state, "targets", np.int32, sources.shape, 0, len(urls) - 1)
        self.urls, self._numbers = list(urls), {url: number for number, url in enumerate(urls)}
        self._degrees, self._sources, self._targets = (
            array("i", numbers.tobytes()) for numbers in (degrees, sources, targets)
        )

    def links(self) -> tuple[Numbers, Numbers]:
        """Sources and targets."""
        return np.array(self._sources, np.int32), np.array(self._targets, np.int32)

    def degrees(self) -> Numbers:
        """The number of links of each page, including those out of a recorded web; -1 if it was not visited."""
        return np.array(self._degrees, np.int32)


# PageRank on the crawled graph: links from important pages first.


PAGE_RANK_ROUNDS = 100
"""Upper bound of iterations; they end when no value changes by `SETTLED` or more."""
SETTLED = 1e-4
NOTEWORTHY = 1.01
"""Links whose flow grew by less than this factor since they were last scored are not re-scored."""


@dataclass
class PageRankOrder:
    """Scorer and upkeep. Between two upkeeps a link gains the share of each page that links to it; every `every` visits
    the ranks of all pages are recomputed. Links are never removed from the graph, so ranks only grow, and a link that
    was ranked higher before an interruption keeps its rank.

    Learns from every visit; starts untrained.
    """

    damping: float = 0.9
    every: int = 500
    _graph: CrawledGraph = field(init=False, repr=False, compare=False, default_factory=CrawledGraph)
    _flows: Floats = field(init=False, repr=False, compare=False, default_factory=lambda: np.zeros(0))
    _scored_flows: Floats = field(init=False, repr=False, compare=False, default_factory=lambda: np.zeros(0))

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"flow": total}

    def __post_init__(self) -> None:
        check_every(self.every)
        if not 0.0 < self.damping < 1.0:
            raise UsageError(f"damping={self.damping:g}: give a number between 0 and 1")

    def learn(self, sighting: Sighting) -> None:
        self._graph.visit(sighting.page)

    def state(self) -> State:
        return {"graph": self._graph.state(), "flows": self._flows.copy(), "told": self._scored_flows.copy()}

    def restore(self, state: State) -> None:
        self._graph.restore(state_in(state, "graph"))
        flows, scored = (array_in(state, name, np.float64, (ANY,), 0.0) for name in ("flows", "told"))
        if max(len(flows), len(scored)) > len(self._graph):
            raise BadInput("there are flows to more pages than the graph has")
        self._flows, self._scored_flows = flows.astype(np.float64), scored.astype(np.float64)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        handed = self.key(sighting.visit.evidence) / max(1, sighting.page.out_degree)
        return [{"flow": handed}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return 1.0 - self.damping + self.damping * evidence.get("flow", 0.0)

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self._flows = flows(self._graph, self.damping, _lengthened(self._flows, len(self._graph)))
        self._scored_flows = _lengthened(self._scored_flows, len(self._graph))
        unvisited = self._graph.degrees() < 0
        for number in np.flatnonzero(unvisited & (self._flows > NOTEWORTHY * self._scored_flows)).tolist():
            flow, evidence = float(self._flows[number]), waiting.evidence_of(self._graph.urls[number])
            self._scored_flows[number] = flow
            if evidence and flow > evidence["flow"]:  # Seeds have no evidence and are not re-scored.
                yield self._graph.urls[number], {"flow": flow}


def flows(graph: CrawledGraph, damping: float, before: Floats) -> Floats:
    """The flow to each page. Iterates upwards from `before`, which must be a lower bound."""
    sources, targets = graph.links()
    divided = np.maximum(graph.degrees(), 1)
    now = before
    for _ in range(PAGE_RANK_ROUNDS):
        handed = (1.0 - damping + damping * now) / divided
        then, now = now, np.bincount(targets, weights=handed[sources], minlength=len(graph)).astype(np.float64)
        if np.abs(now - then).max(initial=0.0) < SETTLED:
            break
    return now


def _lengthened(numbers: Floats, length: int) -> Floats:
    return np.concatenate([numbers, np.zeros(length - len(numbers))])


# On-line page importance (OPIC): every page distributes its cash among its links, in equal shares.


SEED_CASH = 1.0
"""Seeds are the only source of cash."""


@dataclass(frozen=True)
class Cash:
    """A link has the sum of the cash from all pages visited so far; the largest sum is first. A page divides by all its
    links, so the shares of pages already visited are lost."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"cash": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        cash = sighting.visit.evidence.get("cash", SEED_CASH)
        return [{"cash": cash / max(1, sighting.page.out_degree)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["cash"]


# Hubs and authorities among relevant pages: a hub links to authorities, an authority is linked from hubs.


def hubs_and_authorities(
    sources: Numbers, targets: Numbers, relevance: Floats, threshold: float, rounds: int
) -> tuple[Floats, Floats]:
    """Scores of pages numbered as in `relevance`, linked from `sources` to `targets`; starts with equal hub scores. All
    are 0 if no link leads to a page above the threshold."""
    count = len(relevance)
    counted = np.where(relevance > threshold, relevance, 0.0)
    hubs, authorities = np.full(count, 1.0 / max(1, count)), np.zeros(count)
    for _ in range(rounds):
        authorities = _to_one(counted * np.bincount(targets, weights=hubs[sources], minlength=count))
        hubs = _to_one(relevance * np.bincount(sources, weights=authorities[targets], minlength=count))
    return hubs, authorities


def _to_one(numbers: Floats) -> Floats:
    whole = numbers.sum()
    return np.asarray(numbers / whole if whole else numbers)


# The distiller: promotes links of the best hubs found so far.


HUB_ROUNDS = 20
BEST_HUBS = 0.1
"""The share of hubs whose links are promoted."""
IN_FRONT = 0.1
"""Promoted links are placed at the end of this top share of the queue."""
SAMPLE = 1_000
"""Number of waiting links sampled to find that key; all, if fewer wait."""


@dataclass
class Distiller:
    """Scorer and upkeep. `relevance` is that of the most relevant referring page; `brought_forward` is the minimum key
    of a link from a good hub. Only links between hosts count for hubs, and only pages with a relevance above
    `threshold` are authorities.

    Learns from every visit; starts untrained.
    """

    threshold: float = 0.1
    every: int = 500
    _graph: CrawledGraph = field(init=False, repr=False, compare=False, default_factory=CrawledGraph)
    _relevance: array[float] = field(init=False, repr=False, compare=False, default_factory=lambda: array("d"))
    _hosts: array[int] = field(init=False, repr=False, compare=False, default_factory=lambda: array("i"))
    _host_numbers: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevance": max, "brought_forward": max}

    def __post_init__(self) -> None:
        check_every(self.every)
        if not 0.0 <= self.threshold < 1.0:
            raise UsageError(f"threshold={self.threshold:g}: no page is above it; give a number from 0 to below 1")

    def learn(self, sighting: Sighting) -> None:
        number = self._graph.visit(sighting.page)
        for url in self._graph.urls[len(self._hosts) :]:
            self._hosts.append(self._host_numbers.setdefault(host_of(url), len(self._host_numbers)))
            self._relevance.append(0.0)
        self._relevance[number] = sighting.verdict.relevance

    def relearn(self, sighting: Sighting) -> None:
        """Restores the relevance of a page, thus its weight as an authority; its links are not in the journal."""
        self.learn(sighting)

    def state(self) -> State:
        return {
            "graph": self._graph.state(),
            "relevance": np.array(self._relevance, np.float64),
            "hosts": np.array(self._hosts, np.int32),
            "host names": list(self._host_numbers),
        }

    def restore(self, state: State) -> None:
        self._graph.restore(state_in(state, "graph"))
        names, pages = texts_in(state, "host names"), (len(self._graph),)
        relevance = array_in(state, "relevance", np.float64, pages)
        hosts = array_in(state, "hosts", np.int32, pages, 0, len(names) - 1)
        self._relevance, self._hosts = array("d", relevance.tobytes()), array("i", hosts.tobytes())
        self._host_numbers = {name: number for number, name in enumerate(names)}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevance": sighting.verdict.relevance, "brought_forward": 0.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return max(evidence["relevance"], evidence["brought_forward"])

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        sources, targets = self._graph.links()
        place = self._place_in_front(waiting)
        hubs = self._best_hubs(sources, targets)
        for number in dict.fromkeys(targets[np.isin(sources, hubs)].tolist()):
            evidence = waiting.evidence_of(self._graph.urls[number])
            if evidence and self.key(evidence) < place:  # Seeds have no evidence and are not promoted.
                yield self._graph.urls[number], {**evidence, "brought_forward": place}

    def _best_hubs(self, sources: Numbers, targets: Numbers) -> Numbers:
        hosts = np.array(self._hosts, np.int32)
        across = hosts[sources] != hosts[targets]
        relevance = np.array(self._relevance)
        hubs, _ = hubs_and_authorities(sources[across], targets[across], relevance, self.threshold, HUB_ROUNDS)
        best = np.argsort(-hubs, kind="stable")[: ceil(BEST_HUBS * np.count_nonzero(hubs))]
        return best.astype(np.int32)

    def _place_in_front(self, waiting: WaitingLinks) -> float:
        keys = sorted(self._some_keys(waiting), reverse=True)
        return keys[ceil(IN_FRONT * len(keys)) - 1] if keys else 0.0

    def _some_keys(self, waiting: WaitingLinks) -> Iterator[float]:
        """The keys of an evenly spaced sample of waiting links, in the order they were found."""
        unvisited = np.flatnonzero(self._graph.degrees() < 0)
        for number in unvisited[:: max(1, len(unvisited) // SAMPLE)].tolist():
            if evidence := waiting.evidence_of(self._graph.urls[number]):
                yield self.key(evidence)
