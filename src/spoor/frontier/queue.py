"""A priority queue of URLs in which any of them may move or leave."""

from __future__ import annotations

import heapq
from typing import Any, Generic, TypeVar

Place = TypeVar("Place", bound=tuple[Any, ...])

SLACK = 64
"""A queue is swept when outdated places outnumber the current ones by more than this."""


class Queue(Generic[Place]):
    """Smaller places are sooner. A URL that moved or left leaves its old place behind, to be skipped later; so nothing
    here goes through the whole queue but a sweep now and then. Every `put` brings a tuple of its own: that is how a
    place is told from an outdated one that is equal to it."""

    __slots__ = ("_place_of", "_places")

    def __init__(self) -> None:
        self._places: list[tuple[Place, str]] = []
        self._place_of: dict[str, Place] = {}

    def __len__(self) -> int:
        return len(self._place_of)

    def __contains__(self, url: str) -> bool:
        return url in self._place_of

    def put(self, url: str, place: Place) -> None:
        if self._place_of.get(url) == place:
            return
        self._place_of[url] = place
        heapq.heappush(self._places, (place, url))
        if len(self._places) > 2 * len(self._place_of) + SLACK:
            self._places = [one for one in self._places if self._is_current(one)]
            heapq.heapify(self._places)

    def remove(self, url: str) -> None:
        """Whether or not it is there."""
        self._place_of.pop(url, None)

    def first(self) -> tuple[Place, str] | None:
        while self._places:
            if self._is_current(self._places[0]):
                return self._places[0]
            heapq.heappop(self._places)
        return None

    def foremost(self, most: int) -> list[tuple[Place, str]]:
        """Up to `most`, in order."""
        found: list[tuple[Place, str]] = []
        while len(found) < most and self.first() is not None:
            found.append(heapq.heappop(self._places))
        for one in found:
            heapq.heappush(self._places, one)
        return found

    def keep(self, kept: list[tuple[Place, str]]) -> None:
        """Forgets all but these, which are in order."""
        self._places = kept
        self._place_of = {url: place for place, url in kept}

    def _is_current(self, place: tuple[Place, str]) -> bool:
        return self._place_of.get(place[1]) is place[0]
