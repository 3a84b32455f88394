"""The hyperlink correlation degree, on figures worked out by hand (checks M-4 and M-5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from spoor.errors import UsageError
from spoor.events import Event, Visited
from spoor.judging.combined import Truth
from spoor.judging.profile_search import recogniser
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.admissions import KeyAbove
from spoor.ordering.correlation_degree import CorrelationDegree, Weights, path_size
from spoor.records import Evidence, Link, Page, Sighting, Verdict, Visit
from spoor.registry import strategy
from spoor.strategy import Strategy, hinted
from spoor.urls import normalise
from tests.tiny import events_of, truth


@dataclass(frozen=True)
class Written:
    """Knows how much each text is like the language, because it was told; counts the batches."""

    likeness: Mapping[str, float]
    batches: list[list[str]] = field(default_factory=list)

    def similarities(self, texts: Sequence[str]) -> list[float]:
        self.batches.append(list(texts))
        return [self.likeness.get(text, 0.0) for text in texts]


LIKENESS = Written({"page one": 0.9, "eight": 0.8, "six": 0.6, "page two": 0.6, "seven": 0.7})
U1, U2, U3, U4 = "http://u1.test/", "http://u2.test/b/c.html", "http://u3.test/x/y/z", "http://u4.test/p/"
P1 = Page("http://p1.test/", text="page one", links=(Link(U1, "eight"), Link(U2), Link(U3, "six")))
P2 = Page(U1, text="page two", links=(Link(U2, "seven"), Link(U4)))
PAGES = {page.url: page for page in (P1, P2, Page(U2), Page(U3), Page(U4))}


def degrees(degree: CorrelationDegree, page: Page, visit: Visit | None = None) -> list[float]:
    """The degree of every link of a page, as seen there alone."""
    return [round(degree.key(found), 6) for found in evidence(degree, page, visit)]


def evidence(degree: CorrelationDegree, page: Page, visit: Visit | None = None) -> Sequence[Mapping[str, float]]:
    sighting = Sighting(visit or Visit(page.url, "", 0, 0.0), page, Verdict(0.0, False, ""), None)
    return degree.evidence(sighting, hinted(degree, page, page.links))


def crawl(degree: CorrelationDegree, admission: KeyAbove | None = None) -> list[Event]:
    world = WrittenWorld(PAGES)
    parts = Strategy(truth(world), degree, admission=admission or KeyAbove(degree, 0.1))
    return events_of(world, parts, ["p1.test/"])


def key_at_visit(events: Sequence[Event], url: str) -> float:
    (key,) = [event.visit.key for event in events if isinstance(event, Visited) and event.visit.url == url]
    return round(key[0], 6)


@pytest.mark.parametrize(
    ("url", "depth"),
    [
        ("http://a", 1),
        ("http://a/", 1),
        ("http://a/b.html", 1),
        ("http://a/b/", 0.5),
        ("http://a/b/c.html?x=/1/2#/f", 0.5),
        ("http://a/x/y/z", 1 / 3),
    ],
)
def test_depth_is_the_inverse_of_the_slashes_in_the_path(url: str, depth: float) -> None:
    assert 1 / path_size(normalise(url) or "") == depth


def test_the_degree_weighs_anchor_parents_and_depth() -> None:
    assert degrees(CorrelationDegree(LIKENESS), P1) == [0.69, 0.19, 0.456667]


def test_a_second_parent_adds_its_share_and_the_better_anchor_counts() -> None:
    events = crawl(CorrelationDegree(LIKENESS))
    assert key_at_visit(events, U2) == 0.63
    (visit,) = [event.visit for event in events if isinstance(event, Visited) and event.visit.url == U2]
    assert visit.evidence["parents"] == pytest.approx(0.9 / 3 + 0.6 / 2)


def test_the_first_anchor_counts_where_that_is_asked_for() -> None:
    assert key_at_visit(crawl(CorrelationDegree(LIKENESS, merge_anchors="first")), U2) == 0.28


def test_the_best_degree_is_visited_first() -> None:
    events = crawl(CorrelationDegree(LIKENESS))
    assert [event.visit.url for event in events if isinstance(event, Visited)] == [P1.url, U1, U2, U3, U4]
    assert [key_at_visit(events, url) for url in (U3, U4)] == [0.456667, 0.19]


def test_parents_count_at_most_the_cap() -> None:
    found = {"anchor": 0.0, "parents": 2.0, "depth": 0.0}
    assert CorrelationDegree(LIKENESS).key(found) == pytest.approx(0.3)
    assert CorrelationDegree(LIKENESS, cap=math.inf).key(found) == pytest.approx(0.6)


def test_a_parent_shares_out_the_likeness_of_its_text() -> None:
    visit = Visit(P2.url, "u1.test", 1, 0.0, evidence={"anchor": 0.8, "parents": 0.3, "depth": 1.0})
    assert [found["parents"] for found in evidence(CorrelationDegree(LIKENESS), P2, visit)] == [0.3, 0.3]


def test_or_the_degree_under_which_it_was_queued() -> None:
    degree = CorrelationDegree(LIKENESS, parent_degree="link")
    visit = Visit(P2.url, "u1.test", 1, 0.0, evidence={"anchor": 0.8, "parents": 0.3, "depth": 1.0})
    assert [found["parents"] for found in evidence(degree, P2, visit)] == pytest.approx([0.345, 0.345])


def test_a_seed_was_queued_under_no_degree_so_its_text_counts() -> None:
    degree = CorrelationDegree(LIKENESS, parent_degree="link")
    assert degrees(degree, P1) == degrees(CorrelationDegree(LIKENESS), P1)


def test_all_anchors_of_a_page_are_read_in_one_batch_each_once() -> None:
    likeness = Written({})
    menu = tuple(Link(f"http://a.test/{number}", anchor) for number, anchor in enumerate(["home", "", "home", "news"]))
    CorrelationDegree(likeness).hints(Page("http://a.test/", text="text", links=menu), menu)
    assert likeness.batches == [["text", "home", "", "news"]]


def test_links_left_out_of_a_recording_share_in_what_a_page_has_to_give() -> None:
    page = Page(P2.url, text="page two", links=P2.links, unrecorded=2)
    assert [found["parents"] for found in evidence(CorrelationDegree(LIKENESS), page)] == [0.15, 0.15]


@pytest.mark.parametrize(
    ("threshold", "because"),
    [(0.19, "0.19 equals the threshold"), (0.190000001, "0.19 is below 0.190000001"), (0.25, "0.19 is not above 0.25")],
)
def test_a_refusal_never_says_that_a_number_is_not_above_itself(threshold: float, because: str) -> None:
    @dataclass(frozen=True)
    class Constant:
        def key(self, evidence: Evidence) -> float:
            return 0.19

    assert KeyAbove(Constant(), threshold).at_offer(Link(U2), {}, None).because == because


def test_a_link_below_the_threshold_is_lifted_by_a_later_parent() -> None:
    degree = CorrelationDegree(LIKENESS)
    events = crawl(degree, KeyAbove(degree, 0.25))
    first, second = events[:2]
    assert isinstance(first, Visited) and [refusal.url for refusal in first.refused] == [U2]
    assert first.refused[0].parked and first.refused[0].because == "0.19 is not above 0.25"
    assert isinstance(second, Visited) and second.moved == 1
    assert key_at_visit(events, U2) == 0.63


def test_a_link_that_was_forgotten_begins_again() -> None:
    degree = CorrelationDegree(LIKENESS)
    events = crawl(degree, KeyAbove(degree, 0.25, refused="drop"))
    assert key_at_visit(events, U2) == round(0.5 * 0.7 + 0.3 * 0.6 / 2 + 0.2 / 2, 6)


def test_the_threshold_itself_is_not_enough() -> None:
    degree = CorrelationDegree(LIKENESS, Weights(0.0, 0.0, 1.0))
    ruling = KeyAbove(degree, 0.5).at_offer(Link(U4), {"anchor": 1.0, "parents": 1.0, "depth": 0.5}, None)
    assert ruling.decision == "park"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Weights(0.5, 0.5, 0.5), "t=0.5, s=0.5, d=0.5 do not"),
        (lambda: Weights(1.5, -0.5, 0.0), "0 or more, not t=1.5, s=-0.5, d=0"),
        (lambda: Weights(math.nan, 0.5, 0.5), "0 or more, not t=nan"),
        (lambda: CorrelationDegree(LIKENESS, merge_anchors="mean"), "merge=mean is not known"),
        (lambda: CorrelationDegree(LIKENESS, parent_degree="page"), "parent=page is not known"),
        (lambda: CorrelationDegree(LIKENESS, cap=0.0), "cap=0 ignores the parents"),
        (lambda: KeyAbove(CorrelationDegree(LIKENESS), 0.1, refused="lose"), "refused=lose is not known"),
        (lambda: KeyAbove(CorrelationDegree(LIKENESS), math.nan), "threshold=nan"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: type, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        make()


def by_name(text: str, target: str) -> CorrelationDegree:
    """The scorer of a strategy asked for by name, with a judge that wants `target`."""
    scorer = strategy(text, Truth(target, lambda url: False)).scorer
    assert isinstance(scorer, CorrelationDegree)
    return scorer


def test_n_crawl_takes_the_language_from_the_judge() -> None:
    assert by_name("n-crawl", "lang=de").likeness is recogniser("de", 3)


def test_unless_it_is_told_another() -> None:
    assert by_name("n-crawl:language=fr:n=2", "lang=de").likeness is recogniser("fr", 2)


def test_n_crawl_without_a_language_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"as in n-crawl:language=mn-Mong, or give a judge that does"):
        by_name("n-crawl", "class=course")


def test_parameters_of_n_crawl_reach_its_parts() -> None:
    parts = strategy("n-crawl:t=0.2:s=0.2:d=0.6:threshold=0.4:cap=inf:refused=drop", Truth("lang=de", bool))
    degree = by_name("n-crawl:t=0.2:s=0.2:d=0.6:cap=inf", "lang=de")
    assert parts.scorer == degree
    assert parts.admission == KeyAbove(degree, 0.4, "drop")
