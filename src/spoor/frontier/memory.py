"""A store in memory: quick, and gone with the process."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter

from spoor.frontier.entry import Entry, Order, State
from spoor.frontier.host import Host
from spoor.frontier.store import Counters
from spoor.robots_files import RobotsFile

SLACK = 64
"""A queue is swept when outdated places outnumber the living by more than this."""


class _Queue:
    """The waiting links of one host, by URL, with the arrival at their places. A link that moved leaves its old place
    behind, to be skipped later."""

    __slots__ = ("places", "waiting")

    def __init__(self) -> None:
        self.places: list[tuple[Order, Entry]] = []
        self.waiting: dict[str, int] = {}


class MemoryStore:
    """Entries by URL, and a heap of places for each host."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._queues: dict[str, _Queue] = {}
        self._met_on: dict[str, list[Entry]] = {}
        self._rows: list[Entry] = []
        self._committed = 0
        self._hosts: dict[str, Host] = {}
        self._robots: dict[str, tuple[RobotsFile, str]] = {}
        self._counters = Counters()

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        return list(map(self._entries.get, urls))

    def save(self, entry: Entry) -> None:
        if entry.url not in self._entries:
            self._met_on.setdefault(entry.found_on, []).append(entry)
            self._rows.append(entry)
        self._entries[entry.url] = entry
        queue = self._queues.get(entry.host)
        if queue is None:
            queue = self._queues[entry.host] = _Queue()
        if entry.state is State.WAITING:
            if queue.waiting.get(entry.url) == entry.arrival:
                return
            queue.waiting[entry.url] = entry.arrival
            heapq.heappush(queue.places, (entry.order, entry))
            if len(queue.places) > 2 * len(queue.waiting) + SLACK:
                self._sweep(queue)
        else:
            queue.waiting.pop(entry.url, None)

    def best(self, host: str) -> Entry | None:
        queue = self._queues.get(host)
        while queue and queue.places:
            order, entry = queue.places[0]
            if _current(order, entry):
                return entry
            heapq.heappop(queue.places)
        return None

    def met_on(self, url: str) -> list[Entry]:
        return sorted((e for e in self._met_on.get(url, ()) if e.state is State.WAITING), key=attrgetter("arrival"))

    def some(self, turn: int, count: int) -> list[Entry]:
        after = turn * count % max(1, self._committed)
        rows = (self._rows[row] for row in range(after, self._committed))
        return list(islice((entry for entry in rows if entry.state is State.WAITING), count))

    def in_state(self, state: State) -> Iterator[Entry]:
        return iter(sorted((e for e in self._entries.values() if e.state is state), key=attrgetter("arrival")))

    def save_host(self, host: Host) -> None:
        self._hosts[host.name] = host

    def hosts(self) -> Iterator[Host]:
        return (replace(h, visiting=0, waits_for="", head=None, head_known=False) for h in self._hosts.values())

    def save_robots(self, file: RobotsFile, text: str) -> None:
        self._robots[file.url] = file, text

    def robots_files(self) -> Iterator[RobotsFile]:
        return (file for file, _ in self._robots.values())

    def robots_text(self, url: str) -> str:
        return self._robots[url][1] if url in self._robots else ""

    def counters(self) -> Counters:
        return self._counters

    def commit(self, counters: Counters) -> None:
        """Nothing outlives the process; only `some` looks at what was committed."""
        self._committed = len(self._rows)

    @staticmethod
    def _sweep(queue: _Queue) -> None:
        queue.places = [place for place in queue.places if _current(*place)]
        heapq.heapify(queue.places)


def _current(order: Order, entry: Entry) -> bool:
    return entry.state is State.WAITING and entry.arrival == order[1]
