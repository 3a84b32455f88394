"""A priority queue with moves and removals, and the read-ahead buffer of a host's first links."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from typing import Any

from spoor.frontier.entry import KEY_PARTS, Entry, Order, State

# A priority queue of URLs, any of which may move or be removed.


Item = tuple[Any, ...]
"""A position followed by a URL or a host: flat, because heaps compare many."""

SLACK = 64
"""A queue is rebuilt when its outdated positions outnumber the current ones by more than this."""


class Queue:
    """Smaller positions are sooner. A URL that moved or was removed leaves its old position behind, to be skipped
    later, so that only the occasional rebuild touches the whole queue. `_current` has for each URL the identical tuple
    that is in `_places`: identity distinguishes a current position from an equal outdated one."""

    __slots__ = ("_current", "_places")

    def __init__(self) -> None:
        self._places: list[Item] = []
        self._current: dict[str, Item] = {}

    def __len__(self) -> int:
        return len(self._current)

    def __contains__(self, url: str) -> bool:
        return url in self._current

    def put(self, url: str, order: Order) -> None:
        place = (*order, url)
        if self._current.get(url) == place:
            return
        self._current[url] = place
        heapq.heappush(self._places, place)
        if len(self._places) > 2 * len(self._current) + SLACK:
            self._places = [one for one in self._places if self._current.get(one[-1]) is one]
            heapq.heapify(self._places)

    def remove(self, url: str) -> None:
        """Does nothing if the URL is absent."""
        self._current.pop(url, None)

    def first(self) -> tuple[Order, str] | None:
        places, current = self._places, self._current
        while places:
            first = places[0]
            if current.get(first[-1]) is first:
                return first[:-1], first[-1]
            heapq.heappop(places)
        return None

    def keep(self, most: int) -> list[tuple[Order, str]]:
        """Removes all but the first `most`, and returns these, in order."""
        kept: list[Item] = []
        while len(kept) < most and self.first() is not None:
            kept.append(heapq.heappop(self._places))
        self._places = kept  # sorted, so it is a heap
        self._current = {one[-1]: one for one in kept}
        return [(one[:-1], one[-1]) for one in kept]


# The first waiting links of one host, read ahead from the file of a store.


KEPT = 64
"""Number of links of a host that stay in memory when there are too many."""
MOST = 4 * KEPT
"""More than this number after a commit are too many."""
NOTHING_READ: Order = (-math.inf,) * KEY_PARTS + (0,)
ALL_READ: Order = (math.inf,) * KEY_PARTS + (0,)
"""Before and after every position."""


class ReadAhead:
    """All waiting links of the host at positions up to `read_to`, and all changed since the last commit, which are not
    in the file yet. A row becomes an entry on first use: mostly its position is enough."""

    __slots__ = ("_entries", "_queue", "_rows", "read_to")

    def __init__(self, changed: Iterable[Entry]) -> None:
        self._queue = Queue()
        self._entries: dict[str, Entry | Callable[[], Entry]] = {}
        self._rows = 1
        self.read_to = NOTHING_READ
        for entry in changed:
            self.put(entry)

    def __contains__(self, url: str) -> bool:
        return url in self._entries

    def put(self, entry: Entry) -> None:
        """Adds or updates the entry, or removes it if it no longer waits."""
        url = entry.url
        if entry.state is State.WAITING:
            self._entries[url] = entry
            self._queue.put(url, entry.order)
        elif self._entries.pop(url, None) is not None:
            self._queue.remove(url)

    def read(self, url: str, order: Order, entry: Callable[[], Entry]) -> None:
        """Adds a waiting link from the file."""
        self._entries[url] = entry
        self._queue.put(url, order)

    def first(self) -> tuple[Order, str] | None:
        """The position and the URL; None if more rows must be read first, or nothing waits."""
        first = self._queue.first()
        return None if first is None or first[0] > self.read_to else first

    def entry(self, url: str) -> Entry:
        entry = self._entries[url]
        if not isinstance(entry, Entry):
            entry = self._entries[url] = entry()
        return entry

    def rows_to_read(self) -> int:
        """How many of the first rows to read next. Doubles each time: however many rows turn out to have changed, few
        are read again for each new one."""
        self._rows *= 2
        return self._rows

    def committed(self) -> None:
        """The changes are in the file now; if there are too many links, keeps only the first."""
        if len(self._queue) > MOST:
            kept = self._queue.keep(KEPT)
            self.read_to = min(self.read_to, kept[-1][0])
            self._entries = {url: self._entries[url] for _, url in kept}
        self._rows = max(1, min(KEPT, len(self._queue)))
