"""How many of the pages visited in a place were wanted: on a host, and in its folders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spoor.saved_state import State, array_in, as_counts, counts_in, texts_in
from spoor.urls import host_of

FOLDERS = 3
"""Folders of a path that are places of their own."""

TRUST = 4.0
"""So many visits weigh as much as what was expected before."""


class PlaceShares:
    """Counts visits and wanted pages, apart for each `kind` of page. A place about which little is known is expected to
    be like the one around it."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], tuple[int, int]] = {}

    def note(self, url: str, kind: int, wanted: bool) -> None:
        for place in _places(url):
            visits, found = self._counts.get((place, kind), (0, 0))
            self._counts[place, kind] = (visits + 1, found + wanted)

    def state(self) -> State:
        return {
            "places": [place for place, _ in self._counts],
            "kinds": as_counts(kind for _, kind in self._counts),
            "visits": as_counts(visits for visits, _ in self._counts.values()),
            "found": as_counts(found for _, found in self._counts.values()),
        }

    def restore(self, state: State) -> None:
        places = texts_in(state, "places")
        kinds = array_in(state, "kinds", np.int64, (len(places),), -1, 1).tolist()
        visits, found = (counts_in(state, name, len(places)) for name in ("visits", "found"))
        named = zip(places, kinds, strict=True)
        self._counts = dict(zip(named, zip(visits, found, strict=True), strict=True))

    def expected(self, url: str, kind: int, elsewhere: float) -> float:
        """The share of wanted pages, from 0 to 1, where `url` is; `elsewhere`: what is expected of an unknown host."""
        share = elsewhere
        for place in _places(url):
            visits, found = self._counts.get((place, kind), (0, 0))
            share = (found + TRUST * share) / (visits + TRUST)
        return share


def _places(url: str) -> Iterator[str]:
    """The host, then its folders, each inside the one before."""
    yield (place := host_of(url))
    for folder in url.partition("?")[0].split("/")[3:-1][:FOLDERS]:
        place = f"{place}/{folder}"
        yield place
