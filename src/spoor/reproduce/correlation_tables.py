"""The figures of the correlation paper beside ours."""

from __future__ import annotations

from collections.abc import Callable

from spoor.reproduce.correlation import ORDERS, PUBLISHED, Collected, Experiment, Outcome

COLUMNS = ("crawler", "taken", "right", "relevant in scope", "recall", "accuracy", "F1")
AREAS = ("order of the queue", "area under the harvest curve")


def collected_rows(experiment: Experiment) -> list[list[str]]:
    """The mean over the draws, and from where to where it goes."""
    published = [f"{PUBLISHED.taken:.0f}", f"{PUBLISHED.right:.0f}", f"{PUBLISHED.relevant:.0f}"]
    rates = [f"{rate:.3f}" for rate in (PUBLISHED.recall, PUBLISHED.accuracy, PUBLISHED.f1)]
    return [
        ["paper", *published, *rates],
        ["ours, similar words alike", *_cells(experiment, lambda o: o.semantic)],
        ["ours, words as they are", *_cells(experiment, lambda o: o.plain)],
    ]


def area_rows(experiment: Experiment) -> list[list[str]]:
    return [[order, _spread([o.areas[order] for o in experiment.outcomes], 3)] for order in ORDERS]


def _cells(experiment: Experiment, of: Callable[[Outcome], Collected]) -> list[str]:
    all_of_them = [of(outcome) for outcome in experiment.outcomes]
    counts = [[c.taken for c in all_of_them], [c.right for c in all_of_them], [c.relevant for c in all_of_them]]
    rates = [[c.recall for c in all_of_them], [c.accuracy for c in all_of_them], [c.f1 for c in all_of_them]]
    return [*(_spread(values, 0) for values in counts), *(_spread(values, 3) for values in rates)]


def _spread(values: list[float], digits: int) -> str:
    mean = sum(values) / len(values)
    return f"{mean:.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"
