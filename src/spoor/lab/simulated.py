"""Runs a crawl on a simulated web, with an event heap and virtual time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from spoor.crawl import Crawl
from spoor.events import Event
from spoor.records import Outcome, Visit
from spoor.roles import World


def simulate(crawl: Crawl, world: World, connections: int = 1, now: float = 0.0) -> Iterator[Event]:
    """Runs the crawl to its end and yields its events. Up to `connections` requests may be in flight at once. `now` is
    the virtual time at which the crawl begins or resumes.

    Starts visits while connections are free; advances the clock to the next response or to the time at which a host is
    free again, whichever is first; absorbs responses; stops when neither is left.
    """
    started = 0
    under_way: list[tuple[float, int, Visit, Outcome]] = []
    while True:
        while len(under_way) < connections and (visit := crawl.next_visit(now)) is not None:
            outcome, seconds = world.fetch(visit)
            heapq.heappush(under_way, (now + seconds, started, visit, outcome))
            started += 1
        wake = crawl.wake_at() if len(under_way) < connections else None
        if under_way and (wake is None or under_way[0][0] <= wake):
            now, _, visit, outcome = heapq.heappop(under_way)
            yield from crawl.absorb([(visit, outcome)], now)
        elif crawl.interrupted:
            yield from crawl.absorb([], now)
        elif wake is not None:
            now = wake
        else:
            yield from crawl.absorb([], now)
            return
