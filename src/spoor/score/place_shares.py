"""How many of the pages visited in a place were wanted: on a host, and in its folders."""

from __future__ import annotations

from collections.abc import Iterator

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
