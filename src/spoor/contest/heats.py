"""A whole contest: every strategy on every row, under all conditions, each judge and each cap per host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spoor.contest.comparison import Comparison, compared, refusal, side_by_side
from spoor.contest.folder import ContestFolder, read_score, write_score
from spoor.contest.real_judges import accuracy_on_unseen, with_real_judge
from spoor.contest.rows import Row
from spoor.contest.runs import course, score
from spoor.course import Task, read_seeds
from spoor.errors import UsageError
from spoor.measure.accuracy import Accuracy
from spoor.webs.network import NAMED

Judging = Literal["truth", "real"]
Cap = int | None


class View(NamedTuple):
    """What rows have in common that can be set side by side: the name of the conditions, who judges, and the cap per
    host."""

    conditions: str
    judging: Judging
    cap: Cap = None


@dataclass(frozen=True)
class Plan:
    """What a contest is made of. `ablations` are one of the strategies with something left out each. They are looked at
    under the first of the judges only, without a cap; so are the `caps` per host, without the ablations. Everything is
    run under each of the `conditions` and from so many `orders` of the seeds, if a row has as many."""

    strategies: tuple[str, ...]
    ablations: tuple[str, ...] = ()
    judges: tuple[Judging, ...] = ("truth", "real")
    caps: tuple[int, ...] = ()
    conditions: tuple[str, ...] = ("field", "lab")
    orders: int = 5


@dataclass(frozen=True)
class Heat:
    """A row in one view: what each of the strategies runs once from each order of the seeds."""

    row: Row
    view: View
    task: Task
    orders: int = 1
    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """A heat that was run; `accuracy` is that of the judge, None for one that knows the truth."""

    heat: Heat
    comparison: Comparison
    accuracy: Accuracy | None = None

    def as_json(self) -> dict[str, Any]:
        """The form of `compare --json`, and what the row adds."""
        judge = {"accuracy": self.accuracy.as_json()} if self.accuracy else {}
        return self.comparison.as_json() | {"start": self.heat.row.start} | judge


def planned(plan: Plan, rows: Sequence[Row], folder: ContestFolder) -> list[Heat]:
    """Heats without strategies yet, all rows under the first conditions first. Under a cap a row takes part when more
    than one host has relevant pages: else there is nothing to be won elsewhere."""
    return [heat for name in plan.conditions for row in rows for heat in _heats_of(row, name, plan, folder)]


def _heats_of(row: Row, conditions: str, plan: Plan, folder: ContestFolder) -> Iterable[Heat]:
    plain = Task(folder.web(row.web.name), row.target, read_seeds(row.seeds))
    perfect = replace(plain, conditions=NAMED[conditions])
    tasks: dict[Judging, Task] = {"truth": perfect, "real": with_real_judge(row, perfect, folder)}
    orders = len(course(plain).seed_orders(plan.orders))
    for judging in plan.judges:
        yield Heat(row, View(conditions, judging), tasks[judging], orders)
    if plan.caps and (course(plain).yardstick.relevant_hosts or 0) > 1:
        first = plan.judges[0]
        for cap in plan.caps:
            yield Heat(row, View(conditions, first, cap), replace(tasks[first], per_host=cap), orders)


class Refusals:
    """Why strategies do not take tasks. Asked once for each judge, target and strategy: seeds and caps make no
    difference."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str, str, str], UsageError | None] = {}

    def of(self, task: Task, strategy: str) -> UsageError | None:
        """None: it takes the task."""
        asked = (task.web, task.target, task.judge, strategy)
        if asked not in self._known:
            self._known[asked] = refusal(task, strategy)
        return self._known[asked]

    def of_all(self, heats: Sequence[Heat], strategy: str) -> UsageError | None:
        """Why it takes none of the heats; None: it takes some."""
        reasons = [self.of(heat.task, strategy) for heat in heats]
        return reasons[0] if all(reasons) else None


def entered(plan: Plan, heats: Iterable[Heat], refusals: Refusals) -> list[Heat]:
    """The heats with the strategies that take them, the oracle among them."""
    return [replace(heat, strategies=tuple(_takers(plan, heat, refusals))) for heat in heats]


def _takers(plan: Plan, heat: Heat, refusals: Refusals) -> Iterable[str]:
    ablations = plan.ablations if heat.view == View(heat.view.conditions, plan.judges[0]) else ()
    names = dict.fromkeys([*plan.strategies, *ablations, "oracle"])
    return (name for name in names if refusals.of(heat.task, name) is None)


Runs = Mapping[tuple[Heat, str, int], Path]
"""Each strategy of each heat from each order of the seeds, and the file where its score is kept."""


def runs_of(heats: Iterable[Heat], folder: ContestFolder) -> Runs:
    return {
        (heat, name, order): _file(heat, name, order, folder)
        for heat in heats
        for name in heat.strategies
        for order in range(heat.orders)
    }


def _file(heat: Heat, strategy: str, order: int, folder: ContestFolder) -> Path:
    row, view, task = heat.row, heat.view, heat.task
    cap = "any" if view.cap is None else str(view.cap)
    name = "--".join((row.target, row.start, strategy, view.conditions, view.judging, cap, f"order{order}"))
    return folder.file(f"runs/{name}.json", task.web, *task.seeds)


def run_missing(runs: Runs, pool: Executor, advance: Callable[[int], None]) -> None:
    """Runs what is not kept yet; `advance` is told of each that is done."""
    missing = [(heat.task, name, order, file) for (heat, name, order), file in runs.items() if not file.exists()]
    side_by_side([(keep_score, *job) for job in missing], pool, advance)


def keep_score(task: Task, strategy: str, order: int, file: Path) -> None:
    write_score(file, score(task, strategy, order))


def results(heats: Iterable[Heat], runs: Runs) -> list[Result]:
    return [_result(heat, runs) for heat in heats]


def _result(heat: Heat, runs: Runs) -> Result:
    scores = {name: [read_score(runs[heat, name, order]) for order in range(heat.orders)] for name in heat.strategies}
    accuracy = accuracy_on_unseen(heat.task) if heat.view.judging == "real" else None
    return Result(heat, compared(heat.task, scores), accuracy)
