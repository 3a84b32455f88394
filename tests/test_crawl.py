"""What a crawl does with what comes back, claim by claim, on tiny webs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor import registry
from spoor.crawl import Crawl
from spoor.errors import BrokenContract
from spoor.events import Failed, HostOpened, Redirected, Refused, Visited
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.page_reader import Reader
from spoor.ordering.admissions import LimitedDistance
from spoor.ordering.simple import Arrival, Nearness, RelevantReferrer, total
from spoor.ordering.trails import SinceRelevant
from spoor.pricing import Limits
from spoor.records import (
    ADMIT,
    Evidence,
    Failure,
    Hints,
    Judged,
    Link,
    Outcome,
    Page,
    Redirect,
    Response,
    RobotsRules,
    Ruling,
    Sighting,
    TrailState,
    Verdict,
    Visit,
    WaitingLink,
)
from spoor.roles import Merge, WaitingLinks
from spoor.strategy import Strategy
from tests.random_graphs import random_worlds
from tests.tiny import events_of, gaps, graph, names, truth, url


@dataclass(frozen=True)
class AnchorLength:
    """Longer anchors first; sightings add up. A scorer for these tests."""

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"letters": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"letters": float(len(link.anchor))} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["letters"]


@dataclass(frozen=True)
class EnoughLetters:
    """Parks links with few letters: when offered, or when their turn comes."""

    at_offering: int = 0
    at_popping: int = 0

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return ADMIT if evidence["letters"] >= self.at_offering else Ruling("park", "too few letters")

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT if visit.evidence["letters"] >= self.at_popping else Ruling("park", "still too few letters")


def pages(**links: str) -> WrittenWorld:
    """`pages(S="a:xx b:yyy")`: links with anchors."""
    outcomes: dict[str, Outcome] = {}
    for page, text in links.items():
        found = [pair.partition(":") for pair in text.split()]
        outcomes[url(page)] = Page(url(page), links=tuple(Link(url(to), anchor) for to, _, anchor in found))
        for to, _, _ in found:
            outcomes.setdefault(url(to), Page(url(to)))
    return WrittenWorld(outcomes | {u: o for u, o in outcomes.items() if isinstance(o, Page) and o.links})


@dataclass(frozen=True)
class HintedLength(AnchorLength):
    """The same, by what was read where the page was read."""

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return [(float(len(link.anchor)),) for link in links]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"letters": link.hints[0]} for link in links]


def test_a_scorer_that_reads_links_finds_its_hints_on_them() -> None:
    world = pages(S="a:x b:xx c:x", b="c:xxx a:x")
    assert names(events_of(world, Strategy(truth(world), HintedLength()), ["S"])) == "s b c a"


def test_links_that_were_read_elsewhere_are_not_read_again() -> None:
    crawl = Crawl(Strategy(truth(pages()), HintedLength()), Frontier(MemoryStore()))
    crawl.begin([url("S")])
    visit = crawl.next_visit(0.0)
    assert visit is not None
    page = Page(url("S"), links=(Link(url("a"), "long", hints=(1.0,)), Link(url("b"), "x", hints=(2.0,))))
    crawl.absorb([(visit, Judged(page, Verdict(0.0, False, "")))], 0.0)
    following = crawl.next_visit(0.0)
    assert following is not None and following.url == url("b")


def test_a_link_met_again_moves_up_with_its_evidence() -> None:
    world = pages(S="a:x b:xx c:x", b="c:xxx a:x")
    assert names(events_of(world, Strategy(truth(world), AnchorLength()), ["S"])) == "s b c a"


def test_a_link_that_moves_up_comes_after_those_that_were_there_before() -> None:
    world = pages(S="a:x b:xx c:xxx", c="a:x")
    assert names(events_of(world, Strategy(truth(world), AnchorLength()), ["S"])) == "s c b a"


def test_a_link_whose_key_did_not_change_keeps_its_arrival() -> None:
    world = graph("S: A x; A: u v; x: v u", relevant="S A x")
    assert names(events_of(world, Strategy(truth(world), RelevantReferrer()), ["S"])) == "s a x u v"


def test_a_parked_link_returns_when_more_is_known() -> None:
    world = pages(S="a:x b:xxx", b="a:xx")
    strategy = Strategy(truth(world), AnchorLength(), admission=EnoughLetters(at_offering=3))
    events = events_of(world, strategy, ["S"])
    assert names(events) == "s b a"
    first = events[0]
    assert isinstance(first, Visited)
    assert [(r.url, r.because, r.parked) for r in first.refused] == [(url("a"), "too few letters", True)]


def test_a_link_parked_at_its_turn_returns_too() -> None:
    world = pages(S="a:xx b:x c:xxxx", c="a:xx")
    strategy = Strategy(truth(world), AnchorLength(), admission=EnoughLetters(at_popping=2))
    events = events_of(world, strategy, ["S"])
    assert names(events) == "s c a"


def test_a_link_turned_away_at_its_turn_says_why() -> None:
    world = pages(S="a:x b:xxx")
    strategy = Strategy(truth(world), AnchorLength(), admission=EnoughLetters(at_popping=2))
    crawl = Crawl(strategy, Frontier(MemoryStore()))
    crawl.begin([url("S")])
    assert names(list(simulate(crawl, world))) == "s b"
    assert crawl.frontier.count(State.PARKED) == 1
    (entry,) = crawl.frontier.find([url("a")])
    assert entry is not None and entry.because == "still too few letters"


def test_turning_away_is_told_with_the_next_arrival() -> None:
    world = pages(S="a:x b:xxx c:xx")
    strategy = Strategy(truth(world), AnchorLength(), admission=EnoughLetters(at_popping=3))
    crawl = Crawl(strategy, Frontier(MemoryStore()))
    crawl.begin([url("S")])
    visit = crawl.next_visit(0.0)
    assert visit is not None
    crawl.absorb([(visit, world.fetch(visit)[0])], 0.0)
    visit = crawl.next_visit(0.0)
    assert visit is not None and crawl.next_visit(0.0) is None
    events = crawl.absorb([(visit, world.fetch(visit)[0])], 0.0)
    told = [event.refusal.url for event in events if isinstance(event, Refused)]
    assert told == [url("c"), url("a")]


def test_a_dropped_link_is_forgotten_and_may_come_in_by_a_better_way() -> None:
    world = graph("S: i1 A; i1: D; A: D", relevant="S A D")
    strategy = Strategy(truth(world), Arrival(), SinceRelevant(), LimitedDistance(0))
    events = events_of(world, strategy, ["S"])
    assert names(events) == "s i1 a d"
    dropped = [r for e in events if isinstance(e, Visited) for r in e.refused]
    assert [(r.url, r.parked) for r in dropped] == [(url("D"), False)]


def test_the_trail_is_that_of_the_parent_that_gave_the_better_key() -> None:
    world = graph("S: i1 A; i1: x; A: x", relevant="S A")
    strategy = Strategy(truth(world), Nearness(), SinceRelevant())
    visits = {e.visit.url: e.visit for e in events_of(world, strategy, ["S"]) if isinstance(e, Visited)}
    assert visits[url("x")].trail == 0


def test_a_seed_is_visited_first_and_never_moves() -> None:
    world = pages(S="T:xxxxx a:xxxxxxx", T="b:x")
    assert names(events_of(world, Strategy(truth(world), AnchorLength()), ["S", "T"])) == "s t a b"


def test_a_redirect_hands_its_place_to_the_target() -> None:
    world = pages(S="a:xxx b:xx")
    world = replace(world, outcomes=dict(world.outcomes) | {url("a"): Redirect(url("c")), url("c"): Page(url("c"))})
    events = events_of(world, Strategy(truth(world), AnchorLength()), ["S"])
    assert names(events) == "s a c b"
    assert [e.to for e in events if isinstance(e, Redirected)] == [url("c")]


def test_redirects_in_a_circle_end() -> None:
    world = WrittenWorld({url("A"): Redirect(url("B")), url("B"): Redirect(url("A"))})
    events = events_of(world, Strategy(truth(world), Arrival()), ["A"])
    assert names(events) == "a b"
    assert isinstance(events[-1], Redirected) and events[-1].because == "already visited"


def test_what_may_heal_is_tried_again_after_longer_rests_and_then_given_up() -> None:
    world = WrittenWorld({url("A"): Failure("timed out", again_after=60.0)})
    events = events_of(world, Strategy(truth(world), Arrival()), ["A"], limits=Limits(tries=3))
    tries = [(e.at, e.again_at) for e in events if isinstance(e, Failed)]
    assert tries == [(0.0, 60.0), (60.0, 180.0), (180.0, None)]


def test_what_will_not_heal_is_tried_once() -> None:
    world = WrittenWorld({url("A"): Failure("HTTP 404")})
    assert names(events_of(world, Strategy(truth(world), Arrival()), ["A"])) == "a"


def test_the_budget_ends_a_crawl_and_says_so() -> None:
    world = graph("S: A B C")
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(MemoryStore()), Limits(visits=2))
    crawl.begin([url("S")])
    assert names(list(simulate(crawl, world))) == "s a"
    assert crawl.ended() == "the budget of 2 visits is spent"


def test_a_crawl_without_links_left_says_so() -> None:
    world = graph("S: A")
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(MemoryStore()))
    crawl.begin([url("S")])
    assert names(list(simulate(crawl, world))) == "s a"
    assert crawl.ended() == "nothing is waiting"


def test_a_host_rests_between_visits() -> None:
    world = graph("a.test/0: a.test/1 a.test/2; a.test/1: a.test/3")
    events = events_of(world, Strategy(truth(world), Arrival()), ["a.test/0"], HostRules(delay=1.5), connections=4)
    assert gaps(events, "a.test") == [1.5, 1.5, 1.5]


def test_a_host_whose_queue_ran_empty_keeps_its_delay() -> None:
    world = graph("a.test/0: b.test/0; b.test/0: a.test/1")
    events = events_of(world, Strategy(truth(world), Arrival()), ["a.test/0"], HostRules(delay=10.0), connections=4)
    assert gaps(events, "a.test") == [10.0]


def test_other_hosts_are_visited_while_one_is_delayed() -> None:
    world = graph("a.test/0: a.test/1 b.test/0")
    events = events_of(world, Strategy(truth(world), Arrival()), ["a.test/0"], HostRules(delay=5.0))
    assert names(events) == "a.test/0 b.test/0 a.test/1"


def test_a_closed_host_is_asked_for_its_rules_first() -> None:
    world = replace(graph("a.test/0: a.test/1"), rules={"a.test": RobotsRules("User-agent: *\nCrawl-delay: 7")})
    events = events_of(world, Strategy(truth(world), Arrival()), ["a.test/0"], HostRules(delay=1.0, ask_first=True))
    assert [type(event) for event in events] == [HostOpened, Visited, Visited]
    assert gaps(events, "a.test") == [7.0, 7.0]


def test_a_url_that_robots_rules_disallow_is_never_visited_not_even_a_seed() -> None:
    rules = RobotsRules("User-agent: *\nDisallow: /private")
    world = replace(graph("a.test/: a.test/private/1 a.test/2; a.test/private/s: a.test/3"), rules={"a.test": rules})
    seeds = ["a.test/", "a.test/private/s"]
    events = events_of(world, Strategy(truth(world), Arrival()), seeds, HostRules(ask_first=True))
    assert names(events) == "a a.test/2"
    assert {e.refusal.because for e in events if isinstance(e, Refused)} == {"robots.txt disallows it"}


def test_a_server_that_asks_to_be_left_alone_is() -> None:
    busy = Failure("HTTP 429", again_after=30.0, whole_host=True)
    world = graph("a.test/0: a.test/1 a.test/2 b.test/0")
    world = replace(world, outcomes=dict(world.outcomes) | {"http://a.test/1": busy})
    events = events_of(world, Strategy(truth(world), Arrival()), ["a.test/0"])
    assert names(events).startswith("a.test/0 a.test/1 b.test/0 a.test/1")
    assert gaps(events, "a.test")[1] == 30.0


def test_hosts_at_one_address_rest_together() -> None:
    shared = RobotsRules(address="192.0.2.1")
    world = replace(graph("a.test/0: b.test/0 b.test/1"), rules={"a.test": shared, "b.test": shared})
    rules = HostRules(delay=1.0, address_delay=3.0, ask_first=True)
    events = events_of(world, Strategy(truth(world), Arrival()), ["a.test/0"], rules, connections=4)
    starts = [event.visit.at for event in events if isinstance(event, Visited)]
    assert [later - sooner for sooner, later in pairwise(starts)] == [3.0, 3.0]


def test_a_chain_of_redirects_ends_at_the_limit() -> None:
    world = WrittenWorld({url(f"r{n}"): Redirect(url(f"r{n + 1}")) for n in range(20)})
    events = events_of(world, Strategy(truth(world), Arrival()), ["r0"])
    assert len(events) == 6
    assert isinstance(events[-1], Redirected) and events[-1].because == "more than 5 redirects in a row"


def test_a_redirect_out_of_bounds_is_refused() -> None:
    world = pages(S="a:xxx")
    world = replace(world, outcomes=dict(world.outcomes) | {url("a"): Redirect(url("c"))})
    strategy = Strategy(truth(world), AnchorLength(), admission=NotThere(where=url("c")))
    events = events_of(world, strategy, ["S"])
    assert isinstance(events[-1], Redirected) and events[-1].because == "not there"


@dataclass(frozen=True)
class NotThere(EnoughLetters):
    """Drops one URL."""

    where: str = ""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return Ruling("drop", "not there") if link.url == self.where else ADMIT


def test_a_verdict_too_few_is_a_broken_contract() -> None:
    @dataclass(frozen=True)
    class Silent:
        reads_content: ClassVar[bool] = False

        def judge(self, pages: Sequence[Page]) -> list[object]:
            return []

    strategy = Strategy(Silent(), Arrival())  # type: ignore[arg-type]
    with pytest.raises(BrokenContract, match="gave 0 verdicts for 1 pages"):
        events_of(graph("S: A"), strategy, ["S"])
    html = {"content-type": "text/html"}
    response = Response(url("S"), 200, html, b"<p>words", b"<p>words", b"", b"", "", 0.0, 0.0)
    with pytest.raises(BrokenContract, match="gave 0 verdicts for 1 pages"):
        Reader.of(strategy).read(Visit(url("S"), "s.test", 0, 0.0), response)


def test_an_evidence_too_few_is_a_broken_contract() -> None:
    class Forgetful(AnchorLength):
        def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
            return []

    world = graph("S: A")
    with pytest.raises(BrokenContract, match=r"gave 0 evidences for 1 links on http://s\.test/"):
        events_of(world, Strategy(truth(world), Forgetful()), ["S"])


def test_a_key_that_is_not_a_number_is_a_broken_contract() -> None:
    class Undecided(AnchorLength):
        def key(self, evidence: Evidence) -> float:
            return float("nan")

    world = graph("S: A")
    with pytest.raises(BrokenContract, match=r"the key of http://a\.test/ is not a number"):
        events_of(world, Strategy(truth(world), Undecided()), ["S"])


@dataclass(frozen=True)
class SwapAfterTwo:
    """Housekeeping for this test: after two visits, `b` becomes the most promising link."""

    every: int = 2
    seen: list[Evidence | None] = field(default_factory=list, init=False)

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self.seen.append(waiting.evidence_of(url("b")))
        return [(url("b"), {"letters": 9.0}), (url("nowhere"), {"letters": 9.0})]


def test_upkeep_changes_the_place_of_links_that_wait() -> None:
    world = pages(S="a:xxx b:x c:xx")
    upkeep = SwapAfterTwo()
    assert names(events_of(world, Strategy(truth(world), AnchorLength(), upkeep=upkeep), ["S"])) == "s a b c"
    assert upkeep.seen == [{"letters": 1.0}, None]


@dataclass(frozen=True)
class ByTens(AnchorLength):
    """Keys are whole tens of letters. A link has five letters by upkeep, six when it is next."""

    every: int = 1
    seen: list[Evidence | None] = field(default_factory=list, init=False)

    def key(self, evidence: Evidence) -> float:
        return evidence["letters"] // 10

    def review(self, link: WaitingLink) -> Evidence:
        return {"letters": 6.0}

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self.seen.append(waiting.evidence_of(url("b")))
        return [(url("b"), {"letters": 5.0})]


def test_upkeep_leaves_a_link_as_it_is_if_its_key_stays_and_it_is_scored_again_when_it_is_next() -> None:
    world, both = pages(S="a:xxx b:x"), ByTens()
    events = events_of(world, Strategy(truth(world), both, upkeep=both), ["S"])
    assert both.seen[:2] == [{"letters": 1.0}, {"letters": 1.0}]
    visits = [event.visit for event in events if isinstance(event, Visited)]
    assert [visit.evidence for visit in visits if visit.url == url("b")] == [{"letters": 6.0}]


@dataclass(frozen=True)
class CountsWords(AnchorLength):
    """Learns which pages it was told about."""

    learned: list[str] = field(default_factory=list, init=False)

    def learn(self, sighting: Sighting) -> None:
        self.learned.append(sighting.visit.url)


def test_a_part_that_learns_is_told_of_every_page_before_its_links_are_scored() -> None:
    world = pages(S="a:x")
    scorer = CountsWords()
    events_of(world, Strategy(truth(world), scorer), ["S"])
    assert scorer.learned == [url("S"), url("a")]


def test_a_fresh_strategy_has_the_same_parameters_and_learned_nothing() -> None:
    world = pages(S="a:x")
    strategy = Strategy(truth(world), CountsWords(), SinceRelevant(), LimitedDistance(3))
    events_of(world, strategy, ["S"])
    fresh = strategy.fresh()
    assert repr(fresh) == repr(strategy).replace(repr([url("S"), url("a")]), "[]")
    assert isinstance(fresh.scorer, CountsWords) and fresh.scorer.learned == []


@dataclass(frozen=True)
class ScorerAndUpkeep(CountsWords):
    """One object in two parts: it is told once, and copied once."""

    every: int = 100

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        return []


def test_a_part_that_plays_two_parts_stays_one() -> None:
    world = pages(S="a:x")
    both = ScorerAndUpkeep()
    strategy = Strategy(truth(world), both, upkeep=both)
    events_of(world, strategy, ["S"])
    assert both.learned == [url("S"), url("a")]
    fresh = strategy.fresh()
    assert id(fresh.scorer) == id(fresh.upkeep) != id(both)


def test_a_strategy_prints_as_the_code_that_makes_it() -> None:
    world = graph("S: A")
    printed = repr(Strategy(truth(world), Nearness(), SinceRelevant(), LimitedDistance(2)))
    assert printed == (
        "Strategy(judge=Truth(target='relevant'), scorer=Nearness(), trail=SinceRelevant(), "
        "admission=LimitedDistance(n=2), upkeep=None)"
    )


def test_a_crawl_killed_between_two_batches_goes_on_where_it_was(tmp_path: Path) -> None:
    world = graph("S: A B; A: C D; B: E; C: F; F: G", relevant="S B E")
    whole = names(events_of(world, Strategy(truth(world), RelevantReferrer()), ["S"])).split()
    for stop in range(1, len(whole)):
        path = tmp_path / f"{stop}.db"
        visited: list[str] = []
        for budget in (stop, len(whole) + 5):
            store = SqliteStore(path)
            crawl = Crawl(Strategy(truth(world), RelevantReferrer()), Frontier(store), Limits(visits=budget))
            crawl.begin([url("S")])
            visited += names(list(simulate(crawl, world))).split()
            store.close()
        assert visited == whole


@settings(max_examples=25, deadline=None)
@given(random_worlds(), st.sampled_from(["soft-focused", "depth-first", "random", "prioritised-limited-distance:n=2"]))
def test_both_stores_give_the_same_crawl(world: WrittenWorld, strategy: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = (MemoryStore(), SqliteStore(Path(folder) / "frontier.db"))
        visited = []
        for store in stores:
            crawl = Crawl(registry.strategy(strategy, truth(world)), Frontier(store))
            crawl.begin(["http://p0.test/"])
            visited.append(names(list(simulate(crawl, world))))
        stores[1].close()
    assert visited[0] == visited[1]
