"""Requests for robots.txt that are due: by the host that must be asked, with the hosts that wait for the answer."""

from __future__ import annotations

import heapq


class Errands:
    """A URL is queued at its host, then asked for, then answered; however many hosts wait for it, it is asked for once.
    Every host with a queue has a time in `_due`, unless it is busy: whoever ends a visit calls `wake`."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[str]] = {}
        self._queues: dict[str, dict[str, None]] = {}
        self._due: list[tuple[float, str]] = []

    def __contains__(self, host: object) -> bool:
        """Whether a robots.txt is to be asked for there."""
        return host in self._queues

    def add(self, url: str, host: str, asked_by: str) -> bool:
        """`host` is the one to be asked. Returns whether the URL was not under way yet."""
        if url in self._waiting:
            self._waiting[url].append(asked_by)
            return False
        self._waiting[url] = [asked_by]
        self._queues.setdefault(host, {})[url] = None
        return True

    def wake(self, host: str, at: float) -> None:
        """Look at the queue of a host again at that time."""
        if host in self._queues:
            heapq.heappush(self._due, (at, host))

    def due(self, now: float) -> str | None:
        """A host that should be looked at."""
        while self._due and self._due[0][0] <= now:
            host = heapq.heappop(self._due)[1]
            if host in self._queues:
                return host
        return None

    def take(self, host: str) -> str:
        """The URL that is asked for now, of a host that is due."""
        queue = self._queues[host]
        url = next(iter(queue))
        del queue[url]
        if not queue:
            del self._queues[host]
        return url

    def answered(self, url: str) -> list[str]:
        """The hosts that waited for it, in the order they came."""
        return self._waiting.pop(url, [])

    @property
    def wake_at(self) -> float | None:
        return self._due[0][0] if self._due else None
