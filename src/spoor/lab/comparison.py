"""Strategies, or parameters of one, side by side on one task: which finds the relevant pages soonest?"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from spoor import registry
from spoor.errors import UsageError
from spoor.lab.measures import Run, Score, Yardstick, beside
from spoor.lab.runs import prepared_task, run, score, scored
from spoor.lab.sharded import Sharding
from spoor.lab.task import AnyNamed, GivenStrategy, Task, over_orders
from spoor.origins import bring_in, origins_of
from spoor.pools import processes
from spoor.progress import Advance

_log = logging.getLogger(__name__)

# Strategies side by side on one task: who finds the relevant pages soonest?


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
            "relevant_hosts": self.yardstick.relevant_hosts,
            "budget": self.yardstick.budget,
            "per_host": self.task.per_host,
            "sitemaps": self.task.sitemaps,
            "conditions": self.task.conditions.as_json() if self.task.conditions else None,
            "results": [score.as_json() for score in self.scores],
        }


def compare(
    task: Task,
    strategies: Sequence[AnyNamed],
    pool: Executor,
    advance: Advance,
    orders: int = 1,
    shards: Sequence[int] = (),
) -> Comparison:
    """Runs the strategies side by side, each from so many orders of the seeds, or fewer if the seeds have no more;
    `advance` is told of each run that is done. With `shards` each strategy is run as so many shards, for every number;
    the oracle is not."""
    names = list(dict.fromkeys([*strategies, "oracle"]))
    for name in names:
        if reason := refusal(task, name):
            raise reason
    each = range(len(prepared_task(task).seed_orders(orders)))
    shardings: list[Sharding | None] = [Sharding(count) for count in shards]
    variants = [(name, sharding) for name in names if name != "oracle" for sharding in shardings or [None]]
    variants.append(("oracle", None))
    jobs = [(name, order, sharding) for name, sharding in variants for order in each]
    scores: list[Score] = side_by_side([(score, task, *job) for job in jobs], pool, advance)
    by_job = dict(zip(jobs, scores, strict=True))
    runs = {_called(*variant): [by_job[variant[0], order, variant[1]] for order in each] for variant in variants}
    return compared(task, runs)


def _called(strategy: AnyNamed, sharding: Sharding | None) -> str:
    return str(strategy) if sharding is None else f"{strategy}, shards: {sharding.shards}"


@dataclass(frozen=True)
class Simulation:
    """One strategy on a task: its score beside that of the oracle, and its runs, one from each order of the seeds."""

    score: Score
    oracle: Score
    runs: tuple[Run, ...]


def simulation(task: Task, strategy: AnyNamed, orders: int, advance: Advance) -> Simulation:
    """From so many orders of the seeds, or fewer if the seeds have no more; `advance` is told of events."""
    each = range(len(prepared_task(task).seed_orders(orders)))
    runs = [run(task, strategy, order, advance) for order in each]
    own = [scored(task, strategy, order, done) for order, done in zip(each, runs, strict=True)]
    oracles = [score(task, "oracle", order) for order in each]
    figures = compared(task, {str(strategy): own, "oracle": oracles}).scores
    return Simulation(figures[0], figures[-1], tuple(runs))


def compared(task: Task, scores: Mapping[str, Sequence[Score]]) -> Comparison:
    """The scores of each strategy from each order, beside those of the oracle from the same order."""
    prepared = prepared_task(task)
    against = prepared.yardstick
    whole = [
        replace(
            over_orders([beside(one, of, against) for one, of in zip(own, scores["oracle"], strict=True)]),
            strategy=name,
        )
        for name, own in scores.items()
    ]
    return Comparison(task, prepared.reachable_pages, against, tuple(whole))


def refusal(task: Task, strategy: AnyNamed) -> UsageError | None:
    """Why a strategy does not take a task, such as one without a language; None: it does."""
    if isinstance(strategy, GivenStrategy):
        return None
    name, _ = registry.strategy_named(strategy)
    try:
        if name not in registry.ORACLES:
            registry.strategy(strategy, prepared_task(task).judge())
    except UsageError as error:
        return error
    return None


Job = tuple[Any, ...]
"""A function and its arguments."""


def side_by_side(jobs: Sequence[Job], pool: Executor, advance: Advance) -> list[Any]:
    """What each job returns, in their order. The first failure ends all, without
    waiting for jobs that have not begun."""
    futures: list[Future[Any]] = [pool.submit(*job) for job in jobs]
    try:
        for future in as_completed(futures):
            future.result()
            advance(1)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    return [future.result() for future in futures]


def workers(count: int) -> Executor:
    """Processes to compare in, which know the same plug-ins. One alone works in this process; so does everything when a
    plug-in cannot be imported elsewhere."""
    if count == 1:
        return ThreadPoolExecutor(1)
    try:
        origins = origins_of(registry.plug_in_modules())
    except UsageError as error:
        _log.warning("strategies are run in this process, one after another: %s", error)
        return ThreadPoolExecutor(1)
    return processes(count, partial(bring_in, origins))


# Which parameters suit a strategy on a web: every combination is tried.


Settings = tuple[str, ...]
"""`("t=0.5", "s=0.3", "d=0.2")`: as they stand in the name of a strategy."""

Objective = Literal["ar", "normalised"]


def simplex(names: Sequence[str], step: float) -> list[Settings]:
    """All weights for `names` that are multiples of `step` and add up to 1; 66 for three names and a step of 0.1."""
    if len(names) < 2:
        raise UsageError(f"--simplex {','.join(names)}: give at least two parameters, which add up to 1, as in t,s,d")
    parts = round(1 / step) if 0 < step <= 1 else 0
    if not parts or not math.isclose(parts * step, 1):
        raise UsageError(f"--step {step:g}: 1 must be a multiple of it, as of 0.1 or 0.25")
    return [
        tuple(f"{name}={share / parts:g}" for name, share in zip(names, shares, strict=True))
        for shares in _shares(parts, len(names))
    ]


def _shares(parts: int, among: int) -> Iterator[tuple[int, ...]]:
    """Every way to hand out `parts`."""
    if among == 1:
        yield (parts,)
        return
    for taken in range(parts, -1, -1):
        for rest in _shares(parts - taken, among - 1):
            yield taken, *rest


def grid(strategy: str, varied: Mapping[str, Sequence[str]], weights: Sequence[Settings] = ((),)) -> list[str]:
    """The strategy with every combination of the values of each name and of the weights."""
    choices = [[f"{name}={value}" for value in values] for name, values in varied.items()]
    return [":".join([strategy, *shares, *settings]) for shares in weights for settings in itertools.product(*choices)]


def value(objective: Objective, score: Score, against: Yardstick) -> float:
    """`ar` is the accuracy rate at the budget: a crawl that ended early is charged for the visits it did not make, or
    one that stops at the first doubt would win."""
    if objective == "ar":
        return score.found / against.budget
    return score.normalised or 0.0


def tune(task: Task, strategies: Sequence[str], objective: Objective, pool: Executor, advance: Advance) -> Comparison:
    """The scores of all, best first; of equals the one that came first. The oracle, which was run too, is left out."""
    comparison = compare(task, strategies, pool, advance)
    against = comparison.yardstick
    tried = [score for score in comparison.scores if score.strategy in set(strategies)]
    tried.sort(key=lambda score: -value(objective, score, against))
    return Comparison(task, comparison.reachable, against, tuple(tried))
