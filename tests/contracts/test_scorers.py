"""What every link scorer promises."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.crawling.batches import OneByOne
from spoor.judging.classifiers import TaxonomyModel
from spoor.judging.classifiers import learned as learned_classes
from spoor.judging.dictionary import Dictionary, Transcriber
from spoor.judging.ontology import Ontology, Term
from spoor.judging.page_rules import LookAhead, RuleModel, rules_from
from spoor.judging.profile_search import recogniser
from spoor.judging.term_finder import Finder
from spoor.judging.topic_judges import Keywords
from spoor.ordering.classics import Fish, Shark
from spoor.ordering.correlation_degree import Aspects, CorrelationDegree
from spoor.ordering.host_yield import HostYield
from spoor.ordering.language_order import LanguageSigns, ServerLanguage
from spoor.ordering.learned.learned import Learned
from spoor.ordering.link_analysis import Cash, Distiller, PageRankOrder
from spoor.ordering.link_classifier import LinkClassifier
from spoor.ordering.ontology_order import ContextOntology
from spoor.ordering.path_model import PathView
from spoor.ordering.paths import ExpectedDistance, Layer, LikeliestLayer, PathAspects
from spoor.ordering.simple import (
    Arrival,
    IntervalShare,
    KnownOrder,
    Latest,
    Nearness,
    PageClass,
    ParentRelevance,
    RandomOrder,
    RelevantInLinks,
    RelevantReferrer,
    TaxonomyRelevance,
)
from spoor.ordering.tag_paths import TagPathBandit
from spoor.records import Evidence, Link, Page, Sighting, TargetPrior, TrailState, Verdict, Visit, WaitingLink
from spoor.roles import BatchScorer, LinkReader, LinkScorer, Reviewer
from spoor.strategy import hinted
from tests.written_links import learned

LINKS = tuple(Link(f"http://{name}.test/", anchor=name) for name in ("a", "b", "c"))
PAGE = Page("http://p.test/", text="alle Menschen sind frei", links=LINKS)
SIGHTINGS = [
    Sighting(Visit(PAGE.url, "p.test", number, 0.0), PAGE, Verdict(float(good), good, "because"), trail)
    for number, good, trail in [(0, True, 0), (7, False, 3)]
]
PATH = PathView(learned())
LETTERS = Ontology("letters", (Term("b", 0.5, ("b",)), Term("c", 1.0, ("c",))))
RULES = RuleModel(
    TaxonomyModel("free", "", ("free",), learned_classes({"free": [["menschen"]], "not": [["ketten"]]})),
    rules_from({"free": {"free": 1}, "not": {"free": 1, "not": 2}}),
)
SCORERS: list[LinkScorer] = [
    Arrival(),
    Latest(),
    RandomOrder(seed=3),
    RelevantReferrer(),
    Nearness(),
    RelevantInLinks(),
    KnownOrder(len),
    CorrelationDegree(recogniser("de")),
    IntervalShare(((97, 110),)),
    LanguageSigns("de"),
    ServerLanguage("de", without=("anchor",)),
    ParentRelevance(graded=False),
    ParentRelevance(),
    Aspects(Keywords(("menschen",))),
    ContextOntology(Finder(LETTERS)),
    ContextOntology(Finder(LETTERS), LookAhead(RULES, "max", soft=True), Transcriber(Dictionary({("b",): "c"})), 1.0),
    PageClass(RULES.taxonomy),
    Fish(width=2),
    Shark(Keywords(("menschen",))),
    Cash(),
    PageRankOrder(),
    TaxonomyRelevance(),
    Distiller(),
    LinkClassifier(),
    HostYield(),
    TagPathBandit(),
    Layer(PATH.model),
    LikeliestLayer(PATH),
    ExpectedDistance(PATH),
    PathAspects(PATH, Aspects(Keywords(("menschen",)))),
    PathAspects(PATH, Aspects(Keywords(("menschen",))), by="argmax"),
    Learned(),
    Learned(TargetPrior("de", ("menschen",)), without=("hubs",)),
]


def sightings_for(scorer: LinkScorer) -> list[Sighting]:
    """With what the trail that goes with the scorer makes of paths of one page and of two."""
    if isinstance(scorer, Learned):
        return [replace(sighting, trail=(number, PAGE.url)) for number, sighting in enumerate(SIGHTINGS)]
    states: list[TrailState] = [PATH.go_on(None, "", PAGE.text)]
    states.append(PATH.go_on(states[0], "", "horse"))
    if isinstance(scorer, PathAspects):
        states = list(zip(states, (0, None), strict=True))
    if isinstance(scorer, PathAspects | LikeliestLayer | ExpectedDistance):
        return [replace(sighting, trail=state) for sighting, state in zip(SIGHTINGS, states, strict=True)]
    return SIGHTINGS


def evidence_of(scorer: LinkScorer, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
    """As a crawl asks for it: links bring the hints of a scorer that reads them."""
    read = hinted(scorer, sighting.page, links) if isinstance(scorer, LinkReader) else links
    return scorer.evidence(sighting, read)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
class TestEveryScorer:
    def test_gives_one_evidence_a_link_with_the_names_it_can_merge(self, scorer: LinkScorer) -> None:
        for sighting in sightings_for(scorer):
            found = evidence_of(scorer, sighting, LINKS)
            assert len(found) == len(LINKS)
            assert all(set(evidence) == set(scorer.merge) for evidence in found)

    def test_gives_keys_of_one_length_that_are_numbers(self, scorer: LinkScorer) -> None:
        seen = [evidence_of(scorer, sighting, LINKS) for sighting in sightings_for(scorer)]
        keys = [scorer.key(evidence) for found in seen for evidence in found]
        parts = [key if isinstance(key, tuple) else (key,) for key in keys]
        assert len({len(part) for part in parts}) == 1
        assert not any(math.isnan(number) for part in parts for number in part)

    def test_gives_the_same_evidence_for_the_same_sighting(self, scorer: LinkScorer) -> None:
        for sighting in sightings_for(scorer):
            assert evidence_of(scorer, sighting, LINKS) == evidence_of(scorer, sighting, LINKS)

    def test_scores_a_link_the_same_whichever_others_are_still_open(self, scorer: LinkScorer) -> None:
        for sighting in sightings_for(scorer):
            assert evidence_of(scorer, sighting, LINKS)[1] == evidence_of(scorer, sighting, LINKS[1:2])[0]


@pytest.mark.parametrize("reader", [scorer for scorer in SCORERS if isinstance(scorer, LinkReader)], ids=repr)
class TestEveryLinkReader:
    def test_gives_hints_for_every_link(self, reader: LinkReader) -> None:
        found = reader.hints(PAGE, LINKS)
        assert len(found) == len(LINKS) and all(found)

    def test_can_be_sent_to_another_process(self, reader: LinkReader) -> None:
        there = pickle.loads(pickle.dumps(reader))
        assert there.hints(PAGE, LINKS) == reader.hints(PAGE, LINKS)


@pytest.mark.parametrize("scorer", [scorer for scorer in SCORERS if isinstance(scorer, Reviewer)], ids=repr)
class TestEveryReviewer:
    def test_thinks_the_same_of_a_link_until_it_learns(self, scorer: LinkScorer) -> None:
        assert isinstance(scorer, Reviewer) and isinstance(scorer, LinkReader)
        sighting = sightings_for(scorer)[0]
        for hints, evidence in zip(scorer.hints(PAGE, LINKS), evidence_of(scorer, sighting, LINKS), strict=True):
            assert isinstance(hints, bytes)
            assert scorer.review(WaitingLink("", evidence, sighting.trail, hints)) == evidence


@pytest.mark.parametrize("scorer", [scorer for scorer in SCORERS if isinstance(scorer, BatchScorer)], ids=repr)
class TestEveryBatchScorer:
    """Computes at once what `OneByOne` asks it for one by one."""

    @given(data=st.data())
    def test_merges_as_it_says_and_gives_the_keys_of_that(self, scorer: LinkScorer, data: st.DataObject) -> None:
        assert isinstance(scorer, BatchScorer) and isinstance(scorer, LinkReader)
        numbers = st.floats(0.0, 1e6) | st.floats(-20.0, 20.0).map(lambda number: max(-0.5, number))
        waited = st.none() | st.fixed_dictionaries(dict.fromkeys(scorer.merge, numbers))
        links = hinted(scorer, PAGE, LINKS)
        known = data.draw(st.lists(waited, min_size=len(links), max_size=len(links)))
        for sighting in sightings_for(scorer):
            assert scorer.offered(sighting, links, known) == OneByOne(scorer).offered(sighting, links, known)
            waiting = [evidence for evidence in known if evidence is not None]
            assert scorer.saturated(waiting, sighting) == OneByOne(scorer).saturated(waiting, sighting)

    def test_reviews_a_link_as_it_does_alone(self, scorer: LinkScorer) -> None:
        assert isinstance(scorer, BatchScorer) and isinstance(scorer, LinkReader) and isinstance(scorer, Reviewer)
        sighting = sightings_for(scorer)[0]
        for hints, evidence in zip(scorer.hints(PAGE, LINKS), evidence_of(scorer, sighting, LINKS), strict=True):
            assert isinstance(hints, bytes)
            link = WaitingLink("", evidence, sighting.trail, hints)
            assert scorer.reviewed(link) == OneByOne(scorer).reviewed(link)
