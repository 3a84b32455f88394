"""Strategies on a web: who finds the wanted pages soonest? Runs, measures, and sets them side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

import numpy as np

from spoor import assembly
from spoor.course import Course, Task
from spoor.crawl import Crawl, Limits
from spoor.drivers import compiled
from spoor.drivers.simulated import simulate
from spoor.errors import BadInput, UsageError
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier import Frontier, MemoryStore
from spoor.judge.charset import Charset
from spoor.judge.truth import Truth
from spoor.measure.accuracy import Accuracy, accuracy
from spoor.measure.harvest import Run, Score, Yardstick, measure
from spoor.webs.recorded import RecordedWorld

COMPILED_FROM = 100_000
"""Pages from which `auto` takes the compiled driver where it can; below that the simulated one is quicker to start."""


@lru_cache(maxsize=2)
def course(task: Task) -> Course:
    """Each process prepares a task once."""
    return Course(task)


def run(task: Task, strategy: str) -> Run:
    """One strategy on one task, with the driver the task asks for."""
    prepared = course(task)
    budget = prepared.yardstick.budget
    if _takes_compiled(prepared, strategy):
        return _run_compiled(prepared, strategy, budget)
    return _run_simulated(prepared, strategy, budget)


def crawl_of(prepared: Course, strategy: str, frontier: Frontier, budget: int) -> tuple[Crawl, RecordedWorld]:
    """A crawl ready to be driven, and the world to drive it on."""
    name, _ = assembly.strategy_named(strategy)
    level_of = _level_of(prepared, name) if name in assembly.ORACLES else None
    parts = assembly.strategy(strategy, prepared.judge(), level_of)
    crawl = Crawl(parts, frontier, Limits(visits=budget))
    crawl.begin(prepared.web.urls[number] for number in prepared.seeds)
    if parts.reads_content and not prepared.web.has_content:
        remedy = "build it from WARC files, or generate it with --text"
        raise BadInput(f"{strategy} with judge {prepared.task.judge} reads texts, the web has none; {remedy}")
    return crawl, prepared.world(parts.reads_content)


def _level_of(prepared: Course, oracle: str) -> Callable[[str], int]:
    levels, number = prepared.levels(oracle), prepared.world(with_content=False).number

    def level_of(url: str) -> int:
        page = number(url)
        return int(levels[page]) if page is not None and page < len(levels) else int(np.iinfo(np.int32).max)

    return level_of


def _run_simulated(prepared: Course, strategy: str, budget: int) -> Run:
    began = time.perf_counter()
    crawl, world = crawl_of(prepared, strategy, Frontier(MemoryStore()), budget)
    run = visit_by_visit(simulate(crawl, world), world)
    return replace(run, seconds=time.perf_counter() - began)


def visit_by_visit(events: Iterable[Event], world: RecordedWorld) -> Run:
    """What each visit brought, and the queue before it. Redirects and failures are visits too."""
    order, found, queue, stored, sizes = [], [], [], [], []
    for event in events:
        if isinstance(event, Visited | Redirected | Failed) and event.visit.purpose == "page":
            number = world.number(event.visit.url)
            order.append(-1 if number is None else number)
            page = event if isinstance(event, Visited) else None
            found.append(page is not None and world.truth(event.visit.url))
            queue.append(event.waiting)
            stored.append(page is not None and page.verdict.relevant)
            sizes.append(0 if page is None else page.size)
    return Run(
        np.array(order, np.int32),
        np.array(found, np.bool_),
        np.array(queue, np.int32),
        np.array(stored, np.bool_),
        np.array(sizes, np.int32),
        seconds=0.0,
    )


def _takes_compiled(prepared: Course, strategy: str) -> bool:
    driver = prepared.task.driver
    obstacle = _obstacle(prepared, strategy)
    if driver == "compiled" and obstacle:
        raise UsageError(f"the compiled driver cannot run this: {obstacle}; use --driver simulated")
    return not obstacle and (driver == "compiled" or (driver == "auto" and prepared.web.pages >= COMPILED_FROM))


def _obstacle(prepared: Course, strategy: str) -> str:
    """Why the compiled driver cannot run a strategy here, or nothing."""
    if _plan_name(strategy) not in compiled.SUPPORTED:
        return f"it does not know {strategy}"
    if prepared.web.redirects is not None or not prepared.web.answers().all():
        return f"the web {prepared.web.name} has redirects or errors"
    if prepared.task.open_ended:
        return "links out of the web are to be tried"
    return "" if isinstance(prepared.judge(), Truth | Charset) else f"the judge {prepared.task.judge} reads texts"


def _plan_name(strategy: str) -> str:
    return assembly.strategy_named(strategy)[0].removeprefix("prioritised-")


def _run_compiled(prepared: Course, strategy: str, budget: int) -> Run:
    began = time.perf_counter()
    name, given = assembly.strategy_named(strategy)
    plan = compiled.Plan(
        _plan_name(strategy),
        n=given.get("n", assembly.STRATEGIES[name].parameters().get("n", 0)),
        prioritised=name.startswith("prioritised-"),
        levels=prepared.levels(name) if name in assembly.ORACLES else None,
    )
    judged = prepared.judged()
    done = compiled.run(compiled.LinkGraph.of(prepared.web, judged), plan, prepared.seeds, budget)
    order, seconds = done.order, time.perf_counter() - began
    return Run(order, prepared.wanted[order], done.queue, judged[order], prepared.web.array("size")[order], seconds)


@dataclass(frozen=True)
class Comparison:
    """The scores of all strategies on a task, in the order asked for; the oracle is always among them."""

    task: Task
    reachable: int
    yardstick: Yardstick
    scores: tuple[Score, ...]

    def as_json(self) -> dict[str, Any]:
        """The fixed form that scripts rely on."""
        return {
            "web": str(self.task.web),
            "target": self.task.target,
            "judge": self.task.judge,
            "seeds": list(self.task.seeds),
            "reachable": self.reachable,
            "relevant": self.yardstick.relevant,
            "budget": self.yardstick.budget,
            "results": [score.as_json() for score in self.scores],
        }


def compare(task: Task, strategies: Sequence[str], pool: Executor, advance: Callable[[int], None]) -> Comparison:
    """Runs the strategies side by side; `advance` is told of each that is done."""
    names = list(dict.fromkeys([*strategies, "oracle"]))
    for name in names:
        if reason := refusal(task, name):
            raise reason
    prepared = course(task)
    against = prepared.yardstick
    runs = _side_by_side([(task, name) for name in names], pool, advance)
    ceiling = measure("oracle", runs[names.index("oracle")], against).area
    scores = tuple(measure(name, one, against, ceiling) for name, one in zip(names, runs, strict=True))
    return Comparison(task, prepared.reachable_pages, against, scores)


def accuracy_of_judge(task: Task) -> Accuracy:
    """Against the label, over the pages that can be reached."""
    prepared = course(task)
    there = prepared.reachable & prepared.web.answers()
    return accuracy(prepared.judged()[there], prepared.wanted[there])


def refusal(task: Task, strategy: str) -> UsageError | None:
    """Why a strategy does not take a task, such as one without a language; None: it does."""
    name, _ = assembly.strategy_named(strategy)
    try:
        if name not in assembly.ORACLES:
            assembly.strategy(strategy, course(task).judge())
    except UsageError as error:
        return error
    return None


def _side_by_side(jobs: Sequence[tuple[Task, str]], pool: Executor, advance: Callable[[int], None]) -> list[Run]:
    futures: list[Future[Run]] = [pool.submit(run, *job) for job in jobs]
    for _ in as_completed(futures):
        advance(1)
    return [future.result() for future in futures]


def workers(count: int) -> ProcessPoolExecutor:
    """Processes to compare in. Spawned, not forked: a progress bar's thread does not survive a fork."""
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"))
