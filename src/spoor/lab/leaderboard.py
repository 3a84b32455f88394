"""The leaderboard of a contest: scores, bootstrap confidence intervals, tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import mean, median

import numpy as np

from spoor.lab.contest import TRAINED, Cap, Result, View
from spoor.lab.measures import Score, Yardstick
from spoor.registry import ORACLES

# Two strategies on the same rows: wins, mean difference, confidence interval.


RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 20_260_000
"""The same for all intervals, so that tables are reproducible."""
TIE = 0.001
"""Areas that differ by less are a tie: tables show three digits."""
Rows = Sequence[Sequence[float]]
"""One value for each order of the seeds of each row."""


@dataclass(frozen=True)
class Paired:
    """One strategy against another, row by row: wins, losses and ties, the mean difference, and its 95 % bootstrap
    interval over rows and over orders within rows."""

    wins: int
    losses: int
    ties: int
    difference: float
    low: float
    high: float


def paired(own: Rows, other: Rows) -> Paired:
    """The values of two strategies on the same rows and orders. At least one row, with at least one order each."""
    differences = [_differences(*row) for row in zip(own, other, strict=True)]
    means = np.array([np.mean(row) for row in differences])
    wins, losses = int((means >= TIE).sum()), int((means <= -TIE).sum())
    low, high = interval(differences)
    return Paired(wins, losses, len(means) - wins - losses, float(means.mean()), low, high)


def _differences(own: Sequence[float], other: Sequence[float]) -> list[float]:
    return [mine - its for mine, its in zip(own, other, strict=True)]


def interval(rows: Rows) -> tuple[float, float]:
    """The confidence interval of the mean over rows, each the mean over its orders: a two-stage percentile
    bootstrap."""
    counts = np.array([len(row) for row in rows])
    figures = np.zeros((len(rows), int(counts.max())))
    for place, row in enumerate(rows):
        figures[place, : len(row)] = row
    chance = np.random.default_rng(SEED)
    drawn = chance.integers(len(rows), size=(RESAMPLES, len(rows)))
    orders = counts[drawn][..., None]
    picked = (chance.random((*drawn.shape, figures.shape[1])) * orders).astype(int)
    is_drawn = np.arange(figures.shape[1]) < orders
    means = (figures[drawn[..., None], picked] * is_drawn).sum(axis=2) / counts[drawn]
    low, high = np.quantile(means.mean(axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


# The leaderboard: every strategy on every row, in one view.


CHAMPION = "learned"
"""The strategy that others are compared with, if it took part."""


@dataclass(frozen=True)
class LeaderboardEntry:
    """The figures of a strategy. `mean` and `worst` are normalised areas. `spread` (over orders of the seeds),
    `failed`, `r_precision`, `coverage` and `hosts` (the share found of hosts with relevant pages) are means;
    `requests`, per relevant page, is a median; `n90` counts rows on which 90 % of the relevant pages were found;
    `seconds` is a sum."""

    strategy: str
    rows: int
    mean: float
    spread: float | None
    worst: float
    worst_row: str
    r_precision: float
    coverage: float
    n90: int
    hosts: float
    seconds: float
    failed: float | None
    requests: float | None
    clock: Clock | None


@dataclass(frozen=True)
class Clock:
    """Time figures of a strategy. `mean` is the mean normalised area over time; `half_found` the share of rows and
    orders in which half of the relevant pages were found, `half_time` the median of the seconds until then."""

    mean: float
    idle: float
    half_found: float
    half_time: float | None


@dataclass(frozen=True)
class Leaderboard:
    """One result per row. `strategies` are those shown, in the given order."""

    results: tuple[Result, ...]
    strategies: tuple[str, ...]

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, tuple[Score, Yardstick]]]:
        """By strategy and row name. A row that a strategy did not run is missing."""
        found: dict[str, dict[str, tuple[Score, Yardstick]]] = {name: {} for name in self.strategies}
        for result in self.results:
            for score in result.comparison.scores:
                if score.strategy in found:
                    found[score.strategy][result.contest_run.row.name] = (score, result.comparison.yardstick)
        return {name: taken for name, taken in found.items() if taken}

    def areas(self, strategy: str) -> dict[str, float]:
        return {row: score.normalised or 0.0 for row, (score, _) in self.scores.get(strategy, {}).items()}

    def entries(self) -> list[LeaderboardEntry]:
        """By number of rows, then by mean, both descending: strategies that did not run all rows come last."""
        return sorted(map(self._entry, self.scores), key=lambda one: (-one.rows, -one.mean))

    def _entry(self, strategy: str) -> LeaderboardEntry:
        areas = self.areas(strategy)
        worst = min(areas, key=lambda row: areas[row])
        pairs = self.scores[strategy].values()
        scores = [score for score, _ in pairs]
        return LeaderboardEntry(
            strategy=strategy,
            rows=len(areas),
            mean=mean(areas.values()),
            spread=_mean(score.spread for score in scores),
            worst=areas[worst],
            worst_row=worst,
            r_precision=mean(score.r_precision for score in scores),
            coverage=mean(score.coverage for score in scores),
            n90=sum(score.n90 is not None for score in scores),
            hosts=mean((score.relevant_hosts or 0) / (against.relevant_hosts or 1) for score, against in pairs),
            seconds=sum(score.seconds * len(score.orders) for score in scores),
            failed=_mean(score.failed for score in scores),
            requests=_median_until(score.requests_per_relevant for score in scores),
            clock=_clock(scores),
        )

    @property
    def reference(self) -> str:
        """The champion if it took part, otherwise the best strategy that is not an oracle."""
        ranked = [one.strategy for one in self.entries() if one.strategy not in ORACLES]
        return next((name for name in (CHAMPION, *ranked) if name in ranked), "oracle")

    def best(self, count: int) -> list[str]:
        """The best strategies that ran all rows, without oracles, best first."""
        ranked = [one for one in self.entries() if one.strategy not in ORACLES]
        return [one.strategy for one in ranked if one.rows == len(self.results)][:count]

    def against(self, strategy: str, other: str) -> Paired | None:
        """Compared on the rows that both ran. None if there are no such rows."""
        own, others = self._by_order(strategy), self._by_order(other)
        common = [row for row in own if row in others]
        return paired([own[row] for row in common], [others[row] for row in common]) if common else None

    def _by_order(self, strategy: str) -> dict[str, list[float]]:
        """The areas of each row, one for each order of its seeds."""
        scores = {row: score for row, (score, _) in self.scores.get(strategy, {}).items()}
        return {row: [order.normalised or 0.0 for order in score.orders] for row, score in scores.items()}

    def beaten(self, strategy: str, by: float) -> list[tuple[str, str, float, float]]:
        """Rows on which another strategy, not an oracle, exceeds it by more than `by`: the row, the best strategy, its
        area, the area of `strategy`. The largest gap first."""
        own, gaps = self.areas(strategy), []
        for row, area in own.items():
            rivals = {name: self.areas(name).get(row, 0.0) for name in self.scores if name not in ORACLES}
            best = max(rivals, key=lambda name: rivals[name])
            if rivals[best] > area + by:
                gaps.append((row, best, rivals[best], area))
        return sorted(gaps, key=lambda gap: gap[3] - gap[2])


def _clock(scores: Sequence[Score]) -> Clock | None:
    """None if no virtual time passed."""
    if any(score.elapsed is None for score in scores):
        return None
    half_times = [order.half_time for score in scores for order in score.orders]
    found = [seconds for seconds in half_times if seconds is not None]
    return Clock(
        mean=mean(score.normalised_time or 0.0 for score in scores),
        idle=_mean(score.idle for score in scores) or 0.0,
        half_found=len(found) / len(half_times),
        half_time=median(found) if found else None,
    )


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return mean(known) if known else None


def _median_until(figures: Iterable[float | None]) -> float | None:
    """None counts as infinity."""
    middle = median(math.inf if figure is None else figure for figure in figures)
    return None if math.isinf(middle) else middle


def leaderboards(results: Iterable[Result], strategies: Sequence[str]) -> dict[View, Leaderboard]:
    """A leaderboard for each view. Leaves out rows on which even the oracle found nothing, which may happen under a
    cap."""
    found: dict[View, list[Result]] = {}
    for result in results:
        of_view = found.setdefault(result.contest_run.view, [])
        if all(score.normalised is not None for score in result.comparison.scores):
            of_view.append(result)
    return {view: Leaderboard(tuple(rows), tuple(strategies)) for view, rows in found.items()}


def on_common_rows(all_of: Sequence[Leaderboard]) -> list[Leaderboard]:
    """The leaderboards, reduced to the rows that all of them have."""
    common = set.intersection(*({result.contest_run.row.name for result in ranking.results} for ranking in all_of))
    return [
        replace(ranking, results=tuple(r for r in ranking.results if r.contest_run.row.name in common))
        for ranking in all_of
    ]


# Leaderboards as tables: ranking, row by row, under a cap, ablations.


SHOWN = 8
"""Number of strategies with a column in the table of rows and a line in the plot."""
GAP = 0.05
"""How far another strategy must exceed the reference for the row to be listed."""


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Columns of numbers are right-aligned. An empty table becomes the word None."""
        if not self.lines:
            return "None.\n"
        rule = tuple("---" if _is_text(cells) else "---:" for cells in zip(*self.lines, strict=True))
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (self.columns, rule, *self.lines)) + "\n"


def _is_text(cells: Sequence[str]) -> bool:
    return any(letter.isalpha() for cell in cells for letter in cell)


def leaders(ranking: Leaderboard) -> Table:
    """All strategies by their mean, each compared with the reference; with a clock, also the time figures."""
    entries, reference = ranking.entries(), ranking.reference
    clocked = all(one.clock for one in entries)
    columns, cells = (FIELD_COLUMNS, _in_the_field) if clocked else (LAB_COLUMNS, _in_the_lab)
    lines = [(*cells(one), *_paired(ranking, one.strategy, reference)) for one in entries]
    return Table((*columns, f"against {reference}", "difference"), tuple(lines))


LAB_COLUMNS = ("strategy", "rows", "mean", "spread", "worst", "worst row", "r_prec", "coverage", "n90", "hosts", "s")
FIELD_COLUMNS = (
    "strategy",
    "rows",
    "mean",
    "spread",
    "by time",
    "failed",
    "requests",
    "idle",
    "half found",
    "half, s",
    "worst",
    "worst row",
)


def _in_the_lab(one: LeaderboardEntry) -> tuple[str, ...]:
    return (
        one.strategy,
        str(one.rows),
        *map(_cell, (one.mean, one.spread, one.worst)),
        one.worst_row,
        *map(_cell, (one.r_precision, one.coverage)),
        str(one.n90),
        _cell(one.hosts),
        f"{one.seconds:,.0f}",
    )


def _in_the_field(one: LeaderboardEntry) -> tuple[str, ...]:
    assert one.clock is not None, "under a clock"
    return (
        one.strategy,
        str(one.rows),
        *map(_cell, (one.mean, one.spread, one.clock.mean, one.failed)),
        "" if one.requests is None else f"{one.requests:,.1f}",
        *map(_cell, (one.clock.idle, one.clock.half_found)),
        "" if one.clock.half_time is None else f"{one.clock.half_time:,.0f}",
        _cell(one.worst),
        one.worst_row,
    )


def _paired(ranking: Leaderboard, strategy: str, reference: str) -> tuple[str, str]:
    pair = ranking.against(strategy, reference)
    if pair is None or strategy == reference:
        return "", ""
    return f"{pair.wins}–{pair.losses}–{pair.ties}", _difference(pair)


def _difference(pair: Paired) -> str:
    return f"{pair.difference:+.3f} [{pair.low:+.3f}, {pair.high:+.3f}]"


def row_by_row(ranking: Leaderboard) -> Table:
    """Normalised areas of the best strategies and the greedy oracle, and the size of each row."""
    names = [*ranking.best(SHOWN), *(name for name in ORACLES if name != "oracle" and name in ranking.scores)]
    areas = [ranking.areas(name) for name in names]
    lines = []
    for result in ranking.results:
        row, against = result.contest_run.row.name, result.comparison.yardstick
        lines.append((row, f"{against.relevant:,}", f"{against.budget:,}", *(_cell(of.get(row)) for of in areas)))
    lines.append(("**mean**", "", "", *(_cell(mean(of.values())) for of in areas)))
    return Table(("row", "relevant", "budget", *names), tuple(lines))


def beaten(ranking: Leaderboard) -> Table:
    """Rows on which the reference is clearly not the best."""
    reference = ranking.reference
    lines = [(row, best, _cell(area), _cell(own)) for row, best, area, own in ranking.beaten(reference, GAP)]
    return Table(("row", "best", "its area", reference), tuple(lines))


def capped(views: Mapping[Cap, Leaderboard]) -> Table:
    """Mean areas and shares of hosts found under each cap, on the rows that all caps have."""
    leaderboards = on_common_rows(list(views.values()))
    names = ["no cap" if cap is None else f"{cap:,} a host" for cap in views]
    lines = []
    for first, *others in _side_by_side(leaderboards):
        each = (first, *others)
        figures = (*(one.mean for one in each), *(one.hosts for one in each))
        lines.append((first.strategy, str(first.rows), *map(_cell, figures)))
    return Table(("strategy", "rows", *names, *(f"hosts, {name}" for name in names)), tuple(lines))


def _side_by_side(leaderboards: Sequence[Leaderboard]) -> list[list[LeaderboardEntry]]:
    """The entries of each strategy on all leaderboards, in the order of the first leaderboard."""
    by_name = [{one.strategy: one for one in ranking.entries()} for ranking in leaderboards]
    return [[entries[name] for entries in by_name] for name in by_name[0]]


def ablated(ranking: Leaderboard, whole: str) -> Table:
    """A strategy compared with variants that each lack one part; the largest loss first."""
    lines = [("everything", _cell(_mean_area(ranking.areas(whole))), "", "")]
    parts = [name for name in ranking.scores if name != whole]
    for name in sorted(parts, key=lambda name: mean(ranking.areas(name).values())):
        pair = ranking.against(name, whole)
        assert pair is not None, "both took the same rows"
        figures = (f"{pair.wins}–{pair.losses}–{pair.ties}", _difference(pair))
        lines.append((f"… without {name.rpartition('=')[2]}", _cell(_mean_area(ranking.areas(name))), *figures))
    return Table((whole, "mean", "wins–losses–ties", "difference"), tuple(lines))


def judges(ranking: Leaderboard) -> Table:
    """Precision and recall of the real judges, on reachable pages that were not used in training."""
    lines = []
    for result in ranking.results:
        if result.accuracy is not None:
            judge = result.contest_run.task.judge
            judge = TRAINED if judge.startswith(TRAINED) else judge
            lines.append(
                (result.contest_run.row.name, judge, _cell(result.accuracy.precision), _cell(result.accuracy.recall))
            )
    return Table(("row", "judge", "precision", "recall"), tuple(lines))


def _mean_area(areas: Mapping[str, float]) -> float | None:
    return mean(areas.values()) if areas else None


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"
