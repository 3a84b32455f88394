"""Which parameters suit a strategy on a web: every combination is tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Literal

from spoor.contest import Comparison, compare
from spoor.course import Task
from spoor.errors import UsageError
from spoor.measure.harvest import Score, Yardstick

Settings = tuple[str, ...]
"""`("t=0.5", "s=0.3", "d=0.2")`: as they stand in the name of a strategy."""

Objective = Literal["ar", "normalised"]


def simplex(names: Sequence[str], step: float) -> list[Settings]:
    """All weights for `names` that are multiples of `step` and add up to 1; 66 for three names and a step of 0.1."""
    if len(names) < 2:
        raise UsageError(f"--simplex {','.join(names)}: at least two parameters can share out 1, as in t,s,d")
    parts = round(1 / step) if 0 < step <= 1 else 0
    if not parts or not math.isclose(parts * step, 1):
        raise UsageError(f"--step {step:g}: must go into 1 without a rest, as 0.1 or 0.25 do")
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


def tune(
    task: Task, strategies: Sequence[str], objective: Objective, pool: Executor, advance: Callable[[int], None]
) -> Comparison:
    """The scores of all, best first; of equals the one that came first. The oracle, which was run too, is left out."""
    comparison = compare(task, strategies, pool, advance)
    against = comparison.yardstick
    tried = [score for score in comparison.scores if score.strategy in set(strategies)]
    tried.sort(key=lambda score: -value(objective, score, against))
    return Comparison(task, comparison.reachable, against, tuple(tried))
