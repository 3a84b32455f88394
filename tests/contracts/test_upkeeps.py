"""What every upkeep promises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from spoor.ordering.host_yield import HostYield
from spoor.ordering.learned.learned import Learned
from spoor.ordering.link_analysis import Distiller, PageRankOrder
from spoor.ordering.link_classifier import LinkClassifier
from spoor.ordering.tag_paths import TagPathBandit
from spoor.ordering.trails import LastPage
from spoor.records import Evidence, Link, Page, Sighting, TrailState, Verdict, Visit, WaitingLink
from spoor.roles import LinkReader, Merge, Upkeep
from spoor.strategy import hinted
from spoor.urls import host_of
from tests.tiny import url

Part = PageRankOrder | Distiller | LinkClassifier | HostYield | TagPathBandit | Learned
"""All upkeeps so far score links too."""
UPKEEPS: list[Part] = [PageRankOrder(), Distiller(), LinkClassifier(), HostYield(), TagPathBandit(), Learned()]
LINKS = {"S": "A B u", "A": "B v w", "B": "A u x", "C": "u y"}
RELEVANCE = {"A": 1.0, "B": 0.4}


@dataclass
class Kept:
    """A frontier that keeps nothing but what waits, as it was first met."""

    merge: Mapping[str, Merge]
    evidence: dict[str, Evidence] = field(default_factory=dict)
    links: dict[str, WaitingLink] = field(default_factory=dict)

    def evidence_of(self, url: str) -> Evidence | None:
        return self.evidence.get(url)

    def links_found_on(self, url: str, most: int) -> Sequence[WaitingLink]:
        return [link for link in self.some(len(self.links)) if link.trail[1] == url][:most]

    def some(self, most: int) -> Sequence[WaitingLink]:
        return [self.links[url]._replace(evidence=found) for url, found in self.evidence.items()][:most]

    def offer(self, link: Link, found: Evidence, trail: TrailState) -> None:
        old = self.evidence.get(link.url, found)
        self.evidence[link.url] = {name: self.merge[name](old[name], found[name]) for name in found}
        hints = link.hints if isinstance(link.hints, bytes) else b""
        self.links.setdefault(link.url, WaitingLink(link.url, found, trail, hints))


def visited(part: Part) -> Kept:
    """What waits after the pages were visited."""
    kept, nowhere, way = Kept(part.merge), WaitingLink("", {}, LastPage().root(), b""), LastPage()
    for number, (name, targets) in enumerate(LINKS.items()):
        page = Page(url(name), links=tuple(Link(url(target), target) for target in targets.split()))
        found, link = kept.evidence.pop(page.url, {}), kept.links.get(page.url, nowhere)
        known = {"trail": link.trail, "found_on": link.trail[1], "hints": link.hints}
        visit = Visit(page.url, host_of(page.url), number, 0.0, evidence=found, **known)
        relevance = RELEVANCE.get(name, 0.0)
        verdict = Verdict(relevance, relevance >= 0.5, "")
        sighting = Sighting(visit, page, verdict, way.advance(link.trail, page, verdict))
        part.learn(sighting)
        still_open = [link for link in page.links if link.url not in map(url, list(LINKS)[: number + 1])]
        read = hinted(part, page, still_open) if isinstance(part, LinkReader) else still_open
        for one, evidence in zip(read, part.evidence(sighting, read), strict=True):
            kept.offer(one, evidence, sighting.trail)
    return kept


def revised(part: Upkeep, kept: Kept) -> list[tuple[str, Evidence]]:
    return list(part.revise(kept))


@pytest.mark.parametrize("upkeep", UPKEEPS, ids=repr)
class TestEveryUpkeep:
    def test_comes_after_at_least_one_visit(self, upkeep: Part) -> None:
        assert upkeep.every >= 1

    def test_tells_waiting_links_evidence_of_the_names_that_their_scorer_merges(self, upkeep: Part) -> None:
        part = replace(upkeep)
        kept = visited(part)
        for address, evidence in revised(part, kept):
            assert address in kept.evidence and set(evidence) == set(part.merge)
            key = part.key(evidence)
            assert not any(map(math.isnan, key if isinstance(key, tuple) else (key,)))

    def test_says_the_same_of_the_same_visits(self, upkeep: Part) -> None:
        one, other = replace(upkeep), replace(upkeep)
        assert revised(one, visited(one)) == revised(other, visited(other))

    def test_has_nothing_to_say_before_the_first_visit(self, upkeep: Part) -> None:
        assert revised(replace(upkeep), Kept(upkeep.merge)) == []
