"""Ma, Yan, Zhang, Yang: finds Mongolian pages by hyperlink correlation degree; tables 3 to 5, published and our
results.

Seeds 401-410 are for the acceptance run only: nothing was ever tuned on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spoor.lab.generate.chance import Request
from spoor.lab.measures import Information, information, speed
from spoor.lab.papers.experiment import Cell, Chart, Claim, Estimate, Margin, Point, Setup, Table, by_seed, generated
from spoor.lab.runs import prepared_task, run
from spoor.lab.task import Task, read_seeds
from spoor.lab.worlds import Conditions

# Ma, Yan, Zhang, Yang: finds Mongolian pages by hyperlink correlation degree, with three crawlers on Mongolian-like
# webs.


SEEDS = tuple(range(401, 411))
PAGES = 30_000
TICKS = 12
"""Equal shares of the visits, in place of the hours of the paper, whose network cannot be reproduced."""

CRAWLERS = {
    "B_C": ("b-crawl", "code-interval:mn-Mong"),
    "G_C": ("g-crawl", "code-interval:mn-Mong"),
    "N_C": ("n-crawl:profiles=merged", "ngram:mn-Mong:profiles=merged"),
}
"""Table 2: the strategy and the Mongolian recogniser of each crawler. As in the paper a single model has the n-grams of
all encodings."""
PROFILE_FOR_EACH = "N_C, a profile for each encoding"
COMPARED = CRAWLERS | {PROFILE_FOR_EACH: ("n-crawl", "ngram:mn-Mong")}
"""With what spoor uses unless `profiles=merged` is given."""

CLOCK = Conditions()
"""The simulated network for crawls whose speed is measured by the virtual clock."""

History = tuple[Information, ...]
"""What had been collected after each tick."""

Histories = dict[str, History]
"""By crawler."""


@dataclass(frozen=True)
class Outcome:
    """One web: the histories, and `speeds`, the collection speed (CS) by the clock: megabytes of relevant pages per
    hour of a crawl under `CLOCK`."""

    histories: Histories
    speeds: dict[str, float]


@dataclass(frozen=True)
class Experiment:
    """The outcomes on the web of each seed. `words` is the source of the words of its Mongolian pages."""

    seeds: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    words: Path | None

    def mean(self, crawler: str, figure: Callable[[Information], float]) -> list[float]:
        """The mean over the seeds, for each tick."""
        columns = zip(*(outcome.histories[crawler] for outcome in self.outcomes), strict=True)
        return [sum(map(figure, column)) / len(column) for column in columns]

    def at_the_end(self, crawler: str, figure: Callable[[Information], float]) -> Estimate:
        return Estimate(tuple(figure(outcome.histories[crawler][-1]) for outcome in self.outcomes))

    def speeds(self, crawler: str) -> Estimate:
        """The final collection speed (CS): megabytes of relevant pages per tick."""
        return Estimate(tuple(speed(each, TICKS) for each in self.at_the_end(crawler, accurate).by_seed))

    def clocked(self, crawler: str) -> Estimate:
        """The collection speed by the clock."""
        return Estimate(tuple(outcome.speeds[crawler] for outcome in self.outcomes))


def reproduce(setup: Setup, request: Request) -> Experiment:
    """Generates a web like `request` for each seed and runs every crawler on it."""
    jobs = [(outcome, replace(request, seed=seed), setup.folder) for seed in setup.seeds]
    return Experiment(tuple(setup.seeds), tuple(setup.run("webs crawled", jobs)), request.words)


def outcome(request: Request, folder: Path) -> Outcome:
    """All crawlers on one web, each with its own recogniser."""
    web = generated(request, folder / f"mongolian-{request.seed}")
    task = Task(web, "relevant", read_seeds(web / "seeds.txt"))
    task = replace(task, budget=prepared_task(task).yardstick.relevant // 2)
    tasks = {name: (replace(task, judge=judge), strategy) for name, (strategy, judge) in COMPARED.items()}
    clocked = {name: _clocked(replace(task, conditions=CLOCK), strategy) for name, (task, strategy) in tasks.items()}
    return Outcome({name: history(*one) for name, one in tasks.items()}, clocked)


def _clocked(task: Task, strategy: str) -> float:
    done = run(task, strategy)
    assert done.timing is not None
    return information(done, done.timing.elapsed).speed or 0.0


def history(task: Task, strategy: str) -> History:
    done = run(task, strategy)
    visits = prepared_task(task).yardstick.budget
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


SAME_VISITS = "each tick has as many visits for every crawler, so the speed follows from the accuracy rate"
ICON_FONTS = "some pages of the web have characters of icon fonts, and one of them is enough for code intervals"
"""Why claims hold by construction, or almost."""


def claims(experiment: Experiment) -> list[Claim]:
    def rates(better: str, worse: str) -> list[Margin]:
        """Of the accuracy rate, for each tick."""
        histories = [(outcome.histories[better], outcome.histories[worse]) for outcome in experiment.outcomes]
        return [by_seed(accuracy(a[tick]) - accuracy(b[tick]) for a, b in histories) for tick in range(TICKS)]

    def larger(figure: Callable[[str], Estimate], better: str, worse: str, by: float = 0.0) -> Margin:
        pairs = zip(figure(better).by_seed, figure(worse).by_seed, strict=True)
        return by_seed((a - b - by for a, b in pairs), or_equal=by > 0)

    def end(figure: Callable[[Information], float]) -> Callable[[str], Estimate]:
        return lambda crawler: experiment.at_the_end(crawler, figure)

    def in_order(figure: Callable[[str], Estimate]) -> tuple[Margin, ...]:
        return larger(figure, "N_C", "G_C"), larger(figure, "G_C", "B_C")

    return [
        Claim("accuracy rate: N above G above B, at every tick", (*rates("N_C", "G_C"), *rates("G_C", "B_C"))),
        Claim("accuracy rate at the end: N at least .05 above G", (larger(end(accuracy), "N_C", "G_C", by=0.05),)),
        Claim("collection speed by the clock: N above G above B", in_order(experiment.clocked)),
        Claim(
            "precision of the recogniser, of what it stores: n-grams above code intervals",
            (larger(end(accuracy_of_stored), "N_C", "B_C"),),
            ICON_FONTS,
        ),
        Claim("collection speed by visits: N above G above B", in_order(experiment.speeds), SAME_VISITS),
    ]


# Tables 3 to 5 of the Mongolian paper, with published and our figures.


Published = tuple[tuple[float, float, float], ...]
"""The figures of B_C, G_C and N_C for each hour."""

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
PUBLISHED_PAGES: Published = (
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
"""Table 5: accuracy rate, megabytes, megabytes per hour."""


def tables(experiment: Experiment) -> Iterator[Table]:
    """The tables of the paper; our figures are means over the seeds."""
    yield _by_tick("table 3, collection information sum (MB)", MEGABYTES, experiment, megabytes, ",.2f")
    yield _by_tick("table 3, web pages", PUBLISHED_PAGES, experiment, pages, ",.0f")
    yield _by_tick("table 3, correct web pages", CORRECT, experiment, correct, ",.0f")
    yield _by_tick("table 4, accuracy rate", ACCURACY, experiment, accuracy, ".2f")
    yield _summary(experiment)


def charts(experiment: Experiment) -> list[Chart]:
    """Tables 3 and 4 as lines. Sizes are relative to the largest final value."""
    drawn = (("pages", PUBLISHED_PAGES, pages), ("correct pages", CORRECT, correct))
    shares = [
        _chart(f"table 3: {name}, 1 = the most", name, published, experiment, figure, share=True)
        for name, published, figure in drawn
    ]
    return [*shares, _chart("table 4: accuracy rate", "accuracy rate", ACCURACY, experiment, accuracy)]


def _chart(
    title: str,
    up: str,
    published: Published,
    experiment: Experiment,
    figure: Callable[[Information], float],
    share: bool = False,
) -> Chart:
    theirs = dict(zip(CRAWLERS, zip(*published, strict=True), strict=True))
    ours = {crawler: experiment.mean(crawler, figure) for crawler in CRAWLERS}
    lines = [
        {name: _points(line, max(map(max, lines.values())) if share else 1.0) for name, line in lines.items()}
        for lines in (ours, theirs)
    ]
    return Chart(title, "hour, or tick", up, *lines)


def _points(values: Sequence[float], whole: float) -> list[Point]:
    return [(float(tick), value / whole) for tick, value in enumerate(values, 1)]


def _by_tick(
    title: str, published: Published, experiment: Experiment, figure: Callable[[Information], float], form: str
) -> Table:
    ours = zip(*(experiment.mean(crawler, figure) for crawler in CRAWLERS), strict=True)
    rows: list[list[Cell]] = [
        [tick, *theirs, *mean] for tick, theirs, mean in zip(range(1, TICKS + 1), published, ours, strict=True)
    ]
    columns = [f"{who} {name}" for who in ("paper", "our") for name in CRAWLERS]
    return Table(title, {"tick": "d"} | dict.fromkeys(columns, form), rows)


def _summary(experiment: Experiment) -> Table:
    """The speed is in megabytes per hour in the paper, in megabytes per tick here."""
    columns = {"crawler": ""} | {f"{who} {name}": ".2f" for who in ("paper", "our") for name in ("AR", "IS", "CS")}
    columns |= {"our CS, MB an hour by the clock": ",.0f", "our AR of the stored": ".2f"}
    rows: list[list[Cell]] = [
        [
            crawler,
            *SUMMARY.get(crawler, (None, None, None)),
            experiment.at_the_end(crawler, accuracy),
            experiment.at_the_end(crawler, megabytes),
            experiment.speeds(crawler),
            experiment.clocked(crawler),
            experiment.at_the_end(crawler, accuracy_of_stored),
        ]
        for crawler in COMPARED
    ]
    return Table("table 5, summary, mean (95 % interval)", columns, rows)
