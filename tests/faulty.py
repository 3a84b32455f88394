"""A strategy whose parts raise when they are to do something with certain URLs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.judging.combined import Truth
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.simple import total
from spoor.records import (
    ADMIT,
    Evidence,
    Hints,
    Key,
    Link,
    Miss,
    Page,
    Ruling,
    Sighting,
    TrailState,
    Verdict,
    Visit,
    WaitingLink,
)
from spoor.roles import Merge, WaitingLinks
from spoor.strategy import Strategy

PLACES = (
    "judge",
    "trail",
    "learn",
    "learn_miss",
    "hints",
    "evidence",
    "key",
    "offer",
    "pop",
    "saturated",
    "review",
    "gain",
    "begun",
    "over",
    "upkeep",
)
"""Where a part of a strategy may raise."""


@dataclass(frozen=True)
class Fault:
    """Raises in some places for some URLs. `raised` counts how often it did."""

    places: Collection[str]
    urls: Collection[str]
    raised: list[tuple[str, str]] = field(default_factory=list)

    def at(self, place: str, url: str = "") -> None:
        if self.is_at(place, url):
            raise KeyError(f"{place} of {url}")

    def is_at(self, place: str, url: str = "") -> bool:
        """No URL: wherever the place is come to."""
        found = place in self.places and (not url or url in self.urls)
        if found:
            self.raised.append((place, url))
        return found


@dataclass(frozen=True)
class FaultyJudge:
    truth: Truth
    fault: Fault
    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        for page in pages:
            self.fault.at("judge", page.url)
        return self.truth.judge(pages)


@dataclass(frozen=True)
class FaultyTrail:
    """Remembers how many pages lie behind."""

    fault: Fault

    def root(self) -> TrailState:
        return 0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        self.fault.at("trail", page.url)
        assert isinstance(state, int)
        return state + 1

    def rank(self, state: TrailState) -> float:
        return 0.0


@dataclass(frozen=True)
class FaultyAdmission:
    fault: Fault

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        self.fault.at("offer", link.url)
        return ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        self.fault.at("pop", visit.url)
        return ADMIT


@dataclass
class FaultyScorer:
    """Links of more pages first; plays every part that a scorer may play."""

    fault: Fault
    every: int = 2
    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"pages": total}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        for link in links:
            self.fault.at("hints", link.url)
        return [b"1"] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        for link in links:
            self.fault.at("evidence", link.url)
        return [{"pages": float("nan") if self.fault.is_at("key", link.url) else 1.0} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["pages"]

    def is_saturated(self, evidence: Evidence, sighting: Sighting) -> bool:
        self.fault.at("saturated", sighting.page.url)
        return False

    def review(self, link: WaitingLink) -> Evidence:
        self.fault.at("review", link.url)
        return link.evidence

    def gain(self, key: Key) -> float:
        self.fault.at("gain")
        return 1.0

    def begun(self, visit: Visit) -> None:
        self.fault.at("begun", visit.url)

    def over(self, visit: Visit) -> None:
        self.fault.at("over", visit.url)

    def learn(self, sighting: Sighting) -> None:
        self.fault.at("learn", sighting.visit.url)

    def learn_miss(self, miss: Miss) -> None:
        self.fault.at("learn_miss", miss.visit.url)

    def relearn(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self.fault.at("upkeep")
        return ()


def faulty(world: WrittenWorld, fault: Fault) -> Strategy:
    scorer = FaultyScorer(fault)
    judge = FaultyJudge(Truth("relevant", world.truth), fault)
    return Strategy(judge, scorer, FaultyTrail(fault), FaultyAdmission(fault), scorer)
