"""Trails: the state carried along a path."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from spoor.errors import BadInput, UsageError
from spoor.files import ANY, State, array_in
from spoor.records import Page, Sighting, TrailState, Verdict
from spoor.roles import Trail
from spoor.strategy import fresh_part, some_reads_content

# The number of irrelevant pages since the last relevant one on the path.


@dataclass(frozen=True)
class SinceRelevant:
    """States are integers: 0 for the links of a relevant page. A link keeps the smaller of two states."""

    def root(self) -> TrailState:
        return 0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return 0 if verdict.relevant else state + 1

    def rank(self, state: TrailState) -> float:
        return -float(state)


# The referring page, and the number of irrelevant pages since the last relevant one.


@dataclass(frozen=True)
class LastPage:
    """States are pairs: irrelevant pages in a row, the URL of the page. A link keeps the one with fewer irrelevant
    pages."""

    def root(self) -> TrailState:
        return 0, ""

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return (0 if verdict.relevant else state[0] + 1), page.url

    def rank(self, state: TrailState) -> float:
        return -float(state[0])


# Two trails at once.


@dataclass
class Both:
    """States are pairs; the first trail decides which of two is kept.

    Parts are copied without their learned state, so a copy of the whole is untrained too.
    """

    first: Trail
    second: Trail

    def __post_init__(self) -> None:
        self.first, self.second = fresh_part(self.first), fresh_part(self.second)

    @property
    def parts(self) -> tuple[Trail, Trail]:
        return self.first, self.second

    @property
    def reads_content(self) -> bool:
        return some_reads_content(self.parts)

    def root(self) -> TrailState:
        return self.first.root(), self.second.root()

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        first, second = state
        return self.first.advance(first, page, verdict), self.second.advance(second, page, verdict)

    def rank(self, state: TrailState) -> float:
        return self.first.rank(state[0])


# The number of links from the most relevant pages found so far: the high-correlation chain.


@dataclass
class ChainHops:
    """A page belongs to the chain if its relevance is above 0 and fewer than `size` visited pages have a higher one.
    States are integers: 0 for the links of such a page, one more with every other page; None if no page on the path
    belongs. Membership is decided at the visit, and does not change when better pages are found.

    Learns from every visit; starts untrained.
    """

    size: int = 50
    _highest: list[float] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"size={self.size}: at least 1 page must be in the chain")

    def root(self) -> TrailState:
        return None

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        if self._belongs(verdict.relevance):
            return 0
        return None if state is None else state + 1

    def rank(self, state: TrailState) -> float:
        return -math.inf if state is None else -float(state)

    def learn(self, sighting: Sighting) -> None:
        relevance = sighting.verdict.relevance
        if len(self._highest) < self.size:
            heapq.heappush(self._highest, relevance)
        else:
            heapq.heappushpop(self._highest, relevance)

    relearn = learn

    def state(self) -> State:
        return {"highest": np.array(self._highest, np.float64)}

    def restore(self, state: State) -> None:
        highest = array_in(state, "highest", np.float64, (ANY,)).tolist()
        if len(highest) > self.size:
            raise BadInput(f"{len(highest)} pages are in a chain of {self.size}")
        self._highest = highest
        heapq.heapify(self._highest)

    def _belongs(self, relevance: float) -> bool:
        """Must be called before `learn` for the same page."""
        return relevance > 0.0 and (len(self._highest) < self.size or relevance >= self._highest[0])


# The relevance that a path inherits from its pages, decaying with every link.


@dataclass(frozen=True)
class Inherited:
    """States are numbers from 0 to 1. A page with a relevance above 0 passes `decay` times that to its links, any other
    page `decay` times the value it inherited."""

    decay: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.decay <= 1.0:
            raise UsageError(f"decay={self.decay:g}: give a number from 0 to 1")

    def root(self) -> TrailState:
        return 0.0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return self.decay * (verdict.relevance if verdict.relevance > 0.0 else state)

    def rank(self, state: TrailState) -> float:
        return float(state)


# Tunnelling: the cost of a path since the last relevant page; irrelevant pages cost less if they are close to the
# topic.


@dataclass(frozen=True)
class Tunnel:
    """States are numbers: 0 for the links of a relevant page. An irrelevant page adds 1 - relevance, so paths through
    pages close to the topic are followed longer. A link keeps the smaller of two states."""

    def root(self) -> TrailState:
        return 0.0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return 0.0 if verdict.relevant else state + 1.0 - verdict.relevance

    def rank(self, state: TrailState) -> float:
        return -float(state)
