"""The distiller: what the best hubs found so far point at is brought forward."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import ClassVar

import numpy as np

from spoor.errors import UsageError
from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge, WaitingLinks
from spoor.saved_state import State, array_in, state_in, texts_in
from spoor.score.crawled_graph import CrawledGraph, Numbers
from spoor.score.hubs import hubs_and_authorities
from spoor.score.intervals import check_every
from spoor.urls import host_of

ROUNDS = 20
BEST_HUBS = 0.1
"""The share of hubs whose links are brought forward."""
IN_FRONT = 0.1
"""They come to the end of this share of what waits."""
SAMPLE = 1_000
"""Links whose keys are looked at to find that place; all, if fewer wait."""


@dataclass
class Distiller:
    """Scorer and upkeep. `goodness` is the relevance of the best page that links there; `brought_forward` is the least
    key of a link that a good hub points at. Only links from one host to another make hubs, and only pages with a
    relevance above `threshold` authorities.

    Learns from every visit; has learned nothing when it is made.
    """

    threshold: float = 0.1
    every: int = 500
    _graph: CrawledGraph = field(init=False, repr=False, compare=False, default_factory=CrawledGraph)
    _relevance: array[float] = field(init=False, repr=False, compare=False, default_factory=lambda: array("d"))
    _hosts: array[int] = field(init=False, repr=False, compare=False, default_factory=lambda: array("i"))
    _host_numbers: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"goodness": max, "brought_forward": max}

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

    def recall(self, sighting: Sighting) -> None:
        """What a page was worth as an authority; where it linked to is not kept."""
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
        return [{"goodness": sighting.verdict.relevance, "brought_forward": 0.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return max(evidence["goodness"], evidence["brought_forward"])

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        sources, targets = self._graph.links()
        place = self._place_in_front(waiting)
        hubs = self._best_hubs(sources, targets)
        for number in dict.fromkeys(targets[np.isin(sources, hubs)].tolist()):
            evidence = waiting.evidence_of(self._graph.urls[number])
            if evidence and self.key(evidence) < place:  # A seed has no evidence, and needs none.
                yield self._graph.urls[number], {**evidence, "brought_forward": place}

    def _best_hubs(self, sources: Numbers, targets: Numbers) -> Numbers:
        hosts = np.array(self._hosts, np.int32)
        across = hosts[sources] != hosts[targets]
        relevance = np.array(self._relevance)
        hubs, _ = hubs_and_authorities(sources[across], targets[across], relevance, self.threshold, ROUNDS)
        best = np.argsort(-hubs, kind="stable")[: ceil(BEST_HUBS * np.count_nonzero(hubs))]
        return best.astype(np.int32)

    def _place_in_front(self, waiting: WaitingLinks) -> float:
        keys = sorted(self._some_keys(waiting), reverse=True)
        return keys[ceil(IN_FRONT * len(keys)) - 1] if keys else 0.0

    def _some_keys(self, waiting: WaitingLinks) -> Iterator[float]:
        """Of links spread evenly over all that wait, in the order they were met."""
        unvisited = np.flatnonzero(self._graph.degrees() < 0)
        for number in unvisited[:: max(1, len(unvisited) // SAMPLE)].tolist():
            if evidence := waiting.evidence_of(self._graph.urls[number]):
                yield self.key(evidence)
