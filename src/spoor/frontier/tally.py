"""The number of waiting links by key, as a shard reports it."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from functools import lru_cache

from spoor.records import Key

DIGITS = 2
"""Significant digits of each part of a key: nearby keys are merged, so that there are few."""


class Tally:
    """Counts of waiting links by rounded key; no zero counts."""

    def __init__(self, counts: Iterable[tuple[Key, int]] = ()) -> None:
        self._counts: dict[Key, int] = {}
        for key, count in counts:
            self.add(key, count)

    def add(self, key: Key, count: int = 1) -> None:
        cell = _cell(key)
        left = self._counts.get(cell, 0) + count
        if left:
            self._counts[cell] = left
        else:
            del self._counts[cell]

    def best(self, links: int) -> list[tuple[Key, int]]:
        """The best keys that together have this many links, best first, with the number of links at each."""
        found: list[tuple[Key, int]] = []
        for key in heapq.nlargest(links, self._counts):
            found.append((key, self._counts[key]))
            links -= self._counts[key]
            if links <= 0:
                break
        return found


@lru_cache(1 << 14)
def _cell(key: Key) -> Key:
    return tuple(map(_rounded, key))


def _rounded(part: float) -> float:
    if not part or math.isinf(part):
        return part
    return round(part, DIGITS - 1 - math.floor(math.log10(abs(part))))
