"""Ma, Yan, Zhang, Yang: Mongolian pages by hyperlink correlation degree, three crawlers on Mongolian-like webs.

The conditions are frozen: they were fixed before seeds 301-305 were first run, and those seeds are for that run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from spoor.contest import course, run
from spoor.course import Task, read_seeds
from spoor.measure.information import Information, information, speed
from spoor.reproduce.conditions import Condition
from spoor.webs.generate import Request, generate

SEEDS = tuple(range(301, 306))
PAGES = 30_000
TICKS = 12
"""Equal shares of the visits, in the place of the paper's hours: the network of the paper cannot be had again."""

CRAWLERS = {
    "B_C": ("b-crawl", "code-interval:mn-Mong"),
    "G_C": ("g-crawl", "code-interval:mn-Mong"),
    "N_C": ("n-crawl", "ngram:mn-Mong"),
}
"""Table 2: the collection strategy and the Mongolian recognition of each."""

History = tuple[Information, ...]
"""What had been collected after each tick."""

Histories = dict[str, History]
"""By crawler."""


@dataclass(frozen=True)
class Experiment:
    """The histories on the web of each seed; `words` says what its Mongolian pages are made of."""

    seeds: tuple[int, ...]
    histories: tuple[Histories, ...]
    words: Path | None

    def mean(self, crawler: str, figure: Callable[[Information], float]) -> list[float]:
        """Over the seeds, tick by tick."""
        columns = zip(*(histories[crawler] for histories in self.histories), strict=True)
        return [sum(map(figure, column)) / len(column) for column in columns]

    def speeds(self) -> dict[str, float]:
        """CS of each crawler at the end: right megabytes a tick."""
        return {crawler: speed(self.mean(crawler, accurate)[-1], TICKS) for crawler in CRAWLERS}


def reproduce(
    seeds: Sequence[int], request: Request, folder: Path, pool: Executor, advance: Callable[[int], None]
) -> Experiment:
    """Generates a web like `request` for each seed in `folder` and lets every crawler loose on it; `advance` is told of
    each web that is done."""
    jobs = {pool.submit(histories, replace(request, seed=seed), folder): seed for seed in seeds}
    done: dict[int, Histories] = {}
    for future in as_completed(jobs):
        done[jobs[future]] = future.result()
        advance(1)
    return Experiment(tuple(seeds), tuple(done[seed] for seed in seeds), request.words)


def histories(request: Request, folder: Path) -> Histories:
    """One web, all crawlers, each with its own recogniser."""
    web = folder / f"mongolian-{request.seed}"
    if not web.exists():
        generate(request, web, lambda pages: None)
    task = Task(web, "relevant", read_seeds(web / "seeds.txt"))
    task = replace(task, budget=course(task).yardstick.relevant // 2)
    return {name: history(replace(task, judge=judge), strategy) for name, (strategy, judge) in CRAWLERS.items()}


def history(task: Task, strategy: str) -> History:
    done = run(task, strategy)
    visits = course(task).yardstick.budget
    parts = [done.beginning(visits * tick // TICKS) for tick in range(1, TICKS + 1)]
    return tuple(map(information, parts))


def megabytes(collected: Information) -> float:
    return collected.downloaded.total


def accurate(collected: Information) -> float:
    return collected.downloaded.accurate


def pages(collected: Information) -> float:
    return collected.downloaded.pages


def correct(collected: Information) -> float:
    return collected.downloaded.correct


def accuracy(collected: Information) -> float:
    return collected.downloaded.accuracy or 0.0


def accuracy_of_stored(collected: Information) -> float:
    return collected.stored.accuracy or 0.0


def conditions(experiment: Experiment) -> list[Condition]:
    """The frozen list."""
    rates = [experiment.mean(crawler, accuracy) for crawler in CRAWLERS]
    ordered = tuple(b < g < n for b, g, n in zip(*rates, strict=True))
    _, g, n = rates
    b_speed, g_speed, n_speed = experiment.speeds().values()
    return [
        Condition("mean accuracy rate: N above G above B, at every tick", ordered, TICKS),
        Condition("mean accuracy rate at the end: N at least .05 above G", (n[-1] - g[-1] >= 0.05,), 1),
        Condition("mean collection speed: N above G above B", (b_speed < g_speed < n_speed,), 1),
    ]
