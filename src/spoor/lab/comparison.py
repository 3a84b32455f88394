"""Compares strategies, or parameters of one strategy, on one task: which finds the relevant pages soonest?"""

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
from spoor.lab.task import CustomStrategy, StrategySpec, Task, over_orders
from spoor.origins import bring_in, origins_of
from spoor.pools import processes
from spoor.progress import Advance

_log = logging.getLogger(__name__)

# Strategies on one task: which finds the relevant pages soonest?


@dataclass(frozen=True)
class Comparison:
    """The scores of all strategies on a task, in the requested order. The oracle is always included."""

    task: Task
    reachable: int
    yardstick: Yardstick
    scores: tuple[Score, ...]

    def as_json(self) -> dict[str, Any]:
        """The stable format that scripts rely on."""
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
    strategies: Sequence[StrategySpec],
    pool: Executor,
    advance: Advance,
    orders: int = 1,
    shards: Sequence[int] = (),
) -> Comparison:
    """Runs each strategy once per order of the seeds, up to `orders` distinct orders. Calls `advance` after each run.
    With `shards`, each strategy runs once per number in it, split into that many shards; the oracle is never
    sharded."""
    names = list(dict.fromkeys([*strategies, "oracle"]))
    for name in names:
        if reason := refusal(task, name):
            raise reason
    each = range(len(prepared_task(task).seed_orders(orders)))
    shardings: list[Sharding | None] = [Sharding(count) for count in shards]
    variants = [(name, sharding) for name in names if name != "oracle" for sharding in shardings or [None]]
    variants.append(("oracle", None))
    jobs = [(name, order, sharding) for name, sharding in variants for order in each]
    scores: list[Score] = run_jobs([(score, task, *job) for job in jobs], pool, advance)
    by_job = dict(zip(jobs, scores, strict=True))
    runs = {_called(*variant): [by_job[variant[0], order, variant[1]] for order in each] for variant in variants}
    return compared(task, runs)


def _called(strategy: StrategySpec, sharding: Sharding | None) -> str:
    return str(strategy) if sharding is None else f"{strategy}, shards: {sharding.shards}"


@dataclass(frozen=True)
class Simulation:
    """One strategy on a task: its score, the score of the oracle, and its runs, one per order of the seeds."""

    score: Score
    oracle: Score
    runs: tuple[Run, ...]


def simulation(task: Task, strategy: StrategySpec, orders: int, advance: Advance) -> Simulation:
    """Runs up to `orders` distinct orders of the seeds. `advance` receives the progress within each run."""
    each = range(len(prepared_task(task).seed_orders(orders)))
    runs = [run(task, strategy, order, advance) for order in each]
    own = [scored(task, strategy, order, done) for order, done in zip(each, runs, strict=True)]
    oracles = [score(task, "oracle", order) for order in each]
    figures = compared(task, {str(strategy): own, "oracle": oracles}).scores
    return Simulation(figures[0], figures[-1], tuple(runs))


def compared(task: Task, scores: Mapping[str, Sequence[Score]]) -> Comparison:
    """Normalises the scores of each strategy by those of the oracle from the same order of the seeds."""
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


def refusal(task: Task, strategy: StrategySpec) -> UsageError | None:
    """The reason why a strategy cannot run a task, such as a target without a language. None if it can."""
    if isinstance(strategy, CustomStrategy):
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


def run_jobs(jobs: Sequence[Job], pool: Executor, advance: Advance) -> list[Any]:
    """Returns the results in the order of the jobs. The first failure is raised at once and cancels jobs that have not
    started."""
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
    """A pool of processes with the same plug-ins registered. Runs in this process if `count` is 1, or if a plug-in
    cannot be imported in another process."""
    if count == 1:
        return ThreadPoolExecutor(1)
    try:
        origins = origins_of(registry.plug_in_modules())
    except UsageError as error:
        _log.warning("strategies are run in this process, one after another: %s", error)
        return ThreadPoolExecutor(1)
    return processes(count, partial(bring_in, origins))


# Parameter search: tries every combination of parameters of a strategy on a web.


Settings = tuple[str, ...]
"""Parameters as written in the name of a strategy: `("t=0.5", "s=0.3", "d=0.2")`."""

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
    """Every way to split `parts` into `among` non-negative integers."""
    if among == 1:
        yield (parts,)
        return
    for taken in range(parts, -1, -1):
        for rest in _shares(parts - taken, among - 1):
            yield taken, *rest


def grid(strategy: str, varied: Mapping[str, Sequence[str]], weights: Sequence[Settings] = ((),)) -> list[str]:
    """The strategy with every combination of the parameter values and the weights."""
    choices = [[f"{name}={value}" for value in values] for name, values in varied.items()]
    return [":".join([strategy, *shares, *settings]) for shares in weights for settings in itertools.product(*choices)]


def value(objective: Objective, score: Score, against: Yardstick) -> float:
    """`ar` is the accuracy rate at the budget. A crawl that ended early is charged for the visits it did not make;
    otherwise a strategy that stops at the first doubt would win."""
    if objective == "ar":
        return score.found / against.budget
    return score.normalised or 0.0


def tune(task: Task, strategies: Sequence[str], objective: Objective, pool: Executor, advance: Advance) -> Comparison:
    """All scores, best first; ties keep the given order. The oracle also runs, but is left out."""
    comparison = compare(task, strategies, pool, advance)
    against = comparison.yardstick
    tried = [score for score in comparison.scores if score.strategy in set(strategies)]
    tried.sort(key=lambda score: -value(objective, score, against))
    return Comparison(task, comparison.reachable, against, tuple(tried))
