"""Fetch this link now, or wait for a better one: what a request must promise, and when waiting is of no use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from spoor.crawl import Crawl
from spoor.events import Event
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.simulated import simulate
from spoor.pricing import Limits
from spoor.records import Evidence, Failure, Key, Link, RobotsRules, Sighting
from spoor.roles import Merge
from spoor.strategy import Strategy
from tests.tiny import graph, names, truth, url

DELAY = HostRules(delay=1.0)
WEB = "S: good.test/0; good.test/0: good.test/1 good.test/2 poor.test/1 poor.test/2 fair.test/1"


@dataclass(frozen=True)
class ByHost:
    """A good host promises .8, a fair one .5, any other .1."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"promise": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"promise": self._promise(link.url)} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["promise"]

    def gain(self, key: Key) -> float:
        return key[0]

    @staticmethod
    def _promise(address: str) -> float:
        return 0.8 if "good" in address else 0.5 if "fair" in address else 0.1


def crawled(effort: float, rules: HostRules = DELAY, web: str = WEB) -> tuple[Crawl, list[Event]]:
    world = graph(web)
    crawl = Crawl(Strategy(truth(world), ByHost()), Frontier(MemoryStore(), rules), Limits(effort=effort))
    crawl.begin([url("S")])
    return crawl, list(simulate(crawl, world, connections=4))


def test_with_the_fewest_requests_every_link_waits_for_better_ones() -> None:
    _, events = crawled(effort=0.0)
    expected = "s good.test/0 good.test/1 good.test/2 fair.test/1 poor.test/1 poor.test/2"
    assert names(events) == expected


def test_the_fastest_crawl_never_waits() -> None:
    crawl, events = crawled(effort=1.0)
    assert names(events) == "s good.test/0 fair.test/1 poor.test/1 good.test/1 poor.test/2 good.test/2"
    assert crawl.idle == 0.0


def test_in_between_a_link_is_fetched_that_promises_enough_of_what_the_best_one_does() -> None:
    crawl, events = crawled(effort=0.5)
    assert names(events) == "s good.test/0 fair.test/1 good.test/1 good.test/2 poor.test/1 poor.test/2"
    assert crawl.idle == pytest.approx(2.0)


def test_nobody_waits_for_a_host_that_rests_for_long() -> None:
    world = graph(WEB)
    slow = {"good.test": RobotsRules("User-agent: *\nCrawl-delay: 600")}
    crawl = Crawl(
        Strategy(truth(world), ByHost()),
        Frontier(MemoryStore(), HostRules(delay=1.0, ask_first=True)),
        Limits(effort=0.0),
    )
    crawl.begin([url("S")])
    order = names(list(simulate(crawl, world.__class__(world.outcomes, world.relevant, world.seconds, slow), 4)))
    assert order.index("poor.test/2") < order.index("good.test/1")


def test_nobody_waits_for_a_host_that_failed_even_if_it_is_asked_again_soon() -> None:
    written = graph("S: good.test/0 good.test/1 poor.test/1 poor.test/2")
    expected = "s good.test/0 poor.test/1 poor.test/2 good.test/0 good.test/0 good.test/1"
    busy = Failure("HTTP 503", again_after=20.0, whole_host=True)
    world = replace(written, outcomes={**written.outcomes, "http://good.test/0": busy})
    crawl = Crawl(Strategy(truth(world), ByHost()), Frontier(MemoryStore(), DELAY), Limits(effort=0.0))
    crawl.begin([url("S")])
    assert names(list(simulate(crawl, world, connections=4))) == expected


def test_a_seed_on_a_resting_host_is_waited_for() -> None:
    world = graph("a.test/0: b.test/0; a.test/1:")
    crawl = Crawl(Strategy(truth(world), ByHost()), Frontier(MemoryStore(), DELAY), Limits(effort=0.5))
    crawl.begin(["http://a.test/0", "http://a.test/1"])
    assert names(list(simulate(crawl, world, connections=4))) == "a.test/0 a.test/1 b.test/0"


@pytest.mark.parametrize(
    ("limits", "visits", "now", "effort"),
    [
        (Limits(), 0, 0.0, 0.5),
        (Limits(visits=100), 0, 0.0, 0.2),
        (Limits(until=60.0), 0, 0.0, 1.0),
        (Limits(visits=100, until=100.0, effort=0.3), 0, 0.0, 0.3),
        (Limits(visits=100, until=100.0), 60, 50.0, 0.2),
        (Limits(visits=100, until=100.0), 40, 50.0, 1.0),
        (Limits(visits=100, began=1000.0, until=1100.0), 60, 1050.0, 0.2),
        (Limits(visits=100, began=1000.0, until=1100.0), 40, 1050.0, 1.0),
    ],
)
def test_with_requests_scarce_it_waits_and_with_time_scarce_it_does_not(
    limits: Limits, visits: int, now: float, effort: float
) -> None:
    assert limits.effort_at(now, visits) == effort
    assert limits.price_at(now, visits) == 1.0 - effort
