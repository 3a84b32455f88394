"""Runs one strategy on one task: builds the crawl, drives it, and records it visit by visit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from spoor import registry
from spoor.compiled import Kernels
from spoor.crawl import Crawl
from spoor.crawling.share import Handover, Share
from spoor.errors import BadInput, UsageError
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.judging.language_judges import Charset
from spoor.lab import compiled_crawl as compiled
from spoor.lab import link_graph
from spoor.lab.link_graph import FAR
from spoor.lab.measures import Run, Score, measure, timing
from spoor.lab.sharded import Mailbag, ShardedSimulation, Sharding, SimulatedShard, drawn_table
from spoor.lab.simulated import simulate
from spoor.lab.task import CustomStrategy, PreparedTask, StrategySpec, Task
from spoor.lab.worlds import ComparedWorld, Conditions, Network, RecordedWorld
from spoor.ordering.admissions import AllOf, AtMost, RespectNofollow
from spoor.ordering.scope import Scope
from spoor.parse import simhash
from spoor.pricing import Limits
from spoor.progress import Advance, counted, unseen
from spoor.records import Visit
from spoor.roles import World
from spoor.strategy import Strategy

OF_TIME = ("elapsed", "idle", "half_time", "n90_time", "curve_time", "found_at")
"""The fields of a score that depend on time."""
COMPILED_FROM = 100_000
"""Number of pages from which `auto` prefers the compiled driver; below, the simulated driver starts faster."""


@lru_cache(maxsize=2)
def prepared_task(task: Task) -> PreparedTask:
    """Cached per process."""
    return PreparedTask(task)


def kernels_for(task: Task, strategies: Iterable[StrategySpec]) -> Kernels:
    """The compiled functions that runs of these strategies, and of the oracle, call."""
    prepared = prepared_task(task)
    kernels = [*link_graph.KERNELS]
    for strategy in strategies:
        if _takes_compiled(prepared, strategy):
            kernels += compiled.KERNELS
        elif not _is_oracle(strategy):
            kernels += (*simhash.KERNELS, *_made(prepared, strategy).kernels)
    return kernels


def run(
    task: Task, strategy: StrategySpec, order: int = 0, advance: Advance = unseen, sharding: Sharding | None = None
) -> Run:
    """One strategy on one task from one order of its seeds, under the conditions of the task; split into shards if
    `sharding` is given."""
    prepared = prepared_task(task)
    if sharding is None and _takes_compiled(prepared, strategy):
        assert isinstance(strategy, str)
        return _run_compiled(prepared, strategy, order)
    began, parts = time.perf_counter(), _parts(prepared, strategy)
    conditions = _drawn(task.conditions, order)
    conditions = _undelayed(conditions) if conditions and _is_oracle(strategy) else conditions
    limits = Limits(visits=prepared.yardstick.budget, sitemaps=task.sitemaps)
    if sharding is None:
        events, world = _simulated(prepared, parts, order, conditions, limits)
    else:
        events, world = _sharded(prepared, parts, order, conditions, limits, sharding)
    done = _written_down(counted(events, advance), world, conditions)
    return replace(done, seconds=time.perf_counter() - began)


def visits(task: Task, strategy: StrategySpec) -> Iterator[Visit]:
    """The successful visits of a crawl without conditions, each with the evidence it was selected by."""
    prepared = prepared_task(task)
    limits = Limits(visits=prepared.yardstick.budget, sitemaps=task.sitemaps)
    events, _ = _simulated(prepared, _parts(prepared, strategy), 0, None, limits)
    return (event.visit for event in events if isinstance(event, Visited))


def score(task: Task, strategy: StrategySpec, order: int = 0, sharding: Sharding | None = None) -> Score:
    """The score of a strategy, not yet normalised by the oracle."""
    return scored(task, strategy, order, run(task, strategy, order, sharding=sharding))


def scored(task: Task, strategy: StrategySpec, order: int, done: Run) -> Score:
    """With a clock, the oracle that minimises visits and the one that minimises time are separate crawls. The score of
    the oracle has its time figures from the second, all others from the first."""
    against = prepared_task(task).yardstick
    own = measure(str(strategy), done, against)
    if task.conditions is None or not _is_oracle(strategy):
        return own
    fastest = run_fast_oracle(task, order)
    fast = measure(str(strategy), fastest, replace(against, budget=len(fastest.found)))
    return replace(own, **{name: getattr(fast, name) for name in OF_TIME}, seconds=own.seconds + fast.seconds)


def _is_oracle(strategy: StrategySpec) -> bool:
    return isinstance(strategy, str) and registry.strategy_named(strategy)[0] == "oracle"


def _drawn(conditions: Conditions | None, order: int) -> Conditions | None:
    """Each order of the seeds gets its own latencies and failures: with a clock all seeds are requested at once, so the
    order alone makes almost no difference."""
    return conditions and replace(conditions, seed=conditions.seed + order)


def _undelayed(conditions: Conditions) -> Conditions:
    """The same network for an oracle that is measured only by visits. With one connection, no host delay and no wait
    before a retry, its best link is always available: the order is that of an oracle that waits for its best link."""
    return replace(conditions, connections=1, delay=0.0, retry_after=0.0)


def run_fast_oracle(task: Task, order: int = 0) -> Run:
    """The oracle that is measured by time, until it has found everything. No connection waits for a better link, but
    none is used for a link from which no relevant page is reachable. The number of visits does not matter."""
    began, prepared = time.perf_counter(), prepared_task(task)
    parts, conditions = _parts(prepared, "oracle"), _drawn(task.conditions, order)
    useful = AllOf((parts.admission, AtMost("level", FAR - 1)))
    events, world = _simulated(
        prepared, replace(parts, admission=useful), order, conditions, Limits(sitemaps=task.sitemaps)
    )
    done = _written_down(_until_found(events, world, prepared.yardstick.relevant), world, conditions)
    return replace(done, seconds=time.perf_counter() - began)


def _until_found(events: Iterable[Event], world: RecordedWorld, pages: int) -> Iterator[Event]:
    """Stops after the event that completes that many relevant pages."""
    found = 0
    for event in events:
        yield event
        found += isinstance(event, Visited) and world.truth(event.visit.url)
        if found >= pages:
            return


def _parts(prepared: PreparedTask, strategy: StrategySpec) -> Strategy:
    """Builds the strategy, with stored verdicts if there are any and the cap of the task."""
    parts = _made(prepared, strategy)
    if prepared.task.verdicts is not None:
        parts = replace(parts, judge=prepared.remembered())
    if prepared.task.conditions is not None:
        # Like a live crawl: nofollow links are not followed.
        parts = replace(parts, admission=AllOf((RespectNofollow(), parts.admission)))
    if prepared.task.per_host is not None:
        parts = replace(parts, admission=AllOf((parts.admission, Scope(pages_per_host=prepared.task.per_host))))
    if parts.needs_content and not prepared.web.has_content:
        remedy = "build it from WARC files, or generate it with --text"
        raise BadInput(f"{strategy} with judge {prepared.task.judge} reads texts, the web has none; {remedy}")
    return parts


def _made(prepared: PreparedTask, strategy: StrategySpec) -> Strategy:
    if isinstance(strategy, CustomStrategy):
        return strategy.make(prepared.judge())
    name, _ = registry.strategy_named(strategy)
    level_of = _level_of(prepared, name) if name in registry.ORACLES else None
    return registry.strategy(strategy, prepared.judge(), level_of)


def _level_of(prepared: PreparedTask, oracle: str) -> Callable[[str], int]:
    levels, number = prepared.levels(oracle), prepared.world(with_content=False).number

    def level_of(url: str) -> int:
        page = number(url)
        return int(levels[page]) if page is not None and page < len(levels) else int(np.iinfo(np.int32).max)

    return level_of


def _simulated(
    prepared: PreparedTask, parts: Strategy, order: int, conditions: Conditions | None, limits: Limits
) -> tuple[Iterator[Event], RecordedWorld]:
    """Returns the events of the crawl, as an iterator, and the recorded world. Under conditions, hosts are asked for
    robots.txt first, have a host delay, and differ in speed; where texts are read, duplicates are recognised as in a
    live crawl. Without conditions, robots.txt is requested only to find sitemaps."""
    world = prepared.world(parts.reads_content)
    crawl = Crawl(parts, Frontier(MemoryStore(), host_rules(conditions, limits)), limits)
    crawl.begin(_seeds(prepared, order))
    connections = 1 if conditions is None else conditions.connections
    return simulate(crawl, as_seen(prepared, world, parts, conditions), connections), world


def _sharded(
    prepared: PreparedTask,
    parts: Strategy,
    order: int,
    conditions: Conditions | None,
    limits: Limits,
    sharding: Sharding,
) -> tuple[Iterator[Event], RecordedWorld]:
    """The same, split into shards, each with its own model and its own duplicate detection."""
    world, shards, table = prepared.world(parts.reads_content), [], drawn_table(sharding.shards, order)
    for number in range(sharding.shards):
        bag, frontier = Mailbag(), Frontier(MemoryStore(), host_rules(conditions, limits), tallied=True)
        crawl = Crawl(parts.fresh(), frontier, limits, handover=Handover(Share(number, table), bag))
        crawl.begin(_seeds(prepared, order))
        shards.append(SimulatedShard(crawl, as_seen(prepared, world, parts, conditions), bag))
    connections = sharding.shards if conditions is None else conditions.connections
    return ShardedSimulation(shards, limits.visits, connections, sharding.late).run(), world


def host_rules(conditions: Conditions | None, limits: Limits) -> HostRules:
    delay = 0.0 if conditions is None else conditions.delay
    return HostRules(delay=delay, ask_first=conditions is not None or limits.sitemaps)


def _seeds(prepared: PreparedTask, order: int) -> Iterator[str]:
    return (prepared.web.urls[number] for number in prepared.seed_orders(order + 1)[order])


def as_seen(prepared: PreparedTask, world: World, parts: Strategy, conditions: Conditions | None) -> World:
    """Wraps the world in the simulated network if there are conditions."""
    if conditions is None:
        return world
    compared = ComparedWorld(world) if parts.reads_content and prepared.web.has_content else world
    return Network(compared, conditions)


def _written_down(events: Iterable[Event], world: RecordedWorld, conditions: Conditions | None) -> Run:
    if conditions is None:
        return visit_by_visit(events, world)
    everything = list(events)
    clock = timing(everything, conditions.connections, conditions.delay)
    return replace(visit_by_visit(everything, world), timing=clock)


def visit_by_visit(events: Iterable[Event], world: RecordedWorld) -> Run:
    """The result of each visit, and the queue length before it. Redirects and failures are visits too."""
    order, found, queue, stored, sizes, failed = [], [], [], [], [], []
    for event in events:
        if isinstance(event, Visited | Redirected | Failed) and event.visit.purpose == "page":
            number = world.number(event.visit.url)
            order.append(-1 if number is None else number)
            page = event if isinstance(event, Visited) else None
            found.append(page is not None and world.truth(event.visit.url))
            queue.append(event.waiting)
            stored.append(page is not None and page.verdict.relevant)
            sizes.append(0 if page is None else page.size)
            failed.append(page is None)
    return Run(
        np.array(order, np.int32),
        np.array(found, np.bool_),
        np.array(queue, np.int32),
        np.array(stored, np.bool_),
        np.array(sizes, np.int32),
        seconds=0.0,
        failed=np.array(failed, np.bool_),
    )


def _takes_compiled(prepared: PreparedTask, strategy: StrategySpec) -> bool:
    driver = prepared.task.driver
    obstacle = _obstacle(prepared, strategy)
    if driver == "compiled" and obstacle:
        raise UsageError(f"the compiled driver cannot run this: {obstacle}; use --driver simulated")
    return not obstacle and (driver == "compiled" or (driver == "auto" and prepared.web.pages >= COMPILED_FROM))


def _obstacle(prepared: PreparedTask, strategy: StrategySpec) -> str:
    """Why the compiled driver cannot run the strategy on this task; "" if it can."""
    if isinstance(strategy, CustomStrategy):
        return f"it does not know {strategy}"
    if registry.strategy_named(strategy)[0] not in registry.STRATEGIES.built_in:
        return f"{strategy} is a plug-in"
    if _plan_name(strategy) not in compiled.SUPPORTED:
        return f"it does not know {strategy}"
    if prepared.web.redirects is not None:
        return f"the web {prepared.web.name} has redirects"
    if np.diff(prepared.web.link_offsets)[~prepared.web.answers()].any():
        return f"the web {prepared.web.name} has errors with links"
    if prepared.task.conditions is not None:
        return "it has no clock"
    if prepared.task.sitemaps:
        return "it reads no sitemaps"
    if prepared.task.open_web:
        return "links out of the web must be tried"
    if prepared.task.per_host is not None:
        return "it counts no pages per host"
    return "" if isinstance(prepared.judge(), Truth | Charset) else f"the judge {prepared.task.judge} reads texts"


def _plan_name(strategy: str) -> str:
    return registry.strategy_named(strategy)[0].removeprefix("prioritised-")


def _run_compiled(prepared: PreparedTask, strategy: str, order: int) -> Run:
    began = time.perf_counter()
    name, given = registry.strategy_named(strategy)
    plan = compiled.Plan(
        _plan_name(strategy),
        n=given.get("n", registry.STRATEGIES[name].parameters().get("n", 0)),
        prioritised=name.startswith("prioritised-"),
        levels=prepared.levels(name) if name in registry.ORACLES else None,
    )
    judged, seeds = prepared.judged(), prepared.seed_orders(order + 1)[order]
    done = compiled.run(compiled.LinkGraph.of(prepared.web, judged), plan, seeds, prepared.yardstick.budget)
    pages, seconds = done.order, time.perf_counter() - began
    failed = ~prepared.web.answers()[pages]
    sizes = np.where(failed, 0, prepared.web.array("size")[pages])
    return Run(pages, prepared.relevant[pages], done.queue, judged[pages], sizes, seconds, failed)
