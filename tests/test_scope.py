"""Scope, manners, and several rules at once: every refusal names its rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from spoor.errors import UsageError
from spoor.events import Refused, Visited
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.admissions import AllOf, AtLeast, LimitedDistance, RespectNofollow
from spoor.ordering.scope import Scope
from spoor.ordering.simple import Arrival
from spoor.records import ADMIT, Evidence, Link, Page, Redirect, Ruling, Sighting, TrailState, Verdict, Visit
from spoor.roles import Admission
from spoor.strategy import AdmitAll, Strategy
from spoor.urls import host_of, registrable_domain
from tests.tiny import events_of, graph, names, truth


def offered(admission: Admission, url: str, nofollow: bool = False) -> Ruling:
    return admission.at_offer(Link(url, nofollow=nofollow), {}, None)


def visit(url: str, depth: int = 1) -> Visit:
    return Visit(url, host_of(url), 0, 0.0, depth=depth)


def seen(url: str) -> Sighting:
    return Sighting(visit(url), Page(url), Verdict(0.0, False, "told"), None)


@pytest.mark.parametrize(
    ("scope", "url", "because"),
    [
        (Scope(), "http://a.test/", ""),
        (Scope(include=("/news/", "/blog/")), "http://a.test/news/1", ""),
        (Scope(include=("/news/",)), "http://a.test/x", "no pattern of include matches ('/news/')"),
        (Scope(exclude=(r"\.pdf$",)), "http://a.test/x.pdf", r"exclude '\\.pdf$' matches"),
        (Scope(include=("/news/",), exclude=("print",)), "http://a.test/news/print", "exclude 'print' matches"),
        (Scope(hosts=("A.test",)), "http://a.test/x", ""),
        (Scope(hosts=("a.test",)), "http://www.a.test/", "www.a.test is not in hosts"),
        (Scope(hosts=("пример.рф",)), "http://xn--e1afmkfd.xn--p1ai/x", ""),
        (Scope(hosts=("a.test:8080",)), "http://a.test/", "a.test is not in hosts"),
        (Scope(domains=("example.co.uk",)), "http://deep.www.example.co.uk:81/", ""),
        (Scope(domains=("example.co.uk",)), "http://other.co.uk/", "other.co.uk is not in domains"),
        (Scope(hosts=("a.test",), domains=("b.org",)), "http://www.b.org/", ""),
        (Scope(hosts=("a.test",), domains=("b.org",)), "http://c.org/", "c.org is not in hosts or domains"),
    ],
)
def test_a_link_outside_scope_is_dropped_by_a_named_rule(scope: Scope, url: str, because: str) -> None:
    expected = Ruling("drop", f"outside scope: {because}") if because else ADMIT
    assert offered(scope, url) == expected
    assert scope.at_pop(visit(url)) == expected


def test_depth_counts_links_from_a_seed() -> None:
    world = graph("S: A; A: B; B: C")
    events = events_of(world, Strategy(truth(world), Arrival(), admission=Scope(max_depth=2)), ["S"])
    assert names(events) == "s a b"
    refused = Scope(max_depth=2).at_pop(visit("http://c.test/", depth=3))
    assert refused == Ruling("drop", "outside scope: depth 3, max_depth is 2")


def test_a_host_has_its_budget_and_the_rest_is_parked() -> None:
    world = graph("s.test/: s.test/1 s.test/2 s.test/3 o.test/1")
    events = events_of(world, Strategy(truth(world), Arrival(), admission=Scope(pages_per_host=2)), ["s.test/"])
    assert names(events) == "s s.test/1 o.test/1"
    parked = [event.refusal for event in events if isinstance(event, Refused)]
    assert all(refusal.parked and "2 pages of s.test visited" in refusal.because for refusal in parked)
    assert len(parked) == 2


def test_a_redirect_does_not_lead_outside() -> None:
    start = Page("http://a.test/", links=(Link("http://a.test/away"),))
    world = WrittenWorld(
        {start.url: start, "http://a.test/away": Redirect("http://b.test/"), "http://b.test/": Page("http://b.test/")}
    )
    events = events_of(world, Strategy(truth(world), Arrival(), admission=Scope(hosts=("a.test",))), ["a.test/"])
    assert [event.visit.url for event in events if isinstance(event, Visited)] == ["http://a.test/"]


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ({"include": ("(",)}, r"include: '\(' is not a regular expression"),
        ({"exclude": ("*",)}, r"exclude: '\*' is not a regular expression"),
        ({"hosts": ("http://a.test/",)}, "hosts: 'http://a.test/' is not the name of a host"),
        (
            {"domains": ("www.example.org",)},
            "domains: 'www.example.org' is not a registrable domain; write 'example.org'",
        ),
        ({"domains": ("mn",)}, "domains: 'mn' is not a registrable domain; for all below it use include"),
    ],
)
def test_a_wrong_rule_is_refused_by_name(rules: dict[str, tuple[str, ...]], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Scope(**rules)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.org:8080", "example.org"),
        ("me.github.io", "me.github.io"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("localhost", "localhost"),
        ("www.a.test", "a.test"),
        ("xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_the_domain_of_a_host_is_what_somebody_registered(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_nofollow_links_are_dropped() -> None:
    assert offered(RespectNofollow(), "http://a.test/", nofollow=True).decision == "drop"
    assert "nofollow" in offered(RespectNofollow(), "http://a.test/", nofollow=True).because
    assert offered(RespectNofollow(), "http://a.test/") == ADMIT


@dataclass(frozen=True)
class Park:
    """Parks everything."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return Ruling("park", "not now")

    def at_pop(self, visit: Visit) -> Ruling:
        return Ruling("park", "not now")


def test_the_first_refusal_wins_and_keeps_its_kind() -> None:
    drop = Scope(hosts=("a.test",))
    assert offered(AllOf((AdmitAll(), Park(), drop)), "http://b.test/").decision == "park"
    assert offered(AllOf((drop, Park())), "http://b.test/").decision == "drop"
    assert AllOf((drop, Park())).at_pop(visit("http://a.test/")).decision == "park"
    assert offered(AllOf(()), "http://b.test/") == ADMIT


def test_parts_that_learn_are_told_and_a_copy_has_learned_nothing() -> None:
    together = AllOf((AtLeast("relevant_referrer", 1.0), LimitedDistance(2), Scope(pages_per_host=1)))
    (scope, _) = Strategy(truth(graph("S:")), Arrival(), admission=together).learners()
    scope.learn(seen("http://a.test/"))
    assert together.at_pop(visit("http://a.test/2")).decision == "park"
    assert replace(together).at_pop(visit("http://a.test/2")) == ADMIT
    assert repr(replace(together)) == repr(together)
