"""The first waiting links of one host, read ahead from the file of a store."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from spoor.frontier.entry import Entry, Order, State
from spoor.frontier.queue import Queue

KEPT = 64
"""Links of a host that are still at hand when there have been too many."""
MOST = 4 * KEPT
"""So many are too many after a commit."""
NOTHING_READ: Order = ((-math.inf,), 0)
ALL_READ: Order = ((math.inf,) * 4, 0)
"""Before and after every place."""


class ReadAhead:
    """All waiting links of the host at places up to `read_to`, and all that changed since the last commit, which are
    not in the file yet. A link that was read becomes an entry when somebody asks for it: mostly its place is enough."""

    __slots__ = ("_entries", "_queue", "_rows", "read_to")

    def __init__(self, changed: Iterable[Entry]) -> None:
        self._queue: Queue[Order] = Queue()
        self._entries: dict[str, Entry | Callable[[], Entry]] = {}
        self._rows = 1
        self.read_to = NOTHING_READ
        for entry in changed:
            self.put(entry)

    def __contains__(self, url: str) -> bool:
        return url in self._entries

    def put(self, entry: Entry) -> None:
        """The entry as it is now."""
        if entry.state is State.WAITING:
            self._entries[entry.url] = entry
            self._queue.put(entry.url, entry.order)
        elif self._entries.pop(entry.url, None) is not None:
            self._queue.remove(entry.url)

    def read(self, url: str, order: Order, entry: Callable[[], Entry]) -> None:
        """A waiting link as it is in the file."""
        self._entries[url] = entry
        self._queue.put(url, order)

    def first(self) -> tuple[Order, str] | None:
        """The place and the URL; None: more is to be read before it can be told, or nothing waits."""
        first = self._queue.first()
        return None if first is None or first[0] > self.read_to else first

    def entry(self, url: str) -> Entry:
        entry = self._entries[url]
        if not isinstance(entry, Entry):
            entry = self._entries[url] = entry()
        return entry

    def rows_to_read(self) -> int:
        """How many of the first rows to read next. Twice as many every time: so however many of them turn out to have
        changed, few rows are read again for each that is new."""
        self._rows *= 2
        return self._rows

    def committed(self) -> None:
        """What changed is in the file now; of too many links only the first are kept here."""
        if len(self._queue) > MOST:
            kept = self._queue.foremost(KEPT)
            self.read_to = min(self.read_to, kept[-1][0])
            self._queue.keep(kept)
            self._entries = {url: self._entries[url] for _, url in kept}
        self._rows = max(1, min(KEPT, len(self._queue)))
