"""A whole contest: every strategy on every row, under each judge and each cap per host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from spoor.contest.comparison import Comparison, compared, refusal, side_by_side
from spoor.contest.folder import ContestFolder, read_score, write_score
from spoor.contest.real_judges import accuracy_on_unseen, with_real_judge
from spoor.contest.rows import Row
from spoor.contest.runs import course, score
from spoor.course import Task, read_seeds
from spoor.errors import UsageError
from spoor.measure.accuracy import Accuracy

Judging = Literal["truth", "real"]
Cap = int | None


@dataclass(frozen=True)
class Plan:
    """What a contest is made of. `ablations` are one of the strategies with something left out each. They are looked at
    under the first of the judges only, without a cap; so are the `caps` per host, without the ablations."""

    strategies: tuple[str, ...]
    ablations: tuple[str, ...] = ()
    judges: tuple[Judging, ...] = ("truth", "real")
    caps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Heat:
    """A row under one judge and one cap: what each of the strategies runs once."""

    row: Row
    judging: Judging
    task: Task
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


def planned(plan: Plan, rows: Iterable[Row], folder: ContestFolder) -> list[Heat]:
    """Heats without strategies yet. Under a cap a row takes part when more than one host has wanted pages: else there
    is nothing to be won elsewhere."""
    return list(chain.from_iterable(_heats_of(row, plan, folder) for row in rows))


def _heats_of(row: Row, plan: Plan, folder: ContestFolder) -> Iterable[Heat]:
    perfect = Task(folder.web(row.web.name), row.target, read_seeds(row.seeds))
    tasks: dict[Judging, Task] = {"truth": perfect, "real": with_real_judge(row, perfect, folder)}
    yield from (Heat(row, judging, tasks[judging]) for judging in plan.judges)
    if plan.caps and (course(perfect).yardstick.relevant_hosts or 0) > 1:
        first = plan.judges[0]
        yield from (Heat(row, first, replace(tasks[first], per_host=cap)) for cap in plan.caps)


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
    ablations = plan.ablations if heat.task.per_host is None and heat.judging == plan.judges[0] else ()
    names = dict.fromkeys([*plan.strategies, *ablations, "oracle"])
    return (name for name in names if refusals.of(heat.task, name) is None)


Runs = Mapping[tuple[Heat, str], Path]
"""Each strategy of each heat, and the file where its score is kept."""


def runs_of(heats: Iterable[Heat], folder: ContestFolder) -> Runs:
    return {(heat, name): _file(heat, name, folder) for heat in heats for name in heat.strategies}


def _file(heat: Heat, strategy: str, folder: ContestFolder) -> Path:
    row, task = heat.row, heat.task
    cap = "any" if task.per_host is None else str(task.per_host)
    name = "--".join((row.target, row.start, strategy, heat.judging, cap))
    return folder.file(f"runs/{name}.json", task.web, *task.seeds)


def run_missing(runs: Runs, pool: Executor, advance: Callable[[int], None]) -> None:
    """Runs what is not kept yet; `advance` is told of each that is done."""
    missing = [(heat.task, name, file) for (heat, name), file in runs.items() if not file.exists()]
    side_by_side([(keep_score, *job) for job in missing], pool, advance)


def keep_score(task: Task, strategy: str, file: Path) -> None:
    write_score(file, score(task, strategy))


def results(heats: Iterable[Heat], runs: Runs) -> list[Result]:
    return [_result(heat, runs) for heat in heats]


def _result(heat: Heat, runs: Runs) -> Result:
    scores = {name: [read_score(runs[heat, name])] for name in heat.strategies}
    accuracy = accuracy_on_unseen(heat.task) if heat.judging == "real" else None
    return Result(heat, compared(heat.task, scores), accuracy)
