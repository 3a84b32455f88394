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


@dataclass(frozen=True)
class Paired:
    """One strategy against another, row by row: on how many it is above, below and level; the mean of the differences,
    and the interval in which 95 % of such means are when rows are drawn again."""

    wins: int
    losses: int
    ties: int
    difference: float
    low: float
    high: float


def paired(own: Sequence[float], other: Sequence[float]) -> Paired:
    """What each reached on the same rows, in the same order; at least one."""
    differences = np.array(own) - np.array(other)
    wins, losses = int((differences >= TIE).sum()), int((differences <= -TIE).sum())
    low, high = interval(differences.tolist())
    return Paired(wins, losses, len(differences) - wins - losses, float(differences.mean()), low, high)


def interval(figures: Sequence[float]) -> tuple[float, float]:
    """Of the mean: the percentile bootstrap."""
    drawn = np.random.default_rng(SEED).integers(len(figures), size=(RESAMPLES, len(figures)))
    means = np.array(figures)[drawn].mean(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
