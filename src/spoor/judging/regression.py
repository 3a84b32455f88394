"""Logistic regression over the words of pages: what each word adds to the log odds that a page is relevant.

    minimise  (|w|² + b²) / 2 + freedom · Σ c · ln(1 + e^-±(w·x + b))

over examples x, each counting c times. One minimum, found by L-BFGS in a fixed order, so two runs are the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.judging.held_out import FOLDS
from spoor.parse.words import PLACES, Features

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FREEDOM = 100.0
"""How far weights may go to fit the examples, C of most libraries. From 10 to 1000 F1 is the same within 0.01."""
_NEAR_ENOUGH = 1e-4
"""Of the first slope: a smaller one is as flat as needed."""
_MOST_STEPS = 500
_REMEMBERED = 10


@dataclass(frozen=True, eq=False)
class Sample:
    """What a page is told apart by: the places of its features and their weights. Smaller than the words themselves."""

    places: NDArray[np.int32]
    weights: NDArray[np.float32]


def sample_of(found: Features) -> Sample:
    return Sample(found.places().astype(np.int32), found.weights.astype(np.float32))


@dataclass(frozen=True, eq=False)
class Rows:
    """Samples one after the other: `ends` says where each ends, beginning with 0."""

    ends: NDArray[np.int64]
    places: NDArray[np.int32]
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ends) - 1

    def chosen(self, which: Flags) -> Rows:
        lengths = np.diff(self.ends)
        kept = np.repeat(which, lengths)
        return Rows(np.concatenate([[0], np.cumsum(lengths[which])]), self.places[kept], self.weights[kept])

    def scores(self, weights: NDArray[np.floating], bias: float) -> Floats:
        return _products(self.ends, self.places, self.weights, weights.astype(np.float64)) + bias


def rows_of(samples: Sequence[Sample]) -> Rows:
    ends = np.cumsum([0, *(len(each.places) for each in samples)]).astype(np.int64)
    places = [np.empty(0, np.int32), *(each.places for each in samples)]
    weights = [np.empty(0, np.float32), *(each.weights for each in samples)]
    return Rows(ends, np.concatenate(places), np.concatenate(weights))


def without_common(rows: Rows, relevant: Flags) -> Rows:
    """Without the words that most pages of either kind hold: they would count for little, but stand in every reason."""
    mostly = [_holders(rows.chosen(own)) > own.sum() / 2 for own in (relevant, ~relevant)]
    dropped = (mostly[0] & mostly[1])[rows.places]
    return Rows(rows.ends, rows.places, np.where(dropped, np.float32(0.0), rows.weights))


def _holders(rows: Rows) -> NDArray[np.int64]:
    """How many samples have something at each place."""
    return np.bincount(rows.places[rows.weights != 0.0], minlength=PLACES)


def fitted(rows: Rows, relevant: Flags, counts: Floats | None = None, freedom: float = FREEDOM) -> tuple[Floats, float]:
    """The weight of each place, and the bias. `counts` says how many examples each stands for; None: one."""
    used, columns = np.unique(rows.places, return_inverse=True)
    times = freedom * (np.ones(len(rows)) if counts is None else counts)
    held = (rows.ends, columns.astype(np.int32), rows.weights)
    found = minimised(lambda at: _loss(at, held, np.where(relevant, 1.0, -1.0), times), np.zeros(len(used) + 1))
    weights = np.zeros(PLACES)
    weights[used] = found[:-1]
    return weights, float(found[-1])


def scored_by_others(rows: Rows, relevant: Flags, folds: NDArray[np.int64], counts: Floats | None = None) -> Floats:
    """Each example by what was fitted without its fold."""
    scores = np.zeros(len(relevant))
    for fold in range(FOLDS):
        held, taught = folds == fold, folds != fold
        weights, bias = fitted(rows.chosen(taught), relevant[taught], None if counts is None else counts[taught])
        scores[held] = rows.chosen(held).scores(weights, bias)
    return scores


def calibration(scores: Floats, relevant: Flags, counts: Floats | None = None) -> tuple[float, float]:
    """Slope and shift that make probabilities of scores, by examples that were scored unseen (Platt)."""
    times = np.ones(len(scores)) if counts is None else counts
    held = (np.arange(len(scores) + 1), np.zeros(len(scores), np.int32), scores.astype(np.float32))
    slope, shift = minimised(lambda at: _loss(at, held, np.where(relevant, 1.0, -1.0), times), np.zeros(2))
    return float(slope), float(shift)


Held = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def _loss(at: Floats, held: Held, sides: Floats, times: Floats) -> tuple[float, Floats]:
    margins = sides * (_products(*held, at[:-1]) + at[-1])
    value = 0.5 * float(at @ at) + float(times @ np.logaddexp(0.0, -margins))
    pull = -times * sides * 0.5 * (1.0 - np.tanh(margins / 2.0))
    slope = at.copy()
    slope[:-1] += _spread(*held, pull, len(at) - 1)
    slope[-1] += pull.sum()
    return value, slope


def minimised(function: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Where a convex function, given with its slope, is least (L-BFGS, each step halved until it leads down)."""
    at, (value, slope) = start, function(start)
    flat = _NEAR_ENOUGH * float(np.linalg.norm(slope))
    moves: deque[tuple[Floats, Floats, float]] = deque(maxlen=_REMEMBERED)
    step = 1.0 / max(1.0, float(np.linalg.norm(slope)))
    for _ in range(_MOST_STEPS):
        if np.linalg.norm(slope) <= flat:
            break
        direction = _downwards(slope, moves)
        falls = float(slope @ direction)
        while (there := function(at + step * direction))[0] > value + 1e-4 * step * falls and step > 1e-12:
            step *= 0.5
        moved, turned = step * direction, there[1] - slope
        if (product := float(moved @ turned)) > 0.0:
            moves.append((moved, turned, product))
        at, (value, slope), step = at + moved, there, 1.0
    return at


def _downwards(slope: Floats, moves: Sequence[tuple[Floats, Floats, float]]) -> Floats:
    """Against the slope, corrected by how it turned in the last moves."""
    direction, shares = -slope, []
    for moved, turned, product in reversed(moves):
        shares.append(float(moved @ direction) / product)
        direction = direction - shares[-1] * turned
    if moves:
        _, turned, product = moves[-1]
        direction = direction * (product / float(turned @ turned))
    for (moved, turned, product), share in zip(moves, reversed(shares), strict=True):
        direction = direction + (share - float(turned @ direction) / product) * moved
    return direction


@compiled
def _products(ends: NDArray[np.int64], places: NDArray[np.int32], weights: NDArray[np.float32], by: Floats) -> Floats:
    found = np.zeros(len(ends) - 1)
    for row in range(len(ends) - 1):
        for k in range(ends[row], ends[row + 1]):
            found[row] += weights[k] * by[places[k]]
    return found


@compiled
def _spread(
    ends: NDArray[np.int64], places: NDArray[np.int32], weights: NDArray[np.float32], pull: Floats, size: int
) -> Floats:
    found = np.zeros(size)
    for row in range(len(ends) - 1):
        for k in range(ends[row], ends[row + 1]):
            found[places[k]] += weights[k] * pull[row]
    return found
