"""How many links lie between here and the most relevant pages found so far: the high-correlation chain."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from spoor.errors import BadInput, UsageError
from spoor.records import Page, Sighting, TrailState, Verdict
from spoor.saved_state import ANY, State, array_in


@dataclass
class ChainHops:
    """A page belongs to the chain if it is relevant at all and fewer than `size` visited pages are more so. States are
    whole numbers: 0 on the links of such a page, one more on those of another; None where no page on the way belonged.
    What a page was when it was visited holds, even if better ones come.

    Learns from every visit; has learned nothing when it is made.
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

    def recall(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def state(self) -> State:
        return {"highest": np.array(self._highest, np.float64)}

    def restore(self, state: State) -> None:
        highest = array_in(state, "highest", np.float64, (ANY,)).tolist()
        if len(highest) > self.size:
            raise BadInput(f"{len(highest)} pages are in a chain of {self.size}")
        self._highest = highest
        heapq.heapify(self._highest)

    def _belongs(self, relevance: float) -> bool:
        """Before the page itself is learned of."""
        return relevance > 0.0 and (len(self._highest) < self.size or relevance >= self._highest[0])
