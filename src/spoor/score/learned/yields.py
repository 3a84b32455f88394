"""How many of the pages tried were wanted: in a place, behind a page, in one of its lists. Counted in a fixed space."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

BITS = 20
"""Counters are two to this power: hashes that share one are rare until millions of places were seen."""
MASK = np.uint32((1 << BITS) - 1)


class Yields:
    """Tries and finds by hash."""

    def __init__(self) -> None:
        self.tries = np.zeros(1 << BITS, np.float32)
        self.finds = np.zeros(1 << BITS, np.float32)

    def note(self, hashes: Iterable[int], wanted: bool) -> None:
        for slot in {hashed & int(MASK) for hashed in hashes}:
            self.tries[slot] += 1.0
            self.finds[slot] += wanted
