"""Links that may be tried again later, the soonest first; however many there are, only the first are in memory."""

from __future__ import annotations

import heapq
import math

from spoor.frontier.entry import Entry
from spoor.frontier.store import ALL_MOMENTS, LinkStore, Moment

BLOCK = 256
"""Links that are read at once."""
NO_MOMENT: Moment = (-math.inf, 0)


class Returning:
    """All whose moment is up to `_read_to`, and all that were added since the last commit. A link that has returned
    already is skipped by whoever asks for it."""

    def __init__(self, store: LinkStore, put_off: bool) -> None:
        """`put_off`: those for which nobody waits, or the others."""
        self._store = store
        self._put_off = put_off
        self.begin_again()

    def begin_again(self) -> None:
        """What the store holds has changed."""
        self._moments: list[tuple[float, int, str]] = []
        self._read_to = NO_MOMENT

    def add(self, entry: Entry) -> None:
        heapq.heappush(self._moments, (entry.again_at, entry.arrival, entry.url))

    def due(self, now: float) -> list[str]:
        """URLs of links whose time has come, and perhaps of some that have returned before."""
        due: list[str] = []
        while (next_at := self.next_at()) is not None and next_at <= now:
            due.append(heapq.heappop(self._moments)[2])
        return due

    def next_at(self) -> float | None:
        """When the next one may be due; None: there is none."""
        while self._read_to != ALL_MOMENTS and (not self._moments or self._moments[0][:2] > self._read_to):
            found, self._read_to = self._store.returning(self._read_to, self._put_off, BLOCK)
            for moment in found:
                heapq.heappush(self._moments, moment)
        return self._moments[0][0] if self._moments else None

    def committed(self) -> None:
        """What was added is in the store now."""
        kept = self._store.at_hand
        if kept is not None and len(self._moments) > 2 * kept:
            self._moments = heapq.nsmallest(kept, self._moments)
            self._read_to = min(self._read_to, self._moments[-1][:2])
