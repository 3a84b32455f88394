"""Logistic regression over the words of pages: the contribution of each word to the log odds that a page is relevant.

    minimise  (|w|² + b²) / 2 + freedom · Σ c · ln(1 + e^-±(w·x + b))

over examples x, each with weight c. The minimum is unique and found by L-BFGS in a fixed order, so it is reproducible.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import INT, array, kernel, kernels_in
from spoor.parse.words import PLACES, Features

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

INVERSE_REGULARISATION = 100.0
"""Inverse regularisation strength, C in most libraries. From 10 to 1000, F1 is the same within 0.01."""
_NEAR_ENOUGH = 1e-4
"""Convergence: stops when the norm of the gradient falls below this share of the first one."""
_MOST_STEPS = 500
_REMEMBERED = 10
FEW_ROWS = 1000
"""Up to this number of rows, the regression is solved over products of rows (linear kernel) instead of words: with 500
pages of 600 words, in a sixth of the time."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The features of a page: hash buckets and weights. Smaller than the words themselves."""

    places: NDArray[np.int32]
    weights: NDArray[np.float32]


def sample_of(found: Features) -> Sample:
    return Sample(found.places().astype(np.int32), found.weights.astype(np.float32))


@dataclass(frozen=True, eq=False)
class Rows:
    """A sparse matrix (CSR): samples one after the other; `ends` has the end of each, beginning with 0."""

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
    """Sets the weights of words to 0 that most pages of both classes contain: they count little, but would appear in
    every reason."""
    mostly = [_holders(rows.chosen(own)) > own.sum() / 2 for own in (relevant, ~relevant)]
    dropped = (mostly[0] & mostly[1])[rows.places]
    return Rows(rows.ends, rows.places, np.where(dropped, np.float32(0.0), rows.weights))


def _holders(rows: Rows) -> NDArray[np.int64]:
    """How many samples have a nonzero weight in each bucket."""
    return np.bincount(rows.places[rows.weights != 0.0], minlength=PLACES)


def fitted(
    rows: Rows,
    relevant: Flags,
    counts: Floats | None = None,
    freedom: float = INVERSE_REGULARISATION,
    products: Floats | None = None,
) -> tuple[Floats, float]:
    """The weight of each bucket, and the bias. `counts` is the weight of each example; None for 1. `products` are the
    dot products of all pairs of rows, if already computed."""
    sides, times = np.where(relevant, 1.0, -1.0), freedom * (np.ones(len(rows)) if counts is None else counts)
    if (products := pair_products(rows) if products is None else products) is not None:
        shares = _shares(products, sides, times)
        return _spread(rows.ends, rows.places, rows.weights, shares, PLACES), float(shares.sum())
    used, columns = np.unique(rows.places, return_inverse=True)
    held = (rows.ends, columns.astype(np.int32), rows.weights)
    found = minimised(lambda at: _loss(at, held, sides, times), np.zeros(len(used) + 1))
    weights = np.zeros(PLACES)
    weights[used] = found[:-1]
    return weights, float(found[-1])


def _shares(products: Floats, sides: Floats, times: Floats) -> Floats:
    """The coefficient of each row: the weights are a linear combination of rows, so few rows are few unknowns, whatever
    the number of words. Takes the same steps as the minimisation over the weights."""
    metric = products + 1.0  # The bias is the weight of a feature that every row has.

    def loss(shares: Floats) -> tuple[float, Floats]:
        scores = metric @ shares
        margins = sides * scores
        value = 0.5 * float(shares @ scores) + float(times @ np.logaddexp(0.0, -margins))
        return value, shares - times * sides * 0.5 * (1.0 - np.tanh(margins / 2.0))

    return minimised(loss, np.zeros(len(sides)), metric)


def cross_validated_scores(
    rows: Rows,
    relevant: Flags,
    folds: NDArray[np.int64],
    counts: Floats | None = None,
    products: Floats | None = None,
) -> Floats:
    """Cross-validation: each example is scored by the regression fitted without its fold. `products` as in `fitted`."""
    scores = np.zeros(len(relevant))
    for fold in np.unique(folds):
        held, taught = folds == fold, folds != fold
        known = None if products is None else products[np.ix_(taught, taught)]
        of_taught = None if counts is None else counts[taught]
        weights, bias = fitted(rows.chosen(taught), relevant[taught], of_taught, products=known)
        scores[held] = rows.chosen(held).scores(weights, bias)
    return scores


def calibration(scores: Floats, relevant: Flags, counts: Floats | None = None) -> tuple[float, float]:
    """Slope and intercept of the logistic function from scores to probabilities (Platt), from held-out scores."""
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


def minimised(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, metric: Floats | None = None
) -> Floats:
    """The minimum of a convex function, given with its gradient (L-BFGS with backtracking line search). `metric` is the
    Gram matrix of the vectors of which the unknowns are coefficients; None for the identity."""

    def measured(vector: Floats) -> Floats:
        return vector if metric is None else metric @ vector

    at, (value, slope) = start, function(start)
    first = length = math.sqrt(float(slope @ measured(slope)))
    moves: deque[_Move] = deque(maxlen=_REMEMBERED)
    step = 1.0 / max(1.0, first)
    for _ in range(_MOST_STEPS):
        if length <= _NEAR_ENOUGH * first:
            break
        direction = _downwards(slope, moves)
        falls = float(measured(slope) @ direction)
        while (there := function(at + step * direction))[0] > value + 1e-4 * step * falls and step > 1e-12:
            step *= 0.5
        moved, turned = step * direction, there[1] - slope
        turned_measured = measured(turned)
        if (product := float(moved @ turned_measured)) > 0.0:
            moves.append(_Move(moved, turned, measured(moved), turned_measured, product))
        at, (value, slope), step = at + moved, there, 1.0
        length = math.sqrt(float(slope @ measured(slope)))
    return at


class _Move(NamedTuple):
    """A step, and the change of the gradient; both also multiplied by the metric."""

    moved: Floats
    turned: Floats
    moved_measured: Floats
    turned_measured: Floats
    product: float


def _downwards(slope: Floats, moves: Sequence[_Move]) -> Floats:
    """The negative gradient, corrected by the last moves (two-loop recursion)."""
    direction, shares = -slope, []
    for move in reversed(moves):
        shares.append(float(move.moved_measured @ direction) / move.product)
        direction = direction - shares[-1] * move.turned
    if moves:
        last = moves[-1]
        direction = direction * (last.product / float(last.turned @ last.turned_measured))
    for move, share in zip(moves, reversed(shares), strict=True):
        direction = direction + (share - float(move.turned_measured @ direction) / move.product) * move.moved
    return direction


def pair_products(rows: Rows) -> Floats | None:
    """Dot products of all pairs of rows; None above `FEW_ROWS`."""
    return None if len(rows) > FEW_ROWS else _pair_products(rows.ends, rows.places, rows.weights, PLACES)


_ROWS = array(np.int64), array(np.int32), array(np.float32)


@kernel(*_ROWS, INT)
def _pair_products(
    ends: NDArray[np.int64], places: NDArray[np.int32], weights: NDArray[np.float32], size: int
) -> Floats:
    count, one = len(ends) - 1, np.zeros(size)
    found = np.zeros((count, count))
    for row in range(count):
        for k in range(ends[row], ends[row + 1]):
            one[places[k]] += weights[k]
        for other in range(row + 1):
            total = 0.0
            for k in range(ends[other], ends[other + 1]):
                total += weights[k] * one[places[k]]
            found[row, other] = found[other, row] = total
        for k in range(ends[row], ends[row + 1]):
            one[places[k]] = 0.0
    return found


@kernel(*_ROWS, array(np.float64))
def _products(ends: NDArray[np.int64], places: NDArray[np.int32], weights: NDArray[np.float32], by: Floats) -> Floats:
    found = np.zeros(len(ends) - 1)
    for row in range(len(ends) - 1):
        for k in range(ends[row], ends[row + 1]):
            found[row] += weights[k] * by[places[k]]
    return found


@kernel(*_ROWS, array(np.float64), INT)
def _spread(
    ends: NDArray[np.int64], places: NDArray[np.int32], weights: NDArray[np.float32], pull: Floats, size: int
) -> Floats:
    found = np.zeros(size)
    for row in range(len(ends) - 1):
        for k in range(ends[row], ends[row + 1]):
            found[places[k]] += weights[k] * pull[row]
    return found


KERNELS = kernels_in(__name__)
