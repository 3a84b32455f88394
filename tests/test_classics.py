"""The classics of focused crawling, each by its idea, on tiny webs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from spoor.errors import UsageError
from spoor.judging.classifiers import is_at_or_below, target_probability
from spoor.judging.combined import Truth
from spoor.judging.language_judges import ScriptShare
from spoor.judging.topic_judges import Keywords
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.classics import CLASSICS, Shark
from spoor.ordering.correlation_degree import LikeLanguage
from spoor.ordering.host_yield import HostYield, MinimumYield
from spoor.ordering.link_analysis import CrawledGraph, PageRankOrder, flows
from spoor.ordering.link_classifier import LinkClassifier, NaiveBayesWords
from spoor.ordering.tag_paths import TagPathClusters
from spoor.ordering.trails import Inherited
from spoor.records import Link, Page, Redirect, Sighting, Verdict, Visit, WaitingLink
from spoor.registry import strategy
from spoor.strategy import hinted
from tests.tiny import events_of, graph, names, truth, url


@dataclass(frozen=True)
class Told:
    """Knows how near each text is to the topic, and each page by its name, because it was told; from one half on a page
    is relevant."""

    near: Mapping[str, float]

    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [Verdict(near, near >= 0.5, "told") for near in (self.near.get(page.title, 0.0) for page in pages)]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self.near.get(text.strip(), 0.0) for text in texts]


def written(links: Mapping[str, str]) -> WrittenWorld:
    """Pages by name, with links as `a b=anchor c@html/body/nav`."""
    pages: dict[str, Page] = {}
    for name, targets in links.items():
        pages[url(name)] = Page(url(name), title=name, links=tuple(_link(target) for target in targets.split()))
    for target in [target for page in list(pages.values()) for target in page.links]:
        pages.setdefault(target.url, Page(target.url, title=target.url.removeprefix("http://").removesuffix(".test/")))
    return WrittenWorld(pages)


def _link(target: str) -> Link:
    named, _, path = target.partition("@")
    name, _, anchor = named.partition("=")
    return Link(url(name), anchor, path=path)


def order(asked: str, links: Mapping[str, str], near: Mapping[str, float]) -> str:
    return names(events_of(written(links), strategy(asked, Told(near)), ["s"]))


def order_in(asked: str, web: str, relevant: str = "") -> str:
    world = graph(web, relevant)
    return names(events_of(world, strategy(asked, truth(world)), ["S"]))


def sighting_of(page: Page, relevance: float, trail: object = None) -> Sighting:
    verdict = Verdict(relevance, relevance >= 0.5, "told")
    return Sighting(Visit(page.url, page.url.split("/")[2], 0, 0.0), page, verdict, trail)


# Fish-search


def test_fish_favour_the_first_links_of_a_page_and_half_as_many_more_of_a_relevant_one() -> None:
    assert order_in("fish-search:width=2", "S: A b c; A: d e f g", relevant="A") == "s a d e f b c g"


def test_fish_without_food_die_after_their_depth() -> None:
    assert order_in("fish-search:depth=1", "S: a; a: b; b: c", relevant="S") == "s a b"


def test_food_gives_fish_their_depth_back() -> None:
    assert order_in("fish-search:depth=1", "S: a; a: B; B: c; c: d; d: e", relevant="S B") == "s a b c d"


# Shark-search


def potential(link: Link, relevance: float, inherited: float, near: Mapping[str, float]) -> tuple[float, float]:
    """What a link on a page of that relevance inherits, and its potential."""
    shark, page = Shark(Told(near)), Page("http://p.test/", links=(link,))
    state = Inherited().advance(inherited, page, Verdict(relevance, False, ""))
    (evidence,) = shark.evidence(sighting_of(page, relevance, state), hinted(shark, page, page.links))
    return state, shark.key(evidence)


def test_5_8_a_link_of_a_relevant_page_with_a_telling_anchor() -> None:
    found = potential(Link("http://a.test/", "horse", left="grass"), 0.6, 0.0, {"horse": 0.4, "grass": 0.1})
    assert found == pytest.approx((0.3, 0.41))


def test_5_8_a_link_of_an_irrelevant_page_inherits_from_further_back_and_is_seen_by_its_surroundings() -> None:
    found = potential(Link("http://a.test/", "here", right="steppe"), 0.0, 0.3, {"steppe": 0.2})
    assert found == pytest.approx((0.15, 0.095))


def test_sharks_remember_a_relevant_page_two_links_back() -> None:
    links = {"s": "a b", "a": "c", "b": "d", "c": "e", "d": "f"}
    assert order("shark-search", links, {"b": 0.6}) == "s a b d f c e"


def test_sharks_go_where_the_anchor_tells_something() -> None:
    assert order("shark-search", {"s": "a=tea b=horse c=horses"}, {"horse": 0.5, "horses": 0.9}) == "s c b a"


def test_sharks_give_up_after_their_depth_on_the_shortest_way() -> None:
    links = {"s": "a", "a": "b", "b": "c", "c": "d"}
    assert order("shark-search:depth=2", links, {"s": 0.6}) == "s a b c"


def test_a_language_is_looked_for_in_anchors_where_there_is_no_topic() -> None:
    made = strategy("shark-search", Truth("lang=de", lambda url: False)).scorer
    assert isinstance(made, Shark) and made.topic == LikeLanguage("de")
    assert made.topic.similarities(["die Menschen sind frei", "ผู้คนมีอิสระ"])[1] == 0.0


def test_sharks_need_something_to_look_for() -> None:
    with pytest.raises(UsageError, match="shark-search needs to know what the topic is; name words"):
        strategy("shark-search", ScriptShare("thai"))
    assert strategy("shark-search:words=horse", ScriptShare("thai")).scorer == Shark(Keywords(("horse",)))


# OPIC


def test_cash_adds_up_where_several_pages_hand_it_on() -> None:
    assert order_in("opic", "S: a b; a: c d; b: d") == "s a b d c"


def test_cash_is_shared_by_all_links_of_a_page() -> None:
    assert order_in("opic", "S: a b; a: c d e; b: f") == "s a b f c d e"


def test_a_redirect_hands_its_cash_to_the_target() -> None:
    world = graph("S: a b; b: c d; e: f")
    moved = replace(world, outcomes={**world.outcomes, url("a"): Redirect(url("e"))})
    assert names(events_of(moved, strategy("opic", truth(world)), ["S"])) == "s a b e f c d"


# PageRank


def test_ranks_are_the_solution_of_the_equations() -> None:
    rng, count, damping = np.random.default_rng(5), 30, 0.9
    pages = [Page(str(k), links=tuple(Link(str(to)) for to in rng.choice(count, 4, replace=False))) for k in range(20)]
    crawled = CrawledGraph()
    for page in pages:
        crawled.visit(page)
    shares = np.zeros((len(crawled), len(crawled)))
    for page in pages:
        for link in page.links:
            shares[crawled.number(link.url), crawled.number(page.url)] = 1 / 4
    ranks = np.linalg.solve(np.eye(len(crawled)) - damping * shares, np.full(len(crawled), 1 - damping))
    found = flows(crawled, damping, np.zeros(len(crawled)))
    assert 1 - damping + damping * found == pytest.approx(ranks, abs=1e-2)
    assert len(crawled) > 20


RISING = "S: P q1 q2 q3; P: a b c d e f; q1: P; q2: P; q3: u v w"
"""That q1 and q2 link to P becomes known after P was visited, and with it that the links of P matter more."""


def test_between_two_upkeeps_a_link_has_what_pages_handed_on_when_they_were_visited() -> None:
    assert order_in("page-rank", RISING) == "s p q1 q2 q3 u v w a b c d e f"


def test_upkeep_works_the_ranks_out_anew() -> None:
    assert order_in("page-rank:every=5", RISING) == "s p q1 q2 q3 a b c d e f u v w"


def test_links_that_were_ranked_higher_before_an_interruption_keep_their_place() -> None:
    order = PageRankOrder()
    order.learn(sighting_of(Page("http://p.test/", links=(Link("http://a.test/"),)), 0.0))
    assert list(order.revise(_Waiting({"http://a.test/": {"flow": 7.0}}))) == []
    order = PageRankOrder()
    order.learn(sighting_of(Page("http://p.test/", links=(Link("http://a.test/"),)), 0.0))
    ((address, evidence),) = order.revise(_Waiting({"http://a.test/": {"flow": 0.01}}))
    assert address == "http://a.test/" and evidence["flow"] == pytest.approx(0.1)


@dataclass(frozen=True)
class _Waiting:
    """Links that wait, with their evidence."""

    links: Mapping[str, Mapping[str, float]]

    def evidence_of(self, url: str) -> Mapping[str, float] | None:
        return self.links.get(url)

    def links_found_on(self, url: str, most: int) -> Sequence[WaitingLink]:
        return []

    def some(self, most: int) -> Sequence[WaitingLink]:
        return []


# Soft and hard focus by a taxonomy (check L-8)

RELEVANT = ("cycling",)


@dataclass(frozen=True)
class Leaves:
    """Judges pages by their titles: how probable each class is, by title."""

    of: Mapping[str, Mapping[str, float]]

    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._verdict(self.of.get(page.title, {"arts/film": 1.0})) for page in pages]

    def _verdict(self, leaves: Mapping[str, float]) -> Verdict:
        best = max(leaves, key=leaves.__getitem__)
        return Verdict(target_probability(leaves, RELEVANT), is_at_or_below(best, RELEVANT), "told", best)


L_8 = {"cycling/road": 0.4, "cycling/mtb": 0.15, "golf": 0.1, "arts/film": 0.35}
MIXED = {"cycling/road": 0.35, "cycling/mtb": 0.25, "arts/film": 0.4}
"""More probably about cycling than not; but film is the likeliest class."""
RIDES = {"s": "a b", "a": "c", "b": "d"}


def test_l_8_a_page_whose_best_leaf_is_good_is_expanded() -> None:
    judge = Leaves({"s": L_8})
    (verdict,) = judge.judge([Page("http://s.test/", title="s")])
    assert verdict.relevance == pytest.approx(0.55) and verdict.label == "cycling/road"
    assert names(events_of(written(RIDES), strategy("taxonomy-hard", judge), ["s"])) == "s a b"


def test_hard_focus_looks_at_the_best_leaf_and_soft_focus_at_all_good_ones() -> None:
    judge = Leaves({"s": L_8, "a": L_8, "b": MIXED})
    assert names(events_of(written(RIDES), strategy("taxonomy-hard", judge), ["s"])) == "s a b c"
    assert names(events_of(written(RIDES), strategy("taxonomy-soft", judge), ["s"])) == "s a b d c"


# A classifier of links

SAID = {"s": "x1=car x2=horse x3=car x4=horse x5=car x6=horse x7=car x8=horse"}
HORSES = {"x2": 1.0, "x4": 1.0, "x6": 1.0, "x8": 1.0}


def test_links_that_wait_are_scored_again_by_what_became_of_those_that_were_followed() -> None:
    assert order("link-classifier:every=3", SAID, HORSES) == "s x1 x2 x4 x6 x8 x3 x5 x7"


def test_before_the_first_training_links_of_relevant_pages_go_first() -> None:
    links = {"s": "a b", "a": "c", "b": "d"}
    assert order("link-classifier", links, {"b": 1.0}) == "s a b d c"


def test_where_only_one_kind_of_page_was_found_there_is_nothing_to_be_trained_on() -> None:
    assert order("link-classifier:every=3", SAID, {}) == "s x1 x2 x3 x4 x5 x6 x7 x8"


def test_a_word_that_was_never_met_says_nothing_however_rare_the_wanted_are() -> None:
    odds = NaiveBayesWords()
    for number in range(100):
        odds.count(np.array([number % 10]), relevant=number == 0)
    odds.weigh()
    assert odds.chance(np.array([999])) == pytest.approx(0.01)
    assert odds.chance(np.array([0])) > 0.01 > odds.chance(np.array([1]))


def test_a_classifier_learns_again_from_the_urls_of_pages_visited_before() -> None:
    classifier = LinkClassifier(every=2)
    for name, relevance in (("horses", 1.0), ("cars", 0.0)):
        classifier.relearn(sighting_of(Page(f"http://a.test/{name}/1"), relevance))
    page = Page("http://b.test/", links=(Link("http://a.test/cars/2"), Link("http://a.test/horses/2")))
    cars, horses = classifier.evidence(sighting_of(page, 0.0), hinted(classifier, page, page.links))
    assert horses["promise"] > 0.5 > cars["promise"]


# The yield of hosts

TWO_HOSTS = "S: b.test/1 a.test/1 b.test/2 a.test/2 b.test/3 a.test/3 b.test/4 a.test/4"
RICH = "a.test/1 a.test/2 a.test/3 a.test/4"


def test_hosts_that_yield_more_go_first() -> None:
    found = order_in("host-yield:every=3", TWO_HOSTS, relevant=RICH)
    assert found == "s b.test/1 a.test/1 a.test/2 a.test/3 a.test/4 b.test/2 b.test/3 b.test/4"


def test_within_a_host_links_come_in_the_order_they_were_found() -> None:
    web = "S: a.test/1 a.test/2; a.test/1: a.test/3; a.test/2: a.test/4"
    assert order_in("host-yield:every=1", web, relevant=RICH) == "s a.test/1 a.test/2 a.test/3 a.test/4"


def test_a_host_that_yields_nothing_is_left() -> None:
    found = order_in("host-yield:every=3:patience=2", TWO_HOSTS, relevant=RICH)
    assert found == "s b.test/1 a.test/1 a.test/2 a.test/3 a.test/4 b.test/2 b.test/3"


@pytest.mark.parametrize(("relevant", "decision"), [(9, "park"), (10, "admit")])
def test_of_a_thousand_pages_one_in_a_hundred_must_be_relevant(relevant: int, decision: str) -> None:
    admission = MinimumYield(step=0.01, patience=100)
    for number in range(1000):
        admission.learn(sighting_of(Page(f"http://a.test/{number}"), float(number < relevant)))
    assert admission.at_offer(Link("http://a.test/x"), {}, None).decision == decision


def test_nothing_is_asked_of_the_first_pages() -> None:
    admission = MinimumYield(patience=100)
    for number in range(100):
        admission.relearn(sighting_of(Page(f"http://a.test/{number}"), 0.0))
    assert admission.at_offer(Link("http://a.test/x"), {}, None).decision == "admit"
    admission.relearn(sighting_of(Page("http://a.test/100"), 0.0))
    assert admission.at_pop(Visit("http://a.test/x", "a.test", 0, 0.0)).because == (
        "0 of 101 pages of a.test were relevant, a share below 4.3e-05"
    )


def test_yields_in_snapshots_of_earlier_versions_are_restored() -> None:
    order, restored = HostYield(every=3), HostYield(every=3)
    page = Page("http://a.test/1", links=(Link("http://a.test/2"), Link("http://b.test/1")))
    order.learn(sighting_of(page, 1.0))
    order.evidence(sighting_of(page, 1.0), page.links)
    earlier = {"relevant": "wanted", "visits": "visited", "queued hosts": "told hosts", "queued": "told"}
    restored.restore({earlier.get(name, name): value for name, value in order.state().items()})
    assert restored.tally("a.test") == (1, 1)
    assert restored.state().keys() == order.state().keys()


def test_yields_are_known_again_when_a_crawl_is_gone_on_with() -> None:
    order = HostYield()
    order.relearn(sighting_of(Page("http://a.test/1"), 1.0))
    links = (Link("http://a.test/2"), Link("http://b.test/1"))
    known, unknown = order.evidence(sighting_of(Page("http://s.test/", links=links), 0.0), links)
    assert (known["yield"], unknown["yield"]) == (0.67, 0.5)


# A bandit over tag paths

PLACES = {"s": " ".join(f"n{k}@html/body/nav l{k}@html/body/main/ul/li" for k in range(1, 5))}
LISTED = {f"l{k}": 1.0 for k in range(1, 5)}


def test_the_bandit_tries_every_place_and_keeps_to_the_one_that_pays() -> None:
    assert order("tag-path-bandit", PLACES, LISTED) == "s n1 l1 l2 l3 l4 n2 n3 n4"


def test_with_more_exploration_it_tries_the_other_place_again_sooner() -> None:
    assert order("tag-path-bandit:exploration=2", PLACES, LISTED) == "s n1 l1 l2 l3 n2 l4 n3 n4"


def test_an_arm_sleeps_until_there_are_links_again() -> None:
    links = {"s": "l1@html/body/main/ul/li n1@html/body/nav n2@html/body/nav n3@html/body/nav"}
    links["n2"] = "l2@html/body/main/ul/li"
    assert order("tag-path-bandit", links, LISTED) == "s l1 n1 n2 l2 n3"


def test_like_paths_are_one_place() -> None:
    clusters = TagPathClusters(likeness=0.75)
    assert clusters.of("html/body/div/div/ul/li") == clusters.of("html/body/div/div/div/ul/li") == 0
    assert clusters.of("html/body/nav/a") == 1
    assert clusters.of("html/body/div/div/ul/li") == 0


# All of them


ASKED = [f"{name}:words=horse" if name == "shark-search" else name for name in CLASSICS]


@pytest.mark.parametrize("asked", ASKED)
def test_a_fresh_copy_has_learned_nothing_and_prints_as_the_code_that_makes_it(asked: str) -> None:
    world = graph("S: A B c; A: D E; B: E f; c: G; D: H; E: H A; f: S; G: B H", relevant="B D E")
    made = strategy(asked, truth(world))
    printed, first = repr(made), names(events_of(world, made, ["S"]))
    assert repr(made) == printed
    assert names(events_of(world, made.fresh(), ["S"])) == first


@pytest.mark.parametrize(
    "asked", ["page-rank:every=1", "distiller:every=1", "link-classifier:every=1", "host-yield:every=1"]
)
def test_seeds_that_still_wait_are_left_where_they_are_by_upkeep(asked: str) -> None:
    world = graph("S: x T a; T: b; U: S", relevant="S T b")
    assert names(events_of(world, strategy(asked, truth(world)), ["S", "T", "U"])).startswith("s t u ")


@pytest.mark.parametrize("asked", ASKED)
def test_an_upkeep_that_scores_is_one_part_in_a_copy_too(asked: str) -> None:
    made = strategy(asked, truth(graph("S: A"))).fresh()
    assert made.upkeep is None or id(made.upkeep) == id(made.scorer)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("fish-search:width=0", "width=0: at least 1 link"),
        ("fish-search:depth=-1", "n of 0 or more, not -1"),
        ("shark-search:words=tea:beta=2", "beta=2 is not a share"),
        ("shark-search:words=tea:gamma=nan", "gamma=nan is not a share"),
        ("shark-search:words=tea:decay=2", "decay=2: give a number from 0 to 1"),
        ("page-rank:damping=1", "damping=1: give a number between 0 and 1"),
        ("page-rank:every=0", "every=0: at least 1 visit"),
        ("distiller:threshold=1", "threshold=1: no page is above it"),
        ("distiller:every=0", "every=0: at least 1 visit"),
        ("link-classifier:every=0", "every=0: at least 1 visit"),
        ("host-yield:every=0", "every=0: at least 1 visit"),
        ("host-yield:step=-1", "step=-1: must be 0 or more"),
        ("host-yield:patience=0", "patience=0: at least 1 page"),
        ("tag-path-bandit:exploration=-1", "exploration=-1: give 0 or more"),
        ("tag-path-bandit:likeness=2", "likeness=2 is not a cosine"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(asked: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        strategy(asked, truth(graph("S: A")))
