"""The compiled driver visits exactly the pages, in exactly the order, that the semantics of the strategies say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.errors import BadInput, UsageError
from spoor.lab.compiled_crawl import CompiledCrawl, LinkGraph, Plan, run
from spoor.lab.link_graph import FAR
from spoor.lab.web import Web
from tests.effort import times
from tests.handmade_web import write_web

ALL = 10**9
SOONEST = float("inf")


def graph(links: list[list[int]], relevant: list[bool]) -> LinkGraph:
    offsets = np.cumsum([0, *map(len, links)], dtype=np.int64)
    targets = np.array([target for page in links for target in page], np.int32)
    return LinkGraph(offsets, targets, np.array(relevant, np.bool_))


def crawl(toy: dict[str, str], relevant: str, plan: Plan) -> str:
    """The order in which the pages of a toy web are visited from its first page, S."""
    names = list(toy)
    links = [[names.index(target) for target in toy[name].split()] for name in names]
    web = graph(links, [name in relevant.split() for name in names])
    return " ".join(names[page] for page in run(web, plan, [0], ALL).order)


TOY = {
    "S": "A i1 i4",
    "A": "i1 B",
    "B": "S",
    "i1": "i2 C",
    "i2": "i3 D",
    "i3": "E",
    "i4": "i2",
    "C": "i5",
    "D": "",
    "E": "",
    "i5": "F",
    "F": "",
}
RELEVANT = "S A B C D E F"


def limited(n: int, prioritised: bool = False) -> Plan:
    return Plan("limited-distance", n, prioritised)


@pytest.mark.parametrize(
    ("plan", "order"),
    [
        (Plan("breadth-first"), "S A i1 i4 B i2 C i3 D i5 E F"),
        (Plan("hard-focused"), "S A i1 i4 B"),
        (Plan("soft-focused"), "S A i1 i4 B i2 C i5 i3 D F E"),
        (limited(0), "S A i1 i4 B"),
        (limited(1), "S A i1 i4 B i2 C i5 F"),
        (limited(2), "S A i1 i4 B i2 C i3 D i5 F"),
        (limited(3), "S A i1 i4 B i2 C i3 D i5 E F"),
        (limited(2, prioritised=True), "S A i1 i4 B i2 C i5 F i3 D"),
        (limited(3, prioritised=True), "S A i1 i4 B i2 C i5 F i3 D E"),
    ],
)
def test_the_worked_orders_l1_to_l3(plan: Plan, order: str) -> None:
    assert crawl(TOY, RELEVANT, plan) == order


def test_l4_a_waiting_link_takes_the_shorter_distance() -> None:
    toy = {"S": "i1 A", "i1": "i2", "A": "i2", "i2": "D", "D": ""}
    assert crawl(toy, "S A D", limited(1)) == "S i1 A i2 D"


def test_l5_a_waiting_link_moves_up_when_a_relevant_page_links_to_it() -> None:
    toy = {"S": "x A", "x": "u v", "A": "v", "u": "", "v": ""}
    assert crawl(toy, "S A v", Plan("soft-focused")) == "S x A v u"


def test_depth_first_follows_the_links_of_the_latest_visit_in_document_order() -> None:
    toy = {"S": "a b c", "a": "d c", "b": "", "c": "", "d": "b"}
    assert crawl(toy, "S", Plan("depth-first")) == "S a d b c"


def test_in_links_prefers_what_more_relevant_pages_link_to() -> None:
    toy = {"S": "x y A", "A": "y z", "x": "", "y": "", "z": ""}
    assert crawl(toy, "S A", Plan("in-links")) == "S x y A z"
    assert crawl(toy | {"S": "A x y"}, "S A", Plan("in-links")) == "S A y x z"


def test_the_oracle_visits_by_level_and_then_by_arrival() -> None:
    toy = {"S": "a b c d", "a": "", "b": "", "c": "", "d": ""}
    levels = np.array([0, FAR, 7, 0, 7], np.int32)
    assert crawl(toy, "S", Plan("oracle", levels=levels)) == "S c b d a"


def test_seeds_come_first_and_only_once() -> None:
    web = graph([[2], [], [1]], [True, False, True])
    assert run(web, Plan("soft-focused"), [0, 1, 0], ALL).order.tolist() == [0, 1, 2]


def test_the_queue_counts_what_waits_and_the_page_itself() -> None:
    web = graph([[1, 2], [2, 3], [], []], [True] * 4)
    result = run(web, Plan("breadth-first"), [0], ALL)
    assert result.queue.tolist() == [1, 2, 2, 1]
    assert result.max_queue == 2


def test_the_budget_ends_the_crawl() -> None:
    web = graph([[1, 2], [3], [], []], [True] * 4)
    assert run(web, Plan("depth-first"), [0], 2).order.tolist() == [0, 1]
    assert run(web, Plan("breadth-first"), [0], 3).order.tolist() == [0, 1, 2]


def test_targets_that_are_not_pages_are_passed_over() -> None:
    web = graph([[7, 1], [9]], [True, True])
    for plan in every_plan(2):
        assert run(web, plan, [0], ALL).order.tolist() == [0, 1]


def test_a_strategy_it_does_not_know_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="'best-first'"):
        run(graph([[]], [True]), Plan("best-first"), [0], ALL)


@pytest.mark.parametrize("prioritised", [False, True])
def test_limited_distance_takes_any_n(prioritised: bool) -> None:
    chain = graph([[k + 1] for k in range(999)] + [[]], [False] * 1000)
    for n in (10, 252, 253, 254, 400):
        assert len(run(chain, limited(n, prioritised), [0], ALL).order) == n + 1


def test_the_queues_grow_with_what_waits() -> None:
    pages = 200_000
    star = graph([list(range(1, pages)), *([] for _ in range(pages - 1))], [True] * pages)
    for plan in every_plan(pages):
        result = run(star, plan, [0], ALL)
        assert result.order.tolist() == list(range(pages))
        assert result.max_queue == pages - 1


def test_in_links_has_as_many_ranks_as_a_page_has_relevant_parents() -> None:
    parents = 300
    web = graph([[*range(1, parents), parents]] + [[parents]] * (parents - 1) + [[]], [True] * (parents + 1))
    assert run(web, Plan("in-links"), [*range(parents)], ALL).order[-1] == parents


# A model of the semantics, slow and plain, and the machine against it on random webs.


@dataclass
class Model:
    links: list[list[int]]
    relevant: list[bool]
    plan: Plan
    waiting: dict[int, tuple[float, int, int]] = field(default_factory=dict)  # page: key, arrival, distance
    closed: set[int] = field(default_factory=set)
    arrivals: int = 0

    def crawl(self, seeds: list[int], budget: int) -> tuple[list[int], list[int]]:
        order: list[int] = []
        queue: list[int] = []
        for seed in dict.fromkeys(seeds):
            self.waiting[seed] = (SOONEST, self.next_arrival(), 0)
        while self.waiting and len(order) < budget:
            page = min(self.waiting, key=lambda p: (-self.waiting[p][0], self.waiting[p][1]))
            queue.append(len(self.waiting))
            order.append(page)
            _, _, distance = self.waiting.pop(page)
            self.closed.add(page)
            self.offer(page, 0 if self.relevant[page] else distance + 1, visit=len(order))
        return order, queue

    def offer(self, page: int, distance: int, visit: int) -> None:
        for target in self.links[page]:
            if target in self.closed or target >= len(self.links):
                continue
            if target in self.waiting:
                self.sight_again(target, page, distance, visit)
            elif self.admits(page, distance):
                key = self.key(target, page, distance, visit, 0)
                self.waiting[target] = (key, self.next_arrival(), distance)

    def sight_again(self, target: int, page: int, distance: int, visit: int) -> None:
        old_key, arrival, old_distance = self.waiting[target]
        key = self.key(target, page, distance, visit, old_key)
        if key > old_key:
            self.waiting[target] = (key, self.next_arrival(), distance)
        elif key == old_key and distance < old_distance:
            self.waiting[target] = (key, arrival, distance)

    def admits(self, page: int, distance: int) -> bool:
        match self.plan.strategy:
            case "hard-focused":
                return self.relevant[page]
            case "limited-distance":
                return distance <= self.plan.n
        return True

    def key(self, target: int, page: int, distance: int, visit: int, old_key: float) -> float:
        match self.plan.strategy:
            case "depth-first":
                return visit
            case "soft-focused":
                return int(self.relevant[page])
            case "limited-distance" if self.plan.prioritised:
                return -distance
            case "in-links":
                return old_key + self.relevant[page]
            case "oracle":
                assert self.plan.levels is not None
                return -int(self.plan.levels[target])
        return 0

    def next_arrival(self) -> int:
        self.arrivals += 1
        return self.arrivals


def every_plan(pages: int) -> list[Plan]:
    plain = [Plan(name) for name in ("breadth-first", "depth-first", "hard-focused", "soft-focused", "in-links")]
    distances = [limited(n, prioritised) for n in (0, 1, 2, 3, 300) for prioritised in (False, True)]
    return [*plain, *distances, Plan("oracle", levels=np.zeros(pages, np.int32))]


@st.composite
def webs(draw: st.DrawFn) -> tuple[list[list[int]], list[bool], list[int], list[int]]:
    """Links (some to what is no page), relevance, levels and seeds."""
    pages = draw(st.integers(1, 30))
    target = st.integers(0, pages)
    links = draw(st.lists(st.lists(target, max_size=6, unique=True), min_size=pages, max_size=pages))
    relevant = draw(st.lists(st.booleans(), min_size=pages, max_size=pages))
    level = st.one_of(st.integers(0, 4), st.just(FAR))
    levels = draw(st.lists(level, min_size=pages, max_size=pages))
    seeds = draw(st.lists(st.integers(0, pages - 1), min_size=1, max_size=4))
    return links, relevant, levels, seeds


def both(
    links: list[list[int]], relevant: list[bool], plan: Plan, seeds: list[int], budget: int
) -> tuple[tuple[list[int], list[int]], CompiledCrawl]:
    return Model(links, relevant, plan).crawl(seeds, budget), run(graph(links, relevant), plan, seeds, budget)


@settings(max_examples=times(100), deadline=None)
@given(webs(), st.integers(1, 40))
def test_the_machine_does_what_the_model_does(
    web: tuple[list[list[int]], list[bool], list[int], list[int]], budget: int
) -> None:
    links, relevant, levels, seeds = web
    for plan in [*every_plan(len(links))[:-1], Plan("oracle", levels=np.array(levels, np.int32))]:
        (order, queue), result = both(links, relevant, plan, seeds, budget)
        assert result.order.tolist() == order, plan
        assert result.queue.tolist() == queue, plan


@settings(max_examples=times(40), deadline=None)
@given(webs())
def test_distance_zero_is_hard_focused_and_unlimited_distance_is_breadth_first(
    web: tuple[list[list[int]], list[bool], list[int], list[int]],
) -> None:
    links, relevant, _, seeds = web
    toy = graph(links, relevant)

    def order(plan: Plan) -> list[int]:
        return list(run(toy, plan, seeds, ALL).order)

    assert order(limited(0)) == order(limited(0, prioritised=True)) == order(Plan("hard-focused"))
    assert order(limited(10**12)) == order(Plan("breadth-first"))


def test_verdicts_on_more_or_fewer_pages_than_the_web_has_are_refused(tmp_path: Path) -> None:
    web = Web.open(write_web(tmp_path / "web", [[1], [2], [0]], {"relevant": [0]}))
    for judged in (2, 4):
        with pytest.raises(BadInput, match=rf"{judged} pages were judged, but the web web has 3"):
            LinkGraph.of(web, np.zeros(judged, np.bool_))


@pytest.mark.parametrize("seed", [-1, 3, 2**40])
@pytest.mark.parametrize("strategy", ["breadth-first", "depth-first"])
def test_a_seed_that_is_no_page_is_refused(seed: int, strategy: str) -> None:
    web = graph([[1], [2], [0]], [True, False, False])
    with pytest.raises(UsageError, match=rf"seed {seed} is not the number of a page; they go from 0 to 2"):
        run(web, Plan(strategy), [0, seed], ALL)
