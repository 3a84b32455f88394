"""What became of the links tried: how many answered with a page, and how many pages were relevant. In a place, behind a
page, in one of its lists. Counted in a fixed space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BITS = 20
"""Counters are two to this power: hashes that share one are rare until millions of places were seen."""
MASK = np.uint32((1 << BITS) - 1)

LEVELS = 6
"""What can be tried for the first time: a domain, a host, three folders, a page that links."""
CELLS = 5 * LEVELS
"""First tries are counted by level, apart for links from relevant pages and for links within a domain, and together."""


class Yields:
    """Tries, answers and finds by slot, a slot being the lower bits of a hash. A try under way counts as a fruitless
    one until it is back. `untried` has, for answers and for finds, what first tries of each cell brought, and what was
    expected of them."""

    def __init__(self) -> None:
        self.tries = np.zeros(1 << BITS, np.float32)
        self.answers = np.zeros(1 << BITS, np.float32)
        self.finds = np.zeros(1 << BITS, np.float32)
        self.untried = np.zeros((2, CELLS, 2), np.float64)
        self._tried = self._found = 0

    @property
    def rate(self) -> float:
        """The share of finds among all tries, beginning at one in five."""
        return (self._found + 1) / (self._tried + 5)

    def begin(self, slots: Sequence[int]) -> None:
        for slot in slots:
            self.tries[slot] += 1.0

    def take_back(self, slots: Sequence[int]) -> None:
        """The try is over, and is noted next."""
        for slot in slots:
            self.tries[slot] -= 1.0

    def note(self, slots: Sequence[int], answered: bool, found: bool) -> None:
        self._tried += 1
        self._found += found
        for slot in slots:
            self.tries[slot] += 1.0
            self.answers[slot] += answered
            self.finds[slot] += found

    def credit(self, slots: Sequence[int], finds: float) -> None:
        """Finds that came later, through links of the pages found."""
        for slot in slots:
            self.finds[slot] += finds

    def share(self, slot: int, trust: float) -> float:
        """Of finds among tries, `trust` fruitless tries added."""
        return float(self.finds[slot]) / (float(self.tries[slot]) + trust)

    def note_untried(
        self, cells: NDArray[np.int64], expected: NDArray[np.float64], answered: bool, found: bool
    ) -> None:
        """How first tries turned out; `cells` and `expected` as `outlook.first_tries` gives them."""
        for kind, came in enumerate((answered, found)):
            for cell, hoped_for in zip(cells[kind].tolist(), expected[kind].tolist(), strict=True):
                # A page that did not come says nothing of how many that come are relevant.
                if cell >= 0 and (answered or kind == 0):
                    for counted in (cell, 4 * LEVELS + cell // 4):
                        self.untried[kind, counted] += (came, hoped_for)
