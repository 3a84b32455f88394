"""The simulated and the compiled driver visit the same pages in the same order."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from spoor.errors import UsageError
from spoor.lab.runs import run
from spoor.lab.task import PreparedTask, Task
from spoor.lab.web import Web
from tests.effort import times
from tests.handmade_web import write_web

GRAPHS = times(50)
STRATEGIES = (
    "breadth-first",
    "depth-first",
    "hard-focused",
    "soft-focused",
    "limited-distance:n=0",
    "limited-distance:n=1",
    "limited-distance:n=3",
    "prioritised-limited-distance:n=1",
    "prioritised-limited-distance:n=3",
    "in-links",
    "oracle",
    "greedy-oracle",
)


def random_links(rng: random.Random) -> tuple[list[list[int]], list[int]]:
    """Links and relevant pages; page 0 is a seed and relevant, so that there is something to find."""
    pages = rng.randint(2, 40)
    density = rng.choice([1.0, 2.0, 4.0])
    links = [rng.sample(range(pages), min(pages, int(rng.expovariate(1 / density)))) for _ in range(pages)]
    relevant = [0, *[page for page in range(1, pages) if rng.random() < rng.choice([0.2, 0.5])]]
    return [[t for t in found if t != page] for page, found in enumerate(links)], relevant


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[Task]:
    rng = random.Random(20261115)
    folder = tmp_path_factory.mktemp("graphs")
    return [_task(folder / str(number), rng) for number in range(GRAPHS)]


def _task(folder: Path, rng: random.Random) -> Task:
    """A fifth of the pages are errors, on every other web."""
    links, relevant = random_links(rng)
    errors = [page for page in range(1, len(links)) if rng.random() < 0.2] if rng.random() < 0.5 else []
    for page in errors:
        links[page] = []
    urls = Web.open(with_errors(write_web(folder, links, {"relevant": relevant}), errors)).urls
    seeds = [0, *rng.sample(range(len(links)), min(2, len(links)))]
    budget = rng.choice([len(links), rng.randint(1, len(links))])
    return Task(folder, "relevant", tuple(urls[seed] for seed in seeds), budget=budget)


def with_errors(folder: Path, errors: list[int]) -> Path:
    status = np.load(folder / "status.npy")
    status[errors] = 404
    np.save(folder / "status.npy", status)
    return folder


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_both_drivers_give_the_same_order_and_the_same_queue(strategy: str, tasks: list[Task]) -> None:
    for task in tasks:
        simulated = run(replace(task, driver="simulated"), strategy)
        compiled = run(replace(task, driver="compiled"), strategy)
        assert simulated.order.tolist() == compiled.order.tolist(), task
        assert simulated.queue.tolist() == compiled.queue.tolist(), task
        assert simulated.found.tolist() == compiled.found.tolist(), task
        assert simulated.failed is not None and compiled.failed is not None
        assert simulated.failed.tolist() == compiled.failed.tolist(), task
        assert simulated.sizes.tolist() == compiled.sizes.tolist(), task


@pytest.mark.parametrize("driver", ["simulated", "compiled"])
def test_an_error_costs_a_request_and_finds_nothing(tmp_path: Path, driver: Literal["simulated", "compiled"]) -> None:
    folder = with_errors(write_web(tmp_path / "web", [[1, 2], [], []], {"relevant": [0, 1, 2]}), [1])
    task = Task(folder, "relevant", ("http://h0.test/",), driver=driver)
    done = run(task, "breadth-first")
    assert done.found.tolist() == [True, False, True]
    assert done.queue.tolist() == [1, 2, 1]
    assert PreparedTask(task).yardstick.relevant == 2


def test_a_web_with_redirects_is_not_for_the_compiled_driver(tmp_path: Path) -> None:
    folder = write_web(tmp_path / "web", [[1, 2], [], []], {"relevant": [0, 1, 2]})
    np.save(folder / "redirect.npy", np.array([-1, 2, -1], np.int32))
    task = Task(folder, "relevant", ("http://h0.test/",), driver="compiled")
    with pytest.raises(UsageError, match="has redirects"):
        run(task, "breadth-first")
    assert run(replace(task, driver="auto"), "breadth-first").order.tolist() == [0, 1]
