"""The distiller: hubs and authorities among relevant pages, and what becomes of the links of the best hubs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from spoor.ordering.link_analysis import Distiller, hubs_and_authorities
from spoor.records import Link, Page, Sighting, Verdict, Visit, WaitingLink
from spoor.registry import strategy
from tests.tiny import events_of, graph, names, url

PAGES = ("h1", "h2", "a1", "a2", "x")
RELEVANCE = np.array([0.6, 0.2, 0.9, 0.8, 0.05])
LINKS = [("h1", "a1"), ("h1", "a2"), ("h1", "x"), ("h2", "a1"), ("h2", "x")]


def found(rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Hubs and authorities that are any, by name."""
    sources, targets = (np.array([PAGES.index(link[end]) for link in LINKS], np.int32) for end in (0, 1))
    scores = hubs_and_authorities(sources, targets, RELEVANCE, 0.1, rounds)
    hubs, authorities = ({page: each[k] for k, page in enumerate(PAGES) if each[k]} for each in scores)
    return hubs, authorities


def test_l_7_the_first_round() -> None:
    hubs, authorities = found(1)
    assert authorities == pytest.approx({"a1": 0.692308, "a2": 0.307692}, abs=1e-6)
    assert hubs == pytest.approx({"h1": 0.8125, "h2": 0.1875}, abs=1e-6)


def test_l_7_the_limit() -> None:
    hubs, authorities = found(50)
    assert authorities == pytest.approx({"a1": 0.572599, "a2": 0.427401}, abs=1e-6)
    assert hubs == pytest.approx({"h1": 0.839725, "h2": 0.160275}, abs=1e-6)


def test_without_links_to_relevant_pages_there_are_no_hubs() -> None:
    nobody = np.zeros(0, np.int32)
    hubs, authorities = hubs_and_authorities(nobody, nobody, RELEVANCE, 0.1, 3)
    assert not hubs.any() and not authorities.any()


@dataclass(frozen=True)
class Graded:
    """Knows how relevant each page is."""

    relevance: Mapping[str, float]

    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        told = [self.relevance.get(page.url, 0.0) for page in pages]
        return [Verdict(relevance, relevance >= 0.5, "told") for relevance in told]


def order(web: str, relevance: Mapping[str, float], asked: str) -> str:
    judge = Graded({url(name): number for name, number in relevance.items()})
    return names(events_of(graph(web), strategy(asked, judge), ["S"]))


WEB = "S: hub; hub: a1 a2 behind; a1: w; w: x y z"
"""The hub is of little relevance itself, but what it points at is relevant."""
WORTH = {"hub": 0.2, "a1": 0.9, "a2": 0.9, "w": 0.5}


def test_what_a_good_hub_points_at_is_brought_forward() -> None:
    assert order(WEB, WORTH, "taxonomy-soft") == "s hub a1 w x y z a2 behind"
    assert order(WEB, WORTH, "distiller:every=1") == "s hub a1 w a2 behind x y z"


def test_links_within_a_host_make_no_hubs() -> None:
    """The same web, but the hub points at pages of its own host."""
    web = WEB.replace("hub", "h.test/hub").replace("a1", "h.test/a1").replace("a2", "h.test/a2")
    worth = {"h.test/hub": 0.2, "h.test/a1": 0.9, "h.test/a2": 0.9, "w": 0.5}
    assert order(web, worth, "distiller:every=1") == order(web, worth, "taxonomy-soft")


def test_the_worth_of_pages_is_known_again_when_a_crawl_is_gone_on_with() -> None:
    """The authority was visited before the interruption, the hub after it."""
    distiller = Distiller()
    distiller.relearn(_seen(Page("http://a.test/"), 0.9))
    distiller.learn(_seen(Page("http://h.test/", links=(Link("http://a.test/"), Link("http://b.test/"))), 0.2))
    distiller.learn(_seen(Page("http://o.test/", links=(Link("http://c.test/"),)), 0.4))
    waiting = {"http://b.test/": 0.2, "http://c.test/": 0.4, "http://d.test/": 0.4}
    revised = dict(distiller.revise(_Waiting(waiting)))
    assert list(revised) == ["http://b.test/"]


@dataclass(frozen=True)
class _Waiting:
    """Links that wait, by their relevance."""

    links: Mapping[str, float]

    def evidence_of(self, url: str) -> Mapping[str, float] | None:
        relevance = self.links.get(url)
        return None if relevance is None else {"relevance": relevance, "brought_forward": 0.0}

    def links_found_on(self, url: str, most: int) -> Sequence[WaitingLink]:
        return []

    def some(self, most: int) -> Sequence[WaitingLink]:
        return []


def _seen(page: Page, relevance: float) -> Sighting:
    return Sighting(Visit(page.url, page.url.split("/")[2], 0, 0.0), page, Verdict(relevance, False, ""), None)
