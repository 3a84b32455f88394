"""Harvest, coverage, area and politeness, on figures small enough to check by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as any_of

from spoor.events import Event, Failed, HostOpened, Redirected, Visited
from spoor.lab.delays import politeness
from spoor.lab.measures import Run, Score, Yardstick, area_by_time, beside, measure, timing
from spoor.lab.task import over_orders, seed_orders
from spoor.records import Verdict, Visit


def run(found: str, queue: list[int] | None = None) -> Run:
    """`run("1101")`: a crawl of four visits, the third in vain."""
    hits = np.array([mark == "1" for mark in found], np.bool_)
    order, sizes = np.arange(len(hits), dtype=np.int32), np.full(len(hits), 1000, np.int32)
    return Run(order, hits, np.array(queue or [1] * len(hits), np.int32), hits, sizes, 0.5)


def test_area_is_the_mean_share_found_over_the_budget() -> None:
    assert measure("s", run("1101"), Yardstick(relevant=3, budget=4)).area == pytest.approx((1 + 2 + 2 + 3) / 3 / 4)


def test_a_crawl_that_ends_early_keeps_its_last_value() -> None:
    assert measure("s", run("11"), Yardstick(relevant=2, budget=4)).area == pytest.approx((1 + 2 + 2 + 2) / 2 / 4)


def test_normalised_is_the_share_of_the_oracle() -> None:
    assert measure("s", run("01"), Yardstick(1, 2), ceiling=1.0).normalised == pytest.approx(0.5)
    assert measure("s", run("01"), Yardstick(1, 2)).normalised is None


def test_r_precision_is_the_share_found_after_as_many_visits_as_are_wanted() -> None:
    assert measure("s", run("1001"), Yardstick(relevant=2, budget=4)).r_precision == 0.5


def test_n90_counts_visits_until_nine_tenths_are_found() -> None:
    assert measure("s", run("1" * 8 + "0" + "11"), Yardstick(relevant=10, budget=11)).n90 == 10
    assert measure("s", run("1000"), Yardstick(relevant=2, budget=4)).n90 is None


def test_what_lies_beyond_the_budget_does_not_count() -> None:
    score = measure("s", run("1111"), Yardstick(relevant=4, budget=2))
    assert (score.visits, score.found, score.coverage) == (2, 2, 0.5)


def test_the_largest_queue_is_reported() -> None:
    assert measure("s", run("111", [1, 7, 3]), Yardstick(3, 3)).max_queue == 7


def test_the_curve_ends_with_the_last_visit() -> None:
    score = measure("s", run("10" * 500, list(range(1000))), Yardstick(500, 1000))
    assert score.curve[0] == (1, 1, 0)
    assert score.curve[-1] == (1000, 500, 999)
    assert len(score.curve) <= 200


def test_a_crawl_without_visits_has_found_nothing() -> None:
    score = measure("s", run(""), Yardstick(relevant=2, budget=3))
    assert (score.area, score.r_precision, score.n90, score.curve) == (0.0, 0.0, None, ())


class TestTime:
    """Two relevant pages among four visits on two connections, the third of which fails."""

    EVENTS: tuple[Event, ...] = (
        HostOpened(Visit("http://a.test/robots.txt", "a.test", 0, 0.0, "robots"), 1.0, delay=1.0),
        *(
            Visited(Visit("http://a.test/", "a.test", 0, s), e, 200, 0, Verdict(1.0, True, ""), 0, 0, (), 1)
            for s, e in ((1.0, 2.0), (3.0, 4.0))
        ),
        Failed(Visit("http://a.test/", "a.test", 0, 4.0), 6.0, "timed out", None, 1),
        Visited(Visit("http://a.test/", "a.test", 0, 7.0), 8.0, 200, 0, Verdict(1.0, True, ""), 0, 0, (), 1),
    )

    def score(self, found: str = "1001", relevant: int = 2) -> Score:
        clock = timing(self.EVENTS, connections=2, delay=1.0)
        failed = np.array([False, False, True, False])
        return measure("s", replace(run(found), failed=failed, timing=clock), Yardstick(relevant, budget=4))

    def test_the_time_until_half_and_nine_tenths_are_found_is_that_of_the_find(self) -> None:
        assert (self.score().half_time, self.score().n90_time) == (2.0, 8.0)
        assert (self.score(relevant=4).half_time, self.score(relevant=4).n90_time) == (8.0, None)

    def test_connections_are_idle_when_no_request_is_under_way(self) -> None:
        assert self.score().elapsed == 8.0
        assert self.score().idle == pytest.approx(1 - (1 + 1 + 1 + 2 + 1) / (2 * 8.0))

    def test_requests_for_robots_rules_are_paid_for_by_the_pages_found(self) -> None:
        assert (self.score().requests, self.score().requests_per_relevant) == (5, 2.5)
        assert self.score("0000").requests_per_relevant is None

    def test_visits_that_brought_no_page_are_the_share_that_failed(self) -> None:
        assert self.score().failed == 0.25

    def test_the_curve_by_time_has_the_end_of_each_visit(self) -> None:
        assert self.score().curve_time == ((2.0, 1), (4.0, 1), (6.0, 1), (8.0, 2))

    def test_the_area_by_time_is_the_mean_share_found_until_the_horizon(self) -> None:
        assert area_by_time([2.0, 8.0], relevant=2, until=10.0) == pytest.approx((0 * 2 + 0.5 * 6 + 1.0 * 2) / 10)
        assert area_by_time([2.0, 12.0], relevant=2, until=10.0) == pytest.approx(0.5 * 8 / 10)

    def test_time_is_normalised_by_the_oracle_over_four_times_what_that_needed(self) -> None:
        oracle = replace(self.score(), found_at=(1.0, 2.0))
        score = beside(self.score(), oracle, Yardstick(2, 4))
        assert score.horizon == 8.0
        assert score.normalised_time == pytest.approx((6 + 0) / (7 + 6))
        assert beside(oracle, oracle, Yardstick(2, 4)).normalised_time == 1.0

    def test_nothing_takes_time_in_the_lab(self) -> None:
        score = beside(
            measure("s", run("1001"), Yardstick(2, 4)), measure("o", run("11"), Yardstick(2, 4)), Yardstick(2, 4)
        )
        assert score.normalised is not None and score.requests_per_relevant == 2.0
        assert (score.normalised_time, score.elapsed, score.idle, score.half_time, score.curve_time) == (None,) * 5

    def test_an_oracle_that_found_nothing_is_nothing_to_compare_with(self) -> None:
        score = beside(self.score(), self.score("0000"), Yardstick(2, 4))
        assert (score.normalised, score.normalised_time, score.horizon) == (None, None, None)


class TestOrders:
    @given(any_of.lists(any_of.text(), unique=True, min_size=1, max_size=6), any_of.integers(1, 8))
    def test_orders_of_the_seeds_are_different_begin_with_the_given_one_and_do_not_depend_on_how_many(
        self, seeds: list[str], most: int
    ) -> None:
        orders = seed_orders(seeds, most)
        assert orders[0] == tuple(seeds)
        assert len(set(orders)) == len(orders) <= most
        assert all(sorted(order) == sorted(seeds) for order in orders)
        assert seed_orders(seeds, 1) == orders[:1] and seed_orders(seeds, most + 1)[: len(orders)] == orders

    def test_there_are_no_more_orders_than_the_seeds_allow(self) -> None:
        assert [len(seed_orders("abc"[:seeds], 10)) for seeds in (1, 2, 3)] == [1, 2, 6]

    def test_scores_of_several_orders_are_one_with_means_and_spread(self) -> None:
        first, second = (measure("s", run(found), Yardstick(2, 4), ceiling=1.0) for found in ("1100", "0010"))
        whole = over_orders([first, second])
        assert (whole.found, whole.visits, whole.coverage) == (1.5, 4, 0.75)
        areas = (1 + 2 + 2 + 2) / 8, (1 + 1) / 8
        assert whole.normalised == pytest.approx(sum(areas) / 2)
        assert whole.spread == pytest.approx((areas[0] - areas[1]) / 2**0.5)
        assert [order.found for order in whole.orders] == [2, 1] and whole.curve == first.curve
        assert whole.requests_per_relevant == pytest.approx(8 / 3), "of all orders together"

    def test_visits_until_nine_tenths_are_the_median_where_never_is_longer_than_any(self) -> None:
        twice, never = (measure("s", run(found), Yardstick(2, 4)) for found in ("1100", "0010"))
        assert over_orders([twice, twice, never]).n90 == 2
        assert over_orders([twice, never, never]).n90 is None

    def test_one_order_has_no_spread(self) -> None:
        score = over_orders([measure("s", run("11"), Yardstick(2, 2), ceiling=1.0)])
        assert score.spread is None and len(score.orders) == 1 and score.found == 2


def visited(host: str, start: float, end: float) -> Event:
    visit = Visit(f"http://{host}/", host, 0, start)
    return Visited(visit, end, 200, 0, Verdict(1.0, True, "good"), 0, 0, (), 1)


def test_a_visit_too_soon_is_a_violation() -> None:
    told = politeness([visited("a.test", 0.0, 1.0), visited("a.test", 1.5, 2.0)], delay=1.0)
    (violation,) = told.violations
    assert (violation.host, violation.delay, violation.due) == ("a.test", 0.5, 1.0)
    assert told.tightest == pytest.approx(0.5)


def test_hosts_do_not_disturb_one_another() -> None:
    told = politeness([visited("a.test", 0.0, 1.0), visited("b.test", 1.0, 2.0)], delay=1.0)
    assert told.violations == () and told.tightest is None and told.hosts == 2


def test_a_host_that_asks_for_more_rest_is_due_it() -> None:
    asked = HostOpened(Visit("http://a.test/robots.txt", "a.test", 0, 0.0, "robots"), 0.0, delay=5.0)
    told = politeness([asked, visited("a.test", 5.0, 6.0), visited("a.test", 8.0, 9.0)], delay=1.0)
    assert len(told.violations) == 1


def test_a_robots_txt_that_is_elsewhere_asks_for_rest_too() -> None:
    led = Redirected(Visit("http://a.test/robots.txt", "a.test", 0, 0.0, "robots"), 0.0, "http://b.test/r", "", 1)
    asked = HostOpened(Visit("http://b.test/r", "b.test", 0, 0.0, "robots"), 1.0, delay=5.0)
    told = politeness([led, asked, visited("a.test", 5.0, 6.0), visited("a.test", 8.0, 9.0)], delay=1.0)
    assert [violation.at for violation in told.violations] == [8.0]
