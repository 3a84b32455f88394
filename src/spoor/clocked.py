"""A simulated crawl under a virtual clock: how long it would take, and whether every host was left in peace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from spoor.contest import crawl_of, visit_by_visit
from spoor.course import Course
from spoor.drivers.simulated import simulate
from spoor.events import Event
from spoor.frontier import Frontier, HostRules, MemoryStore
from spoor.measure.harvest import Run
from spoor.measure.politeness import Politeness, politeness
from spoor.webs.network import Conditions, Network


@dataclass(frozen=True)
class Timing:
    """`elapsed` is in virtual seconds."""

    elapsed: float
    pages_per_second: float
    politeness: Politeness

    def as_json(self) -> dict[str, Any]:
        return {
            "elapsed": self.elapsed,
            "pages_per_second": self.pages_per_second,
            "hosts": self.politeness.hosts,
            "tightest": self.politeness.tightest,
            "violations": len(self.politeness.violations),
        }


def run_clocked(
    course: Course, strategy: str, conditions: Conditions, connections: int, advance: Callable[[int], None]
) -> tuple[Run, Timing]:
    """Hosts are asked for their rules first, rest between visits, and differ in speed."""
    began = time.perf_counter()
    frontier = Frontier(MemoryStore(), HostRules(rest=conditions.rest, ask_first=True))
    crawl, world = crawl_of(course, strategy, frontier, course.yardstick.budget)
    events: list[Event] = []

    def noted() -> Iterator[Event]:
        for event in simulate(crawl, Network(world, conditions), connections):
            events.append(event)
            advance(1)
            yield event

    run = visit_by_visit(noted(), world)
    elapsed = max((event.at for event in events), default=0.0)
    timing = Timing(elapsed, len(run.found) / elapsed if elapsed else 0.0, politeness(events, conditions.rest))
    return replace(run, seconds=time.perf_counter() - began), timing
