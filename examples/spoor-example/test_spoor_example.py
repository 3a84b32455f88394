"""What every scorer and every judge promises, and an order that is worked out by hand. Run by `pytest`."""

from __future__ import annotations

import pickle

from spoor import registry
from spoor.crawl import Crawl
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.records import Link, Page, Sighting, Verdict, Visit

HOME, TEA, RICE = "http://home.test/", "http://tea.test/", "http://rice.test/"
PAGES = [
    Page(HOME, text="Tea and rice", links=(Link(TEA, "tea"), Link(RICE, "Rice"))),
    Page(TEA, text="tea, tea"),
    Page(RICE),
]
JUDGE = registry.judge("mentions:tea:times=2")
STRATEGY = registry.strategy("anchor-mentions:word=rice", JUDGE)


def test_a_page_gets_the_verdict_that_it_gets_alone() -> None:
    verdicts = JUDGE.judge(PAGES)
    assert [verdict.relevant for verdict in verdicts] == [False, True, False]
    assert verdicts == [JUDGE.judge([page])[0] for page in PAGES]


def test_a_verdict_has_a_relevance_between_0_and_1_and_a_reason() -> None:
    assert all(0.0 <= verdict.relevance <= 1.0 and verdict.because for verdict in JUDGE.judge(PAGES))


def test_a_link_gets_the_evidence_that_it_gets_alone_with_the_names_that_can_be_merged() -> None:
    sighting = Sighting(Visit(HOME, "home.test", 0, 0.0), PAGES[0], Verdict(1.0, True, "because"), None)
    found = STRATEGY.scorer.evidence(sighting, PAGES[0].links)
    assert [set(evidence) for evidence in found] == [set(STRATEGY.scorer.merge)] * 2
    assert [STRATEGY.scorer.evidence(sighting, [link])[0] for link in PAGES[0].links] == list(found)


def test_both_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(STRATEGY)) == STRATEGY


def test_rice_is_found_second_and_visited_first() -> None:
    world = WrittenWorld({page.url: page for page in PAGES}, relevant={RICE})
    strategy = registry.strategy("anchor-mentions:word=rice", Truth("rice", world.truth))
    crawl = Crawl(strategy, Frontier(MemoryStore()))
    crawl.begin([HOME])
    assert [event.visit.url for event in simulate(crawl, world)] == [HOME, RICE, TEA]
