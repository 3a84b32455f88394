"""PageRank of the web as far as it was crawled: links that important pages point at go first.

rank(p) = (1 - d) + d flow(p)        flow(p) = Σ rank(q) / links of q, over the visited pages q that link to p
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from spoor.errors import BadInput, UsageError
from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge, WaitingLinks
from spoor.saved_state import ANY, State, array_in, state_in
from spoor.score.crawled_graph import CrawledGraph, Floats
from spoor.score.intervals import check_every
from spoor.score.merging import total

ROUNDS = 100
"""At most; a round less than `SETTLED` from the one before is the last."""
SETTLED = 1e-4
NOTEWORTHY = 1.01
"""Links whose flow grew less than this since they were told of it are left where they are."""


@dataclass
class PageRankOrder:
    """Scorer and upkeep. Between two upkeeps a link gains what each page that links to it hands on at the time; every
    `every` visits the ranks of all pages are worked out anew. Links of a page are never taken back, so ranks only grow,
    and a link that was ranked higher before a crawl was interrupted keeps its place.

    Learns from every visit; has learned nothing when it is made.
    """

    damping: float = 0.9
    every: int = 500
    _graph: CrawledGraph = field(init=False, repr=False, compare=False, default_factory=CrawledGraph)
    _flows: Floats = field(init=False, repr=False, compare=False, default_factory=lambda: np.zeros(0))
    _told: Floats = field(init=False, repr=False, compare=False, default_factory=lambda: np.zeros(0))

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"flow": total}

    def __post_init__(self) -> None:
        check_every(self.every)
        if not 0.0 < self.damping < 1.0:
            raise UsageError(f"damping={self.damping:g}: what a page hands on is a share between 0 and 1")

    def learn(self, sighting: Sighting) -> None:
        self._graph.visit(sighting.page)

    def state(self) -> State:
        return {"graph": self._graph.state(), "flows": self._flows.copy(), "told": self._told.copy()}

    def restore(self, state: State) -> None:
        self._graph.restore(state_in(state, "graph"))
        flows, told = (array_in(state, name, np.float64, (ANY,), 0.0) for name in ("flows", "told"))
        if max(len(flows), len(told)) > len(self._graph):
            raise BadInput("something flows to more pages than there are")
        self._flows, self._told = flows.astype(np.float64), told.astype(np.float64)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        handed = self.key(sighting.visit.evidence) / max(1, sighting.page.out_degree)
        return [{"flow": handed}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return 1.0 - self.damping + self.damping * evidence.get("flow", 0.0)

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self._flows = flows(self._graph, self.damping, _lengthened(self._flows, len(self._graph)))
        self._told = _lengthened(self._told, len(self._graph))
        unvisited = self._graph.degrees() < 0
        for number in np.flatnonzero(unvisited & (self._flows > NOTEWORTHY * self._told)).tolist():
            flow, evidence = float(self._flows[number]), waiting.evidence_of(self._graph.urls[number])
            self._told[number] = flow
            if evidence and flow > evidence["flow"]:  # A seed has no evidence, and needs none.
                yield self._graph.urls[number], {"flow": flow}


def flows(graph: CrawledGraph, damping: float, before: Floats) -> Floats:
    """What flows to each page. Starts from `before`, which is not more than that, and rises to it."""
    sources, targets = graph.links()
    divided = np.maximum(graph.degrees(), 1)
    now = before
    for _ in range(ROUNDS):
        handed = (1.0 - damping + damping * now) / divided
        then, now = now, np.bincount(targets, weights=handed[sources], minlength=len(graph)).astype(np.float64)
        if np.abs(now - then).max(initial=0.0) < SETTLED:
            break
    return now


def _lengthened(numbers: Floats, length: int) -> Floats:
    return np.concatenate([numbers, np.zeros(length - len(numbers))])
