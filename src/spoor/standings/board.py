"""The board: every strategy on every row, in one view. Who leads, and how sure is that?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import mean, median

from spoor.assembly import ORACLES
from spoor.contest.heats import Result, View
from spoor.measure.bootstrap import Paired, paired
from spoor.measure.harvest import Score, Yardstick

CHAMPION = "learned"
"""The strategy that others are compared with, where it took part."""


@dataclass(frozen=True)
class Standing:
    """What a strategy did. `mean` and `worst` are normalised areas; `spread` (over orders of the seeds), `failed`,
    `r_precision`, `coverage` and `hosts` (the share found of those with relevant pages) are means too; `requests`, for
    each relevant page, is a median; `n90` counts rows on which nine tenths were found; `seconds` are added up."""

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
    """What a strategy did with time. `mean` are normalised areas by time; `half_found` is the share of rows and orders
    in which half of the relevant pages were found, `half_time` the median of the seconds that this took."""

    mean: float
    idle: float
    half_found: float
    half_time: float | None


@dataclass(frozen=True)
class Board:
    """One result a row. `strategies` are those to look at, in the order in which they were named."""

    results: tuple[Result, ...]
    strategies: tuple[str, ...]

    @cached_property
    def scores(self) -> Mapping[str, Mapping[str, tuple[Score, Yardstick]]]:
        """By strategy and the name of the row; a row that a strategy did not take is missing."""
        found: dict[str, dict[str, tuple[Score, Yardstick]]] = {name: {} for name in self.strategies}
        for result in self.results:
            for score in result.comparison.scores:
                if score.strategy in found:
                    found[score.strategy][result.heat.row.name] = (score, result.comparison.yardstick)
        return {name: taken for name, taken in found.items() if taken}

    def areas(self, strategy: str) -> dict[str, float]:
        return {row: score.normalised or 0.0 for row, (score, _) in self.scores.get(strategy, {}).items()}

    def standings(self) -> list[Standing]:
        """The largest mean first; those that did not take all rows come after the others."""
        return sorted(map(self._standing, self.scores), key=lambda one: (-one.rows, -one.mean))

    def _standing(self, strategy: str) -> Standing:
        areas = self.areas(strategy)
        worst = min(areas, key=lambda row: areas[row])
        pairs = self.scores[strategy].values()
        scores = [score for score, _ in pairs]
        return Standing(
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
        """The champion, else the best that is no oracle."""
        ranked = [one.strategy for one in self.standings() if one.strategy not in ORACLES]
        return next((name for name in (CHAMPION, *ranked) if name in ranked), "oracle")

    def best(self, count: int) -> list[str]:
        """Strategies that took all rows, no oracles, the best first."""
        ranked = [one for one in self.standings() if one.strategy not in ORACLES]
        return [one.strategy for one in ranked if one.rows == len(self.results)][:count]

    def against(self, strategy: str, other: str) -> Paired | None:
        """On the rows that both took; None: there is none."""
        own, others = self._by_order(strategy), self._by_order(other)
        common = [row for row in own if row in others]
        return paired([own[row] for row in common], [others[row] for row in common]) if common else None

    def _by_order(self, strategy: str) -> dict[str, list[float]]:
        """The areas of each row from each order of its seeds."""
        scores = {row: score for row, (score, _) in self.scores.get(strategy, {}).items()}
        return {row: [order.normalised or 0.0 for order in score.orders] for row, score in scores.items()}

    def beaten(self, strategy: str, by: float) -> list[tuple[str, str, float, float]]:
        """Rows on which another one that is no oracle is so much above it: the row, the best of them, its area, the
        area of the strategy. The largest gap first."""
        own, gaps = self.areas(strategy), []
        for row, area in own.items():
            rivals = {name: self.areas(name).get(row, 0.0) for name in self.scores if name not in ORACLES}
            best = max(rivals, key=lambda name: rivals[name])
            if rivals[best] > area + by:
                gaps.append((row, best, rivals[best], area))
        return sorted(gaps, key=lambda gap: gap[3] - gap[2])


def _clock(scores: Sequence[Score]) -> Clock | None:
    """None: nothing took time."""
    if any(score.elapsed is None for score in scores):
        return None
    halves = [order.half_time for score in scores for order in score.orders]
    found = [seconds for seconds in halves if seconds is not None]
    return Clock(
        mean=mean(score.normalised_time or 0.0 for score in scores),
        idle=_mean(score.idle for score in scores) or 0.0,
        half_found=len(found) / len(halves),
        half_time=median(found) if found else None,
    )


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return mean(known) if known else None


def _median_until(figures: Iterable[float | None]) -> float | None:
    """None is more than any figure."""
    middle = median(math.inf if figure is None else figure for figure in figures)
    return None if math.isinf(middle) else middle


def boards(results: Iterable[Result], strategies: Sequence[str]) -> dict[View, Board]:
    """A board for each view. A row on which even the oracle found nothing, as may be under a cap, has no part."""
    found: dict[View, list[Result]] = {}
    for result in results:
        of_view = found.setdefault(result.heat.view, [])
        if all(score.normalised is not None for score in result.comparison.scores):
            of_view.append(result)
    return {view: Board(tuple(rows), tuple(strategies)) for view, rows in found.items()}


def on_common_rows(all_of: Sequence[Board]) -> list[Board]:
    """The boards with only the rows that each of them has."""
    common = set.intersection(*({result.heat.row.name for result in board.results} for board in all_of))
    return [replace(board, results=tuple(r for r in board.results if r.heat.row.name in common)) for board in all_of]
