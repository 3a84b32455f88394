"""The strategies of language-specific crawling: worked numbers and equivalences of the paper."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor import registry
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.admissions import LimitedDistance
from spoor.ordering.simple import Nearness, RelevantReferrer
from spoor.ordering.trails import SinceRelevant
from spoor.records import Evidence
from spoor.strategy import Strategy
from tests.random_graphs import random_worlds
from tests.tiny import events_of, graph, names, truth

TOY = graph(
    "S: A i1 i4; A: i1 B; B: S; i1: i2 C; i2: i3 D; i3: E; i4: i2; C: i5; i5: F",
    relevant="S A B C D E F",
)


def order(strategy: str, world: WrittenWorld = TOY, seeds: tuple[str, ...] = ("S",)) -> str:
    return names(events_of(world, registry.strategy(strategy, truth(world)), seeds))


def harvest_and_coverage(strategy: str, world: WrittenWorld = TOY) -> tuple[float, float]:
    visited = order(strategy, world).split()
    found = sum(world.truth(f"http://{name}.test/") for name in visited)
    return round(found / len(visited), 4), round(found / len(world.relevant), 4)


@pytest.mark.parametrize(
    ("strategy", "visits"),
    [
        ("breadth-first", "S A i1 i4 B i2 C i3 D i5 E F"),
        ("hard-focused", "S A i1 i4 B"),
        ("limited-distance:n=0", "S A i1 i4 B"),
        ("soft-focused", "S A i1 i4 B i2 C i5 i3 D F E"),
        ("limited-distance:n=1", "S A i1 i4 B i2 C i5 F"),
        ("limited-distance:n=2", "S A i1 i4 B i2 C i3 D i5 F"),
        ("limited-distance:n=3", "S A i1 i4 B i2 C i3 D i5 E F"),
        ("prioritised-limited-distance:n=2", "S A i1 i4 B i2 C i5 F i3 D"),
        ("prioritised-limited-distance:n=3", "S A i1 i4 B i2 C i5 F i3 D E"),
    ],
)
def test_the_order_of_visits_on_the_worked_example(strategy: str, visits: str) -> None:
    assert order(strategy) == visits.lower()


@pytest.mark.parametrize(
    ("strategy", "harvest", "coverage"),
    [
        ("hard-focused", 0.6, 0.4286),
        ("limited-distance:n=1", 0.5556, 0.7143),
        ("limited-distance:n=2", 0.5455, 0.8571),
        ("limited-distance:n=3", 0.5833, 1.0),
        ("prioritised-limited-distance:n=1", 0.5556, 0.7143),
        ("prioritised-limited-distance:n=2", 0.5455, 0.8571),
        ("prioritised-limited-distance:n=3", 0.5833, 1.0),
    ],
)
def test_harvest_and_coverage_on_the_worked_example(strategy: str, harvest: float, coverage: float) -> None:
    assert harvest_and_coverage(strategy) == (harvest, coverage)


def test_hard_focus_drops_three_links_on_the_worked_example() -> None:
    events = events_of(TOY, registry.strategy("hard-focused", truth(TOY)), ["S"])
    assert sum(len(event.refused) for event in events if hasattr(event, "refused")) == 3


def test_a_shorter_way_found_later_saves_a_page_from_the_limit() -> None:
    world = graph("S: i1 A; i1: i2; A: i2; i2: D", relevant="S A D")
    assert order("limited-distance:n=1", world) == "s i1 a i2 d"


def test_a_link_of_an_irrelevant_page_is_promoted_by_a_relevant_one() -> None:
    world = graph("S: x A; x: u v; A: v", relevant="S A v")
    assert order("soft-focused", world) == "s x a v u"


def test_the_published_sums_and_ratios_of_the_data_sets() -> None:
    assert 1_467_643 + 2_419_301 == 3_886_944
    assert 67_983_623 + 27_200_355 == 95_183_978
    assert round(1_467_643 / 3_886_944, 6) == 0.377583
    assert round(67_983_623 / 95_183_978, 6) == 0.714234


@settings(max_examples=60, deadline=None)
@given(random_worlds())
def test_limited_distance_with_n_0_is_hard_focused(world: WrittenWorld) -> None:
    assert order("limited-distance:n=0", world, ("p0",)) == order("hard-focused", world, ("p0",))


@settings(max_examples=60, deadline=None)
@given(random_worlds())
def test_limited_distance_without_limit_is_breadth_first(world: WrittenWorld) -> None:
    assert order("limited-distance:n=1000000", world, ("p0",)) == order("breadth-first", world, ("p0",))


class TwoLevels(Nearness):
    """The prioritised key cut to two levels: 0 for links of relevant pages, -1 for all others."""

    def key(self, evidence: Evidence) -> float:
        return max(-1.0, super().key(evidence))


@settings(max_examples=60, deadline=None)
@given(random_worlds())
def test_soft_focused_is_prioritised_without_limit_cut_to_two_levels(world: WrittenWorld) -> None:
    cut = Strategy(truth(world), TwoLevels(), SinceRelevant(), LimitedDistance(1_000_000))
    soft = Strategy(truth(world), RelevantReferrer())
    assert names(events_of(world, cut, ["p0"])) == names(events_of(world, soft, ["p0"]))


@settings(max_examples=60, deadline=None)
@given(random_worlds(), st.integers(0, 4))
def test_prioritising_changes_the_order_but_never_adds_a_page_out_of_reach(world: WrittenWorld, n: int) -> None:
    reach = set(order("breadth-first", world, ("p0",)).split())
    assert set(order(f"prioritised-limited-distance:n={n}", world, ("p0",)).split()) <= reach
