"""Two strategies on the same rows: which is better, how often, and how sure is that?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 20_260_000
"""One for all intervals, so that a table that is made again is the same."""
TIE = 0.001
"""Areas that are nearer to each other than this are a tie: tables show three digits."""
Rows = Sequence[Sequence[float]]
"""A figure for each order of the seeds of each row."""


@dataclass(frozen=True)
class Paired:
    """One strategy against another, row by row: on how many it is above, below and level; the mean of the differences,
    and the interval in which 95 % of such means are when rows, and orders within rows, are drawn again."""

    wins: int
    losses: int
    ties: int
    difference: float
    low: float
    high: float


def paired(own: Rows, other: Rows) -> Paired:
    """What each reached on the same rows from the same orders; at least one row, and one order of each."""
    differences = [_differences(*row) for row in zip(own, other, strict=True)]
    means = np.array([np.mean(row) for row in differences])
    wins, losses = int((means >= TIE).sum()), int((means <= -TIE).sum())
    low, high = interval(differences)
    return Paired(wins, losses, len(means) - wins - losses, float(means.mean()), low, high)


def _differences(own: Sequence[float], other: Sequence[float]) -> list[float]:
    return [mine - its for mine, its in zip(own, other, strict=True)]


def interval(rows: Rows) -> tuple[float, float]:
    """Of the mean over rows, each the mean over its orders: the percentile bootstrap in two stages."""
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
