"""What a crawl does when persons ask for it, on webs in memory: pause, budget, seeds, blocks, slower hosts."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from spoor.actions import Action, AddSeeds, Block, Budget, Mark, Pause, SlowDown, Stop, Submission, Unblock, Unpause
from spoor.crawl import Crawl
from spoor.crawling.guidance import Guidance, Pattern
from spoor.crawling.turns import AT_ONCE
from spoor.events import Event, Steered, Visited
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import LinkStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Page, RobotsRules
from spoor.strategy import Strategy
from tests.tiny import gaps, graph, names, truth, url

WEB = "S: a.test/1 b.test/1; a.test/1: a.test/2 b.test/2; a.test/2: a.test/3 b.test/3; a.test/3: b.test/4"
ASKING = HostRules(delay=1.0, ask_first=True)


def crawl_of(
    world: WrittenWorld, store: LinkStore | None = None, rules: HostRules | None = None, limits: Limits | None = None
) -> Crawl:
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(store or MemoryStore(), rules), limits)
    crawl.begin([url("S")])
    return crawl


def asked(crawl: Crawl, action: Action, now: float = 0.0, at: float = 0.0) -> str:
    """Why it was refused; "" when it was done."""
    (event,) = (e for e in crawl.steer(Submission("1", at, "anna", action), now) if isinstance(e, Steered))
    assert event.action == action
    return event.refused


def until(events: Iterator[Event], page: str) -> list[Event]:
    seen: list[Event] = []
    for event in events:
        seen.append(event)
        if isinstance(event, Visited) and event.visit.url == url(page):
            return seen
    raise AssertionError(f"{page} never came")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinkStore]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
        yield store


def test_a_blocked_host_is_not_asked_and_comes_back_in_order(store: LinkStore) -> None:
    world = graph(WEB)
    crawl = crawl_of(world, store)
    events = simulate(crawl, world)
    until(events, "S")
    assert asked(crawl, Block("b.test")) == ""
    assert names(list(events)) == "a.test/1 a.test/2 a.test/3"
    waiting, new = crawl.frontier.find([url("b.test/1"), url("b.test/4")])
    assert waiting is not None and new is not None
    assert (waiting.state, waiting.because) == (new.state, new.because) == (State.PARKED, "blocked: b.test")
    assert asked(crawl, Unblock("b.test")) == ""
    assert names(list(simulate(crawl, world))) == "b.test/1 b.test/2 b.test/3 b.test/4"


def test_its_robots_txt_is_not_asked_for_either() -> None:
    world = graph("S: b.test/1 a.test/1")
    crawl = crawl_of(world, rules=ASKING)
    robots, seed = crawl.next_visit(0.0), url("S")
    assert robots is not None and robots.purpose == "robots"
    crawl.absorb([(robots, RobotsRules())], 0.0)
    visit = crawl.next_visit(1.0)
    assert visit is not None and visit.url == seed
    crawl.absorb([(visit, world.outcomes[seed])], 1.0)
    assert crawl.frontier.peek(1.0) is not None
    crawl.frontier.want("http://b.test/robots.txt", "b.test", 1.0)
    asked(crawl, Block("b.test"), 1.0)
    rest = list(simulate(crawl, world, now=1.0))
    assert {event.visit.host for event in rest if hasattr(event, "visit")} == {"a.test"}


def test_a_page_whose_robots_txt_lies_on_a_blocked_host_is_not_fetched() -> None:
    world = WrittenWorld({}, rules={})
    crawl = crawl_of(world, rules=ASKING)
    asked(crawl, Block("s.test/robots.txt"))
    assert crawl.next_visit(0.0) is None
    (entry,) = crawl.frontier.find([url("S")])
    assert entry is not None and "blocked: s.test/robots.txt" in entry.because


def test_many_links_of_a_blocked_host_are_set_aside_in_turns() -> None:
    world = graph(f"S: {' '.join(f'b.test/{n}' for n in range(AT_ONCE + 9))} a.test/1")
    crawl = crawl_of(world)
    events = simulate(crawl, world)
    until(events, "S")
    asked(crawl, Block("b.test"))
    assert crawl.next_visit(0.0) is None and crawl.interrupted
    assert names(list(events)) == "a.test/1"


def test_many_links_that_were_set_aside_wait_again_in_turns_and_after_a_kill(tmp_path: Path) -> None:
    pages = [f"b.test/{n}" for n in range(AT_ONCE + 9)]
    world = graph(f"S: {' '.join(pages)}")
    with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
        crawl = crawl_of(world, store)
        events = simulate(crawl, world)
        until(events, "S")
        asked(crawl, Block("b*/*"))
        assert names(list(events)) == ""
        asked(crawl, Unblock("b*/*"))
        assert crawl.interrupted
        crawl.absorb([], 0.0)
        assert crawl.frontier.count(State.PARKED) < AT_ONCE
    with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
        guidance = Guidance(unblocked={"b*/*"})
        again = Crawl(Strategy(truth(world), Arrival()), Frontier(store), guidance=guidance)
        again.resume(0.0)
        assert sorted(names(list(simulate(again, world))).split()) == sorted(pages)


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ("a.test", "http://a.test/x", "http://www.a.test/"),
        ("*.a.test", "https://www.a.test/", "http://a.test/"),
        ("a.test/tags/*", "https://a.test/tags/x?y", "http://a.test/tag"),
        ("http://a.test/*.pdf", "http://a.test/x/y.pdf", "https://a.test/x.pdf"),
        ("*/calendar/*", "http://b.test/calendar/", "http://b.test/calendar"),
        ("*://a.test/x*", "https://a.test/x/", "http://b.test/?to=http://a.test/x"),
        ("a*/x", "http://ab.test/y/x", "http://b.test/x"),
    ],
)
def test_a_pattern_is_a_host_or_a_whole_url(pattern: str, fitting: str, other: str) -> None:
    assert Pattern.of(pattern).fits(fitting)
    assert not Pattern.of(pattern).fits(other)
    guidance = Guidance()
    guidance.note(Block(pattern), "anna")
    assert guidance.blocks(fitting) == f"blocked: {pattern}"
    assert not guidance.blocks(other)


def test_a_link_that_two_patterns_block_waits_only_when_both_are_taken_back() -> None:
    world = graph("S: b.test/1")
    crawl = crawl_of(world)
    for pattern in ("b.test", "*/1"):
        asked(crawl, Block(pattern))
    assert names(list(simulate(crawl, world))) == "s"
    asked(crawl, Unblock("b.test"))
    assert names(list(simulate(crawl, world))) == ""
    asked(crawl, Unblock("*/1"))
    assert names(list(simulate(crawl, world))) == "b.test/1"


def test_a_paused_crawl_asks_for_nothing_and_does_not_end() -> None:
    world = graph(WEB)
    crawl = crawl_of(world)
    assert asked(crawl, Pause()) == ""
    assert (crawl.next_visit(0.0), crawl.wake_at(), crawl.guidance.paused_by) == (None, math.inf, "anna")
    assert asked(crawl, Pause()) == "it is already paused, by anna"
    assert asked(crawl, Unpause()) == ""
    assert names(list(simulate(crawl, world))).startswith("s a.test/1 b.test/1")
    assert asked(crawl, Unpause()) == "it is not paused"


def test_a_budget_that_was_spent_can_be_raised() -> None:
    world = graph(WEB)
    crawl = crawl_of(world, limits=Limits(visits=2))
    assert names(list(simulate(crawl, world))) == "s a.test/1"
    assert "max_pages 2 is not above the 2 requests" in asked(crawl, Budget(max_pages=2))
    assert asked(crawl, Budget(max_pages=3)) == ""
    assert names(list(simulate(crawl, world))) == "b.test/1"


def test_a_budget_of_time_counts_from_the_start() -> None:
    crawl = crawl_of(graph(WEB), limits=Limits(began=600.0, until=720.0))
    assert "max_minutes 2 is not above the 3.0" in asked(crawl, Budget(max_minutes=2), now=780.0)
    assert asked(crawl, Budget(max_minutes=10), now=780.0) == ""
    assert crawl.limits.until == 1200.0


def test_seeds_that_come_later_are_fetched_before_everything_else() -> None:
    world = graph(f"{WEB}; N: S")
    crawl = crawl_of(world)
    events = simulate(crawl, world)
    until(events, "S")
    asked(crawl, AddSeeds((url("N"), url("S"))))
    assert names(list(events)).startswith("n a.test/1")


def test_a_host_is_slowed_down_but_never_below_what_politeness_demands() -> None:
    rules = {"a.test": RobotsRules("User-agent: *\nCrawl-delay: 5")}
    world = WrittenWorld(graph("a.test/1: a.test/2; a.test/2: a.test/3; a.test/3: a.test/4").outcomes, (), {}, rules)
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(MemoryStore(), ASKING))
    crawl.begin([url("a.test/1")])
    events = simulate(crawl, world)
    seen = until(events, "a.test/2")
    assert "4 s is less than the 5 s that politeness requires for a.test" in asked(crawl, SlowDown("a.test", 4.0))
    assert "0.5 s is less than the 1 s" in asked(crawl, SlowDown("new.test", 0.5))
    assert asked(crawl, SlowDown("a.test", 20.0), now=seen[-1].at) == ""
    assert gaps([*seen, *events], "a.test")[-2:] == [20.0, 20.0]


def test_a_slower_host_stays_slow_when_its_robots_txt_comes_again_after_a_restart() -> None:
    frontier = Frontier(MemoryStore(), ASKING)
    frontier.ask_delays({"a.test": 9.0})
    crawl = Crawl(Strategy(truth(graph("S:")), Arrival()), frontier)
    crawl.begin([url("a.test/1")])
    robots = crawl.next_visit(0.0)
    assert robots is not None
    crawl.absorb([(robots, RobotsRules())], 0.0)
    assert crawl.next_visit(8.9) is None
    assert crawl.next_visit(9.0) is not None


def test_a_stop_that_was_meant_for_an_earlier_run_is_refused() -> None:
    crawl = crawl_of(graph(WEB), limits=Limits(began=100.0))
    assert asked(crawl, Stop(), now=101.0, at=99.0) == "the crawl had already ended"
    assert asked(crawl, Stop(), now=101.0, at=100.5) == ""


def test_a_mark_changes_nothing_but_is_told() -> None:
    world = graph(WEB)
    crawl = crawl_of(world)
    assert asked(crawl, Mark(url("S"), relevant=False)) == ""
    visit = crawl.next_visit(0.0)
    assert visit is not None and isinstance(world.outcomes[visit.url], Page)


def test_what_is_not_blocked_cannot_be_unblocked() -> None:
    crawl = crawl_of(graph(WEB))
    assert asked(crawl, Unblock("b.test")) == "b.test is not blocked; nothing is"
    asked(crawl, Block("a.test"))
    assert asked(crawl, Unblock("b.test")) == "b.test is not blocked; blocked are: a.test"
    assert asked(crawl, Block("a.test")) == "a.test is already blocked"
