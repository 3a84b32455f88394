"""Strategies side by side on one task: who finds the wanted pages soonest?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Any

from spoor import assembly
from spoor.contest.runs import course, score
from spoor.course import Task
from spoor.errors import UsageError
from spoor.measure.accuracy import Accuracy, accuracy
from spoor.measure.harvest import Score, Yardstick, beside
from spoor.measure.orders import over_orders


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
            "conditions": asdict(self.task.conditions) if self.task.conditions else None,
            "results": [score.as_json() for score in self.scores],
        }


def compare(
    task: Task, strategies: Sequence[str], pool: Executor, advance: Callable[[int], None], orders: int = 1
) -> Comparison:
    """Runs the strategies side by side, each from so many orders of the seeds, or fewer if the seeds have no more;
    `advance` is told of each run that is done."""
    names = list(dict.fromkeys([*strategies, "oracle"]))
    for name in names:
        if reason := refusal(task, name):
            raise reason
    each = range(len(course(task).seed_orders(orders)))
    jobs = [(name, order) for name in names for order in each]
    scores: list[Score] = side_by_side([(score, task, *job) for job in jobs], pool, advance)
    by_job = dict(zip(jobs, scores, strict=True))
    return compared(task, {name: [by_job[name, order] for order in each] for name in names})


def compared(task: Task, scores: Mapping[str, Sequence[Score]]) -> Comparison:
    """The scores of each strategy from each order, beside those of the oracle from the same order."""
    prepared = course(task)
    against = prepared.yardstick
    whole = [
        over_orders([beside(one, oracle, against) for one, oracle in zip(own, scores["oracle"], strict=True)])
        for own in scores.values()
    ]
    return Comparison(task, prepared.reachable_pages, against, tuple(whole))


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


def side_by_side(jobs: Sequence[tuple[Any, ...]], pool: Executor, advance: Callable[[int], None]) -> list[Any]:
    """What each job returns, in their order; a job is a function and its arguments. The first failure ends all, without
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
    """Processes to compare in. Spawned, not forked: a progress bar's thread does not survive a fork. One alone works in
    this process."""
    return ThreadPoolExecutor(1) if count == 1 else ProcessPoolExecutor(count, mp_context=get_context("spawn"))
