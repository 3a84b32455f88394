"""What every link scorer promises."""

from __future__ import annotations

import math

import pytest

from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.roles import LinkScorer
from spoor.score.arrival import Arrival
from spoor.score.chance import Chance
from spoor.score.foresight import Foresight
from spoor.score.latest import Latest
from spoor.score.nearness import Nearness
from spoor.score.relevant_in_links import RelevantInLinks
from spoor.score.relevant_referrer import RelevantReferrer

LINKS = tuple(Link(f"http://{name}.test/", anchor=name) for name in ("a", "b", "c"))
PAGE = Page("http://p.test/", links=LINKS)
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
]


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
class TestEveryScorer:
    def test_gives_one_evidence_a_link_with_the_names_it_can_merge(self, scorer: LinkScorer) -> None:
        for sighting in SIGHTINGS:
            found = scorer.evidence(sighting, LINKS)
            assert len(found) == len(LINKS)
            assert all(set(evidence) == set(scorer.merge) for evidence in found)

    def test_gives_keys_of_one_length_that_are_numbers(self, scorer: LinkScorer) -> None:
        keys = [scorer.key(evidence) for sighting in SIGHTINGS for evidence in scorer.evidence(sighting, LINKS)]
        parts = [key if isinstance(key, tuple) else (key,) for key in keys]
        assert len({len(part) for part in parts}) == 1
        assert not any(math.isnan(number) for part in parts for number in part)

    def test_gives_the_same_evidence_for_the_same_sighting(self, scorer: LinkScorer) -> None:
        for sighting in SIGHTINGS:
            assert scorer.evidence(sighting, LINKS) == scorer.evidence(sighting, LINKS)

    def test_scores_a_link_the_same_whichever_others_are_still_open(self, scorer: LinkScorer) -> None:
        for sighting in SIGHTINGS:
            assert scorer.evidence(sighting, LINKS)[1] == scorer.evidence(sighting, LINKS[1:2])[0]
