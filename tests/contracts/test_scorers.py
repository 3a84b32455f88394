"""What every link scorer promises."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence

import pytest

from spoor.judge.keywords import Keywords
from spoor.language.recogniser import recogniser
from spoor.records import Evidence, Link, Page, Sighting, Verdict, Visit
from spoor.roles import LinkReader, LinkScorer
from spoor.score.arrival import Arrival
from spoor.score.aspects import Aspects
from spoor.score.chance import Chance
from spoor.score.correlation_degree import CorrelationDegree
from spoor.score.foresight import Foresight
from spoor.score.interval_share import IntervalShare
from spoor.score.language_signs import LanguageSigns
from spoor.score.latest import Latest
from spoor.score.nearness import Nearness
from spoor.score.parent_relevance import ParentRelevance
from spoor.score.relevant_in_links import RelevantInLinks
from spoor.score.relevant_referrer import RelevantReferrer
from spoor.score.server_language import ServerLanguage
from spoor.strategy import hinted

LINKS = tuple(Link(f"http://{name}.test/", anchor=name) for name in ("a", "b", "c"))
PAGE = Page("http://p.test/", text="alle Menschen sind frei", links=LINKS)
SIGHTINGS = [
    Sighting(Visit(PAGE.url, "p.test", number, 0.0), PAGE, Verdict(float(good), good, "because"), trail)
    for number, good, trail in [(0, True, 0), (7, False, 3)]
]
SCORERS: list[LinkScorer] = [
    Arrival(),
    Latest(),
    Chance(seed=3),
    RelevantReferrer(),
    Nearness(),
    RelevantInLinks(),
    Foresight(len),
    CorrelationDegree(recogniser("de")),
    IntervalShare(((97, 110),)),
    LanguageSigns("de"),
    ServerLanguage("de", without=("anchor",)),
    ParentRelevance(graded=False),
    ParentRelevance(),
    Aspects(Keywords(("menschen",))),
]


def evidence_of(scorer: LinkScorer, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
    """As a crawl asks for it: links bring the hints of a scorer that reads them."""
    read = hinted(scorer, sighting.page, links) if isinstance(scorer, LinkReader) else links
    return scorer.evidence(sighting, read)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
class TestEveryScorer:
    def test_gives_one_evidence_a_link_with_the_names_it_can_merge(self, scorer: LinkScorer) -> None:
        for sighting in SIGHTINGS:
            found = evidence_of(scorer, sighting, LINKS)
            assert len(found) == len(LINKS)
            assert all(set(evidence) == set(scorer.merge) for evidence in found)

    def test_gives_keys_of_one_length_that_are_numbers(self, scorer: LinkScorer) -> None:
        keys = [scorer.key(evidence) for sighting in SIGHTINGS for evidence in evidence_of(scorer, sighting, LINKS)]
        parts = [key if isinstance(key, tuple) else (key,) for key in keys]
        assert len({len(part) for part in parts}) == 1
        assert not any(math.isnan(number) for part in parts for number in part)

    def test_gives_the_same_evidence_for_the_same_sighting(self, scorer: LinkScorer) -> None:
        for sighting in SIGHTINGS:
            assert evidence_of(scorer, sighting, LINKS) == evidence_of(scorer, sighting, LINKS)

    def test_scores_a_link_the_same_whichever_others_are_still_open(self, scorer: LinkScorer) -> None:
        for sighting in SIGHTINGS:
            assert evidence_of(scorer, sighting, LINKS)[1] == evidence_of(scorer, sighting, LINKS[1:2])[0]


@pytest.mark.parametrize("reader", [scorer for scorer in SCORERS if isinstance(scorer, LinkReader)], ids=repr)
class TestEveryLinkReader:
    def test_gives_hints_for_every_link(self, reader: LinkReader) -> None:
        found = reader.hints(PAGE, LINKS)
        assert len(found) == len(LINKS) and all(found)

    def test_can_be_sent_to_another_process(self, reader: LinkReader) -> None:
        there = pickle.loads(pickle.dumps(reader))
        assert there.hints(PAGE, LINKS) == reader.hints(PAGE, LINKS)
