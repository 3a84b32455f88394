"""Harvest, coverage, area and politeness, on figures small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from spoor.events import Event, HostOpened, Visited
from spoor.measure.harvest import Run, Yardstick, measure
from spoor.measure.politeness import politeness
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


def visited(host: str, start: float, end: float) -> Event:
    visit = Visit(f"http://{host}/", host, 0, start)
    return Visited(visit, end, 200, 0, Verdict(1.0, True, "good"), 0, 0, (), 1)


def test_a_visit_too_soon_is_a_violation() -> None:
    told = politeness([visited("a.test", 0.0, 1.0), visited("a.test", 1.5, 2.0)], rest=1.0)
    (violation,) = told.violations
    assert (violation.host, violation.rest, violation.due) == ("a.test", 0.5, 1.0)
    assert told.tightest == pytest.approx(0.5)


def test_hosts_do_not_disturb_one_another() -> None:
    told = politeness([visited("a.test", 0.0, 1.0), visited("b.test", 1.0, 2.0)], rest=1.0)
    assert told.violations == () and told.tightest is None and told.hosts == 2


def test_a_host_that_asks_for_more_rest_is_due_it() -> None:
    asked = HostOpened(Visit("//a.test/robots.txt", "a.test", 0, 0.0, "robots"), 0.0, rest=5.0)
    told = politeness([asked, visited("a.test", 5.0, 6.0), visited("a.test", 8.0, 9.0)], rest=1.0)
    assert len(told.violations) == 1
