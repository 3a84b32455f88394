"""Strategies that follow a topic: by the pages that link, the texts of links, and the high-correlation chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from spoor.errors import UsageError
from spoor.events import Visited
from spoor.judging.combined import Truth
from spoor.judging.language_judges import ScriptShare
from spoor.judging.topic_judges import Keywords
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.correlation_degree import Aspects, Shares, url_words
from spoor.ordering.trails import ChainHops
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.registry import strategy
from spoor.strategy import AdmitAll, hinted
from tests.tiny import events_of, graph, names, truth, url

STRATEGIES = ("vsm", "vsm:graded=True", "content-bf", "link-bf", "composite-bf", "four-aspect")


@dataclass(frozen=True)
class Told:
    """Knows how near each text is to the topic, because it was told; counts the batches. A page is judged by its title;
    from one half on it is relevant."""

    near: Mapping[str, float]
    batches: list[list[str]] = field(default_factory=list)

    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [Verdict(near, near >= 0.5, "told") for near in (self.near.get(page.title, 0.0) for page in pages)]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        self.batches.append(list(texts))
        return [self.near.get(text, 0.0) for text in texts]


NOTHING_KNOWN = Told({})


def written(links: Mapping[str, str], near: Mapping[str, float] | None = None) -> tuple[WrittenWorld, Told]:
    """Pages by name, with links as `a b=anchor`. How near a page is to the topic is said under its name."""
    pages = {}
    for name, targets in links.items():
        found = [target.partition("=") for target in targets.split()]
        pages[url(name)] = Page(url(name), title=name, links=tuple(Link(url(to), anchor) for to, _, anchor in found))
        for to, _, _ in found:
            pages.setdefault(url(to), Page(url(to), title=to))
    return WrittenWorld(pages), Told(near or {})


def order(asked: str, links: Mapping[str, str], near: Mapping[str, float]) -> str:
    world, judge = written(links, near)
    return names(events_of(world, strategy(asked, judge), ["s"])).upper()


def scored(link: Link, relevance: float, hops: int | None, near: Mapping[str, float]) -> float:
    """S of one link, on a page of that relevance."""
    aspects, page = Aspects(Told(near)), Page("http://p.test/", links=(link,))
    sighting = Sighting(Visit(page.url, "p.test", 0, 0.0), page, Verdict(relevance, False, ""), hops)
    (evidence,) = aspects.evidence(sighting, hinted(aspects, page, page.links))
    return aspects.key(evidence)


# The four aspects (check A-6)


@pytest.mark.parametrize(("hops", "expected"), [(0, 0.5125), (2, 0.325), (None, 0.2625)])
def test_a_6_the_score_of_a_link_falls_with_its_distance_from_the_chain(hops: int | None, expected: float) -> None:
    near = {"horse": 0.6, "steppe": 0.2}
    assert scored(Link("http://steppe.org/", "horse"), 0.25, hops, near) == pytest.approx(expected)


def test_all_texts_of_a_page_are_compared_in_one_batch_and_each_once() -> None:
    topic = Told({})
    links = [Link("http://x.org/a", "same"), Link("http://x.org/a2", "same"), Link("http://x.org/b", "x a")]
    Aspects(topic).hints(Page("http://p.test/"), links)
    assert topic.batches == [["same", "x a", "x b"]]


def test_a_link_found_again_is_seen_from_its_best_side() -> None:
    links = {"s": "a b", "a": "t=good", "b": "t=bad u=fair"}
    world, judge = written(links, {"s": 1.0, "b": 0.8, "good": 0.9, "fair": 0.5})
    events = events_of(world, strategy("composite-bf", judge), ["s"])
    (discovered,) = [e.visit for e in events if isinstance(e, Visited) and e.visit.url == url("t")]
    assert discovered.evidence == {"parent": 0.8, "anchor": 0.9, "url": 0.0, "chain": 0.0}


def test_shares_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(UsageError, match="add up to 1, not parent=0"):
        strategy("four-aspect:parent=0.5", NOTHING_KNOWN)
    with pytest.raises(UsageError, match="0 or more"):
        Shares(1.5, -0.5, 0, 0)


# The words of a URL


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://www.zoo.org/African_Geography/index.html", "zoo african geography index"),
        ("https://a.test/wildHorses-2?topic=steppe%20grass", "a test wild horses topic steppe grass"),
        ("http://a.test/%E0%B9%80%E0%B8%81%E0%B8%A9%E0%B8%95%E0%B8%A3", "a test เกษตร"),
        ("http://192.0.2.1/", ""),
    ],
)
def test_a_url_is_made_of_words(address: str, words: str) -> None:
    assert url_words(address) == words


# The high-correlation chain


def learned(chain: ChainHops, *relevances: float) -> ChainHops:
    for number, relevance in enumerate(relevances):
        chain.learn(Sighting(Visit("http://p.test/", "p.test", number, 0.0), PAGE, verdict(relevance), None))
    return chain


PAGE = Page("http://p.test/")


def verdict(relevance: float) -> Verdict:
    return Verdict(relevance, False, "")


def test_links_of_a_page_in_the_chain_are_no_hops_away_and_each_other_page_adds_one() -> None:
    chain = learned(ChainHops(2), 0.9, 0.8)
    assert chain.advance(None, PAGE, verdict(0.85)) == 0
    assert chain.advance(0, PAGE, verdict(0.1)) == 1
    assert chain.advance(1, PAGE, verdict(0.1)) == 2
    assert chain.advance(7, PAGE, verdict(0.95)) == 0


def test_where_no_page_on_the_way_was_in_the_chain_there_is_no_distance() -> None:
    chain = learned(ChainHops(2), 0.9, 0.8)
    assert chain.advance(chain.root(), PAGE, verdict(0.1)) is None


def test_the_chain_holds_the_highest_and_no_more() -> None:
    chain = learned(ChainHops(2), 0.3, 0.9, 0.5, 0.4)
    assert chain.advance(None, PAGE, verdict(0.45)) is None
    assert chain.advance(None, PAGE, verdict(0.5)) == 0, "as relevant as the last of them is enough"


def test_a_page_that_is_not_relevant_at_all_is_never_in_the_chain() -> None:
    assert ChainHops().advance(None, PAGE, verdict(0.0)) is None


def test_the_nearer_of_two_ways_is_kept() -> None:
    chain = ChainHops()
    assert chain.rank(0) > chain.rank(3) > chain.rank(None)


def test_a_fresh_strategy_has_no_chain() -> None:
    parts = strategy("four-aspect:size=1", NOTHING_KNOWN)
    assert isinstance(parts.trail, ChainHops)
    learned(parts.trail, 0.9)
    assert parts.trail.advance(None, PAGE, verdict(0.5)) is None
    assert parts.fresh().trail.advance(None, PAGE, verdict(0.5)) == 0


def test_the_chain_needs_room_for_a_page() -> None:
    with pytest.raises(UsageError, match="size=0: at least 1 page"):
        strategy("four-aspect:size=0", NOTHING_KNOWN)


def test_near_the_chain_comes_before_far_from_it() -> None:
    links = {"s": "a b", "a": "c", "b": "d", "c": "e", "d": "f"}
    near = {"b": 0.9}
    assert order("four-aspect:parent=0:anchor=0:url=0:chain=1", links, near) == "S A B D F C E"
    assert order("content-bf", links, near) == "S A B D C F E"


# Orders


def test_content_bf_follows_the_most_relevant_pages() -> None:
    assert order("content-bf", {"s": "a b", "a": "c", "b": "d"}, {"s": 0.9, "a": 0.2, "b": 0.4}) == "S A B D C"


def test_link_bf_follows_the_anchors_nearest_to_the_topic() -> None:
    assert order("link-bf", {"s": "a=dull b=telling c", "b": "d=telling"}, {"s": 1.0, "telling": 0.8}) == "S B D A C"


def test_composite_bf_weighs_page_and_anchor() -> None:
    links = {"s": "a=some b=more", "a": "c=none", "b": "d=more"}
    near = {"s": 0.5, "a": 0.9, "some": 0.6, "more": 0.8}
    assert order("composite-bf", links, near) == "S B A C D"


def test_vsm_has_two_levels_and_the_order_of_finding_inside() -> None:
    links = {"s": "a b c", "a": "d", "b": "e", "c": "f"}
    near = {"s": 0.6, "a": 0.1, "b": 0.9, "c": 0.7}
    assert order("vsm", links, near) == "S A B C E F D"
    assert order("vsm:graded=True", links, near | {"a": 0.8}) == "S A D B E C F"


def test_vsm_promotes_a_link_that_a_relevant_page_holds_too() -> None:
    links = {"s": "a b", "a": "d e", "b": "e"}
    assert order("vsm", links, {"s": 1.0, "b": 1.0}) == "S A B E D"


def test_vsm_stops_at_its_depth() -> None:
    links = {"s": "a", "a": "b", "b": "c", "c": "d"}
    assert order("vsm", links, {}) == "S A B C"
    assert order("vsm:depth=1", links, {}) == "S A"


def test_vsm_counts_the_depth_on_the_shortest_way_known_before_the_visit() -> None:
    """The relevant a leads to d by three links, the irrelevant b, whose turn comes before that of d, by two."""
    links = {"s": "a b", "a": "c", "b": "d", "c": "d", "d": "e"}
    assert order("vsm", links, {"a": 1.0}) == "S A C B D E"


def test_a_page_too_deep_on_one_way_is_let_in_on_another() -> None:
    links = {"s": "a b", "a": "c", "b": "d", "c": "d"}
    assert order("vsm:depth=2", links, {"a": 1.0}) == "S A C B D"


def test_a_depth_below_0_is_refused() -> None:
    with pytest.raises(UsageError, match="vsm:depth=-1 leaves nothing to visit"):
        strategy("vsm:depth=-1", NOTHING_KNOWN)


@pytest.mark.parametrize("asked", [name for name in STRATEGIES if name != "content-bf"])
def test_noise_links_are_left_out(asked: str) -> None:
    assert order(asked, {"s": "a=next b=horses"}, {}) == "S B"


def test_vsm_graded_without_its_limits_is_content_bf() -> None:
    world = graph("S: A B C; A: D E; B: E F; C: G; D: H; E: H A; F: S; G: B H", relevant="B C E")
    graded = replace(strategy("vsm:graded=True", truth(world)), admission=AdmitAll())
    content = strategy("content-bf", truth(world))
    assert names(events_of(world, graded, ["S"])) == names(events_of(world, content, ["S"]))


# Whose topic?


def test_a_judge_that_compares_texts_is_asked_itself() -> None:
    judge = Keywords(("horse",))
    made = strategy("four-aspect", judge).scorer
    assert isinstance(made, Aspects) and made.topic is judge


def test_otherwise_the_words_that_a_judge_looks_for_are_the_topic() -> None:
    made = strategy("link-bf", Truth("subject.Science.Biology", lambda url: False)).scorer
    assert isinstance(made, Aspects) and made.topic == Keywords(("subject", "science", "biology"))


def test_words_given_come_first() -> None:
    made = strategy("composite-bf:words=horse+steppe", Keywords(("tea",))).scorer
    assert isinstance(made, Aspects) and made.topic == Keywords(("horse", "steppe"))


@pytest.mark.parametrize("asked", ["link-bf", "composite-bf", "four-aspect"])
def test_without_a_topic_there_is_a_remedy(asked: str) -> None:
    remedy = f"{asked} needs to know what the topic is; name words, as in {asked}:words=horse\\+steppe, or give a judge"
    with pytest.raises(UsageError, match=remedy):
        strategy(asked, ScriptShare("thai"))
