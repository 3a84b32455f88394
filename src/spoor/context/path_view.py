"""A path through the web as a path model sees it: page by page, in states that can be stored."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spoor.context.hidden_markov import Floats
from spoor.context.path_filter import PathFilter
from spoor.context.path_model import PathModel
from spoor.errors import UsageError

ORDERS = (1, 2)
DIGITS = 6
"""Of a chance that are kept: a state is stored with every link."""

PathState = tuple[float, ...] | None
"""None before the first page. Then the chances of each layer for the page; from the second page on, of each pair of
layers for the last two pages, row by row."""


@dataclass(frozen=True)
class PathView:
    """`order` 1: the next layer follows from the last one; 2: from the last two."""

    model: PathModel
    order: int = 2
    decoder: str = "forward"
    _filter: PathFilter = field(init=False, repr=False, compare=False)
    _worth: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"order={self.order} is neither {' nor '.join(map(str, ORDERS))}")
        hidden = self.model.path
        object.__setattr__(
            self, "_filter", PathFilter(hidden.first_order() if self.order == 1 else hidden, self.decoder)
        )
        object.__setattr__(self, "_worth", 0.5 ** np.arange(hidden.states))

    def go_on(self, state: PathState, title: str, text: str) -> PathState:
        """The state after one more page."""
        seen = self.model.cluster(title, text)
        if state is None:
            after = self._filter.begin(seen)
        elif self._is_first(state):
            after = self._filter.second(np.array(state), seen)
        else:
            after = self._filter.go_on(self._pairs(state), seen)
        return tuple(after.ravel().round(DIGITS).tolist())

    def ahead(self, state: tuple[float, ...]) -> Floats:
        """The chances of each layer for a page that the last one links to."""
        if self._is_first(state):
            return self._filter.ahead_of_first(np.array(state))
        return self._filter.ahead(self._pairs(state))

    def nearness(self, state: tuple[float, ...]) -> float:
        """How near to a wanted page a link leads: 1 for one itself, half with every layer farther away, on average over
        what may lie ahead."""
        return float(self.ahead(state) @ self._worth)

    def _is_first(self, state: tuple[float, ...]) -> bool:
        return len(state) == self.model.path.states

    def _pairs(self, state: tuple[float, ...]) -> Floats:
        return np.array(state).reshape(self.model.path.states, -1)
