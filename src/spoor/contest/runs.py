"""One strategy on one task: the crawl put together, driven, and written down visit by visit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from spoor import assembly
from spoor.admit.all_of import AllOf
from spoor.admit.scope import Scope
from spoor.course import Course, Task
from spoor.crawl import Crawl, Limits
from spoor.drivers import compiled
from spoor.drivers.simulated import simulate
from spoor.errors import BadInput, UsageError
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier import Frontier, MemoryStore
from spoor.judge.charset import Charset
from spoor.judge.truth import Truth
from spoor.measure.harvest import Run
from spoor.strategy import Strategy
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
    parts = _parts(prepared, strategy)
    crawl = Crawl(parts, frontier, Limits(visits=budget))
    crawl.begin(prepared.web.urls[number] for number in prepared.seeds)
    if parts.needs_content and not prepared.web.has_content:
        remedy = "build it from WARC files, or generate it with --text"
        raise BadInput(f"{strategy} with judge {prepared.task.judge} reads texts, the web has none; {remedy}")
    return crawl, prepared.world(parts.reads_content)


def _parts(prepared: Course, strategy: str) -> Strategy:
    """The strategy as it is named, with verdicts that are known already, under the cap that the task sets."""
    name, _ = assembly.strategy_named(strategy)
    level_of = _level_of(prepared, name) if name in assembly.ORACLES else None
    parts = assembly.strategy(strategy, prepared.judge(), level_of)
    if prepared.task.verdicts is not None:
        parts = replace(parts, judge=prepared.remembered())
    if prepared.task.per_host is not None:
        parts = replace(parts, admission=AllOf((parts.admission, Scope(pages_per_host=prepared.task.per_host))))
    return parts


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
    if prepared.task.per_host is not None:
        return "it counts no pages per host"
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
