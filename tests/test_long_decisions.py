"""A decision that would have to go through very many links first is cut short, and nothing is lost by it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.crawl import Crawl
from spoor.crawling.turns import AT_ONCE
from spoor.events import Event, Refused
from spoor.frontier.entry import State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.driver import LINKS_AT_ONCE, LiveDriver
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import ADMIT, Evidence, Link, Outcome, Ruling, Sighting, TrailState, Visit, WaitingLink
from spoor.roles import Merge
from spoor.store.incidents import SavedTroubles
from spoor.strategy import Strategy
from tests.tiny import names, truth, url

MANY = 5 * AT_ONCE
HUB = WrittenWorld.of_links(
    {url("S"): [url(f"hub.test/{number}") for number in range(MANY)]}
    | {url(f"hub.test/{number}"): [] for number in range(MANY)},
    frozenset(),
)


@dataclass
class FallsAtReview:
    """Every link promises 1 when it is found and less when it is reviewed: the higher its number, the more is left."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"promise": max}
    reviewed: list[str] = field(default_factory=list, init=False)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"promise": 1.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["promise"]

    def review(self, link: WaitingLink) -> Evidence:
        self.reviewed.append(link.url)
        return {"promise": int(link.url.rpartition("/")[2]) / (2 * MANY)}


@dataclass(frozen=True)
class LastOnly:
    """All links are parked when their turn comes, but the last."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT if visit.url.endswith(f"/{MANY - 1}") else Ruling("park", "not the last")


@dataclass(frozen=True)
class WrittenDownloader:
    world: WrittenWorld

    async def fetch(self, visit: Visit) -> Outcome:
        return self.world.fetch(visit)[0]


def after_the_hub(strategy: Strategy) -> Crawl:
    crawl = Crawl(strategy, Frontier(MemoryStore()))
    crawl.begin([url("S")])
    visit = crawl.next_visit(0.0)
    assert visit is not None
    outcome, _ = HUB.fetch(visit)
    crawl.absorb([(visit, outcome)], 1.0)
    return crawl


def test_one_decision_rescores_so_many_links_and_takes_the_best_of_them() -> None:
    scorer = FallsAtReview()
    visit = after_the_hub(Strategy(truth(HUB), scorer)).next_visit(1.0)
    assert len(scorer.reviewed) == AT_ONCE
    assert visit is not None and visit.url == url(f"hub.test/{AT_ONCE - 1}")


def test_every_link_is_rescored_in_the_end() -> None:
    scorer = FallsAtReview()
    crawl = Crawl(Strategy(truth(HUB), scorer), Frontier(MemoryStore()))
    crawl.begin([url("S")])
    assert len(names(list(simulate(crawl, HUB))).split()) == MANY + 1
    assert len(set(scorer.reviewed)) >= MANY - MANY // AT_ONCE


def test_one_decision_turns_so_many_links_away_and_says_to_ask_again_at_once() -> None:
    crawl = after_the_hub(Strategy(truth(HUB), Arrival(), admission=LastOnly()))
    assert crawl.next_visit(1.0) is None
    assert crawl.frontier.count(State.PARKED) == AT_ONCE
    assert crawl.interrupted and crawl.wake_at() == 1.0
    assert len(crawl.absorb([], 1.0)) == AT_ONCE
    assert not crawl.interrupted


def test_a_simulated_crawl_goes_on_after_links_that_are_turned_away() -> None:
    crawl = Crawl(Strategy(truth(HUB), Arrival(), admission=LastOnly()), Frontier(MemoryStore()))
    crawl.begin([url("S")])
    all_but_the_last_are_turned_away(list(simulate(crawl, HUB)))


def test_a_live_crawl_goes_on_after_links_that_are_turned_away() -> None:
    crawl = Crawl(Strategy(truth(HUB), Arrival(), admission=LastOnly()), Frontier(MemoryStore()))
    crawl.begin([url("S")])

    async def run() -> list[Event]:
        driver = LiveDriver(
            crawl, WrittenDownloader(HUB), connections=2, clock=lambda: 0.0, troubles=SavedTroubles(None)
        )
        return [event async for batch in driver.run() for event in batch]

    all_but_the_last_are_turned_away(asyncio.run(run()))


def test_pages_with_thousands_of_links_are_absorbed_in_batches_of_their_own() -> None:
    hubs = [url(f"h{number}.test/") for number in range(4)]
    links = {hub: [f"{hub}{number}" for number in range(LINKS_AT_ONCE)] for hub in hubs}
    web = WrittenWorld.of_links(links, frozenset())
    crawl = Crawl(Strategy(truth(web), Arrival()), Frontier(MemoryStore()), Limits(visits=len(hubs)))
    crawl.begin(hubs)

    async def run() -> list[int]:
        driver = LiveDriver(
            crawl, WrittenDownloader(web), connections=4, clock=lambda: 0.0, troubles=SavedTroubles(None)
        )
        return [len(names(batch).split()) async for batch in driver.run()]

    assert asyncio.run(run()) == [1, 1, 1, 1, 0]


def all_but_the_last_are_turned_away(events: list[Event]) -> None:
    assert names(events) == f"s hub.test/{MANY - 1}"
    refused = [event.refusal.url for event in events if isinstance(event, Refused)]
    assert refused == [url(f"hub.test/{number}") for number in range(MANY - 1)]
