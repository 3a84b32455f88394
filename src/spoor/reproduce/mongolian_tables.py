"""Tables 3 to 5 of the Mongolian paper, the published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spoor.measure.information import Information
from spoor.reproduce.mongolian import (
    CRAWLERS,
    TICKS,
    Experiment,
    accuracy,
    accuracy_of_stored,
    correct,
    megabytes,
    pages,
)

Published = tuple[tuple[float, float, float], ...]
"""For each hour the figures of B_C, G_C and N_C."""

MEGABYTES: Published = (
    (99, 102, 88),
    (145, 158, 132),
    (225, 245, 210),
    (300, 380, 260),
    (301, 450, 316),
    (314, 681, 368),
    (323, 700, 405),
    (336, 721, 460),
    (347, 734, 541),
    (354, 746, 589),
    (355, 750, 610),
    (357, 772, 685),
)
PAGES: Published = (
    (9900, 10200, 8800),
    (14498, 15801, 13197),
    (22501, 24499, 21091),
    (30004, 38003, 25991),
    (30099, 44991, 31611),
    (31401, 68094, 36821),
    (32302, 70012, 40506),
    (33598, 72111, 46018),
    (34697, 73404, 53989),
    (35396, 74616, 59023),
    (35503, 75019, 61007),
    (35702, 77199, 68504),
)
CORRECT: Published = (
    (2900, 3801, 8000),
    (4400, 8011, 10956),
    (6975, 11036, 16500),
    (8800, 19006, 22011),
    (9250, 21009, 26021),
    (9331, 33021, 29913),
    (10013, 34612, 34043),
    (10441, 34802, 39005),
    (10459, 36045, 45013),
    (11031, 36230, 49002),
    (11038, 38021, 50010),
    (11321, 39033, 57001),
)
ACCURACY: Published = (
    (0.29, 0.37, 0.91),
    (0.30, 0.51, 0.83),
    (0.31, 0.45, 0.79),
    (0.29, 0.50, 0.85),
    (0.31, 0.47, 0.82),
    (0.30, 0.48, 0.81),
    (0.31, 0.49, 0.84),
    (0.31, 0.48, 0.85),
    (0.30, 0.49, 0.83),
    (0.31, 0.49, 0.83),
    (0.31, 0.51, 0.82),
    (0.32, 0.51, 0.83),
)
SUMMARY = {"B_C": (0.31, 357, 9.22), "G_C": (0.48, 772, 31.52), "N_C": (0.83, 685, 47.38)}
"""Table 5: accuracy rate, megabytes, megabytes an hour."""


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(experiment: Experiment) -> Iterator[Table]:
    """As the paper has them; ours are means over the seeds."""
    yield _by_tick("table 3, collection information sum (MB)", MEGABYTES, experiment, megabytes)
    yield _by_tick("table 3, web pages", PAGES, experiment, pages)
    yield _by_tick("table 3, correct web pages", CORRECT, experiment, correct)
    yield _by_tick("table 4, accuracy rate", ACCURACY, experiment, accuracy)
    yield _summary(experiment)


def _by_tick(title: str, published: Published, experiment: Experiment, figure: Callable[[Information], float]) -> Table:
    ours = zip(*(experiment.mean(crawler, figure) for crawler in CRAWLERS), strict=True)
    rows = [
        [str(tick), *map(_cell, theirs), *map(_cell, mean)]
        for tick, theirs, mean in zip(range(1, TICKS + 1), published, ours, strict=True)
    ]
    return Table(title, ("tick", *[f"{who} {name}" for who in ("paper", "our") for name in CRAWLERS]), rows)


def _summary(experiment: Experiment) -> Table:
    """In the paper the speed is in megabytes an hour, here in megabytes a tick."""
    rows = []
    for crawler, speed in experiment.speeds().items():
        figures = (accuracy, megabytes, accuracy_of_stored)
        rate, total, kept = (experiment.mean(crawler, figure)[-1] for figure in figures)
        rows.append([crawler, *map(_cell, [*SUMMARY[crawler], rate, total, speed, kept])])
    names = [f"{who} {name}" for who in ("paper", "our") for name in ("AR", "IS", "CS")]
    return Table("table 5, summary", ("crawler", *names, "our AR of the stored"), rows)


def _cell(number: float) -> str:
    """Two digits after the point, as in the paper, where that says anything."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.2f}"
