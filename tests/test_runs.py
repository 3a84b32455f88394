"""One strategy on one task, in the lab and in the field: orders of the seeds, and the two oracles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spoor.errors import UsageError
from spoor.lab.runs import run, run_fast_oracle, score
from spoor.lab.task import PreparedTask, Task
from spoor.lab.worlds import FIELD, Conditions
from tests.handmade_web import write_web

PAGES = 60
USELESS = tuple(range(50, 60))
"""The pages of the last host link only to one another, and none is relevant."""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Six hosts of ten pages in a ring: each page links to the next, to one of the next host, and to a useless one."""
    links = [[(page + 1) % 50, (page + 10) % 50, 50 + page % 10] for page in range(50)]
    links += [[50 + (page + 1) % 10] for page in range(10)]
    web = write_web(tmp_path / "web", links, {"relevant": [page for page in range(50) if page % 3 == 0]})
    return Task(web, "relevant", tuple(f"http://h{host}.test/" for host in range(3)))


def in_the_field(task: Task, conditions: Conditions = FIELD) -> Task:
    return replace(task, conditions=conditions)


class TestOrders:
    def test_a_run_begins_with_the_seeds_in_their_order(self, task: Task) -> None:
        orders = PreparedTask(task).seed_orders(6)
        begun = {tuple(run(task, "breadth-first", order).order[:3].tolist()) for order in range(6)}
        assert begun == set(orders) and run(task, "breadth-first").order[:3].tolist() == list(orders[0])

    def test_the_compiled_driver_begins_with_them_too(self, task: Task) -> None:
        compiled = run(replace(task, driver="compiled"), "breadth-first", order=3)
        assert compiled.order.tolist() == run(task, "breadth-first", order=3).order.tolist()

    def test_in_the_field_each_order_meets_a_network_of_its_own(self, task: Task) -> None:
        first, second = (run(in_the_field(task), "breadth-first", order).timing for order in (0, 1))
        assert first is not None and second is not None
        assert first.elapsed != second.elapsed

    def test_the_same_order_is_the_same_run(self, task: Task) -> None:
        first, again = (run(in_the_field(task), "breadth-first", 2) for _ in range(2))
        assert first.order.tolist() == again.order.tolist() and first.timing is not None and again.timing is not None
        assert first.timing.ends.tolist() == again.timing.ends.tolist()


class TestConditions:
    def test_hosts_are_asked_for_their_rules_and_left_their_delay(self, task: Task) -> None:
        timing = run(in_the_field(task), "breadth-first").timing
        assert timing is not None and timing.politeness.violations == ()
        assert timing.robots == timing.politeness.hosts == 6

    def test_no_more_requests_are_under_way_than_there_are_connections(self, task: Task) -> None:
        timing = run(in_the_field(task, replace(FIELD, connections=2)), "breadth-first").timing
        assert timing is not None
        under_way = [int(((timing.starts <= at) & (timing.ends > at)).sum()) for at in timing.starts]
        assert max(under_way) == 2

    def test_the_compiled_driver_has_no_clock(self, task: Task) -> None:
        with pytest.raises(UsageError, match="it has no clock; use --driver simulated"):
            run(replace(in_the_field(task), driver="compiled"), "breadth-first")


class TestOracles:
    def test_by_visits_it_has_the_order_of_the_lab(self, task: Task) -> None:
        lab, field = run(task, "oracle"), run(in_the_field(task, replace(FIELD, failures=0.0)), "oracle")
        assert field.order.tolist() == lab.order.tolist()

    def test_by_visits_it_tries_again_what_failed_before_it_asks_for_anything_useless(self, task: Task) -> None:
        done = run(replace(in_the_field(task, replace(FIELD, failures=0.2)), budget=200), "oracle")
        assert done.failed is not None and done.failed.sum() > 5
        last_find, first_useless = done.found.nonzero()[0][-1], np.isin(done.order, USELESS).nonzero()[0][0]
        assert last_find < first_useless and done.found.sum() == PreparedTask(task).yardstick.relevant

    def test_by_time_nothing_useless_is_asked_for_and_it_ends_when_everything_is_found(self, task: Task) -> None:
        fast = run_fast_oracle(in_the_field(task))
        assert not np.isin(fast.order, USELESS).any()
        assert fast.found[-1] and fast.found.sum() == PreparedTask(task).yardstick.relevant

    def test_by_time_it_is_faster_than_by_visits_alone(self, task: Task) -> None:
        own = run(in_the_field(task, replace(FIELD, connections=1)), "greedy-oracle").timing
        fast = run_fast_oracle(in_the_field(task)).timing
        assert own is not None and fast is not None and fast.elapsed < own.elapsed

    def test_the_score_of_the_oracle_has_its_visits_from_the_one_and_its_time_from_the_other(self, task: Task) -> None:
        field = in_the_field(task)
        told, slow, fast = score(field, "oracle"), run(field, "oracle"), run_fast_oracle(field)
        assert fast.timing is not None
        assert told.visits == len(slow.order) and told.elapsed == fast.timing.elapsed
        assert told.found_at == tuple(fast.timing.ends[fast.found])
