"""How often links with a certain key were relevant, counted on the way: what a key is worth, whatever its scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from spoor.errors import BadInput
from spoor.records import Key, Miss, Sighting, Visit
from spoor.saved_state import ANY, State, array_in, as_counts, count_in, counts_in

CELLS = 4096
"""Different keys that are counted apart. A scorer that gives every link a key of its own has no use for them."""
PRIOR_TRIES = 4.0
"""So many tries weigh as much as the hit rate over all keys."""
FIRST_RATE = 0.2
"""The hit rate expected before anything was tried."""


@dataclass
class HitRates:
    """The forecast for scorers that state none. Keys are told apart by their first part, to two digits. A key that was
    seldom tried is expected to do as well as links do in this crawl.

    Learns from every visit; has learned nothing when it is made.
    """

    _counts: dict[float, tuple[int, int]] = field(init=False, repr=False, compare=False, default_factory=dict)
    _tries: int = field(init=False, repr=False, compare=False, default=0)
    _finds: int = field(init=False, repr=False, compare=False, default=0)

    def learn(self, sighting: Sighting) -> None:
        self._note(sighting.visit, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._note(miss.visit, False)

    def recall(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def state(self) -> State:
        return {
            "cells": np.array(list(self._counts), np.float64),
            "tries": as_counts(tries for tries, _ in self._counts.values()),
            "finds": as_counts(finds for _, finds in self._counts.values()),
            "all tries": self._tries,
            "all finds": self._finds,
        }

    def restore(self, state: State) -> None:
        # The key of a seed is infinite.
        cells = array_in(state, "cells", np.float64, (ANY,), -math.inf, math.inf).tolist()
        tries, finds = (counts_in(state, name, len(cells)) for name in ("tries", "finds"))
        if len(cells) > CELLS:
            raise BadInput(f"there are {len(cells)} cells, more than {CELLS}")
        self._counts = dict(zip(cells, zip(tries, finds, strict=True), strict=True))
        self._tries, self._finds = count_in(state, "all tries"), count_in(state, "all finds")

    def gain(self, key: Key) -> float:
        overall = (self._finds + PRIOR_TRIES * FIRST_RATE) / (self._tries + PRIOR_TRIES)
        tries, finds = self._counts.get(_cell(key), (0, 0))
        return (finds + PRIOR_TRIES * overall) / (tries + PRIOR_TRIES)

    def _note(self, visit: Visit, found: bool) -> None:
        self._tries += 1
        self._finds += found
        cell = _cell(visit.key)
        if cell in self._counts or len(self._counts) < CELLS:
            tries, finds = self._counts.get(cell, (0, 0))
            self._counts[cell] = (tries + 1, finds + found)


def _cell(key: Key) -> float:
    first = key[0]
    if not first or math.isinf(first):
        return first
    return round(first, 1 - math.floor(math.log10(abs(first))))
