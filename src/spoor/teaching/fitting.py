"""Fits a model to examples, presumed negatives and answers: word weights, calibrated probabilities, a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spoor.judging.classifiers import TopicModel
from spoor.judging.regression import (
    Flags,
    Floats,
    Rows,
    Sample,
    cross_validated_scores,
    fitted,
    minimised,
    pair_products,
    rows_of,
)
from spoor.teaching.presumed import rarity

ENOUGH = 12
"""Answers of each class needed to estimate precision or recall."""
SPREAD = 0.3
"""Standard deviation, in log odds, of the error of a threshold found without answers. With a smaller value answers
count for less: a hundred negative answers could not move the threshold far enough. With a larger one the first few
answers move it too far."""
SLOPE_SPREAD = 0.5
"""The same for the logarithm of the slope of log odds over the score; the prior is a slope of one."""
SLOPES = np.linspace(-2.0, 2.0, 17)
"""The logarithms of the slopes that are tried, in standard deviations."""
BEGUN = 0.5
"""Weight of an example page, relative to an answer. Examples resemble each other, answers differ."""
FOLDS, OF_MANY, MANY = 10, 5, 200
"""Folds of the cross-validation. With few folds, a model that lacks some of the few positives scores the held-out
ones too low. `OF_MANY` folds are enough for more than `MANY` examples and answers, and save time."""
FEW = 5
"""Negative answers from which on the presumed negatives are ignored in `_midway`."""
LEAST_SEEN = 20
"""Pages needed to find the threshold from their scores."""


@dataclass(frozen=True, eq=False)
class Example:
    sample: Sample
    relevant: bool


@dataclass(frozen=True, eq=False)
class Fit:
    """A model, and the log odds of each answered page in cross-validation, by a model fitted without it."""

    model: TopicModel
    unseen: Floats

    def shifted(self, shift: float) -> Fit:
        return Fit(replace(self.model, bias=self.model.bias - shift), self.unseen - shift)


def learned_from(
    name: str,
    begun: Sequence[Example],
    said: Sequence[Example],
    aim: tuple[float | None, float | None] = (None, None),
) -> Fit:
    everything = [*begun, *said]
    relevant = np.array([each.relevant for each in everything])
    rows = _scaled(rows_of([each.sample for each in everything]))
    counts = np.where(relevant & (np.arange(len(everything)) < len(begun)), BEGUN, 1.0)
    products = pair_products(rows)
    scores = cross_validated_scores(rows, relevant, _folds(relevant), counts, products)
    midway = _midway(scores, relevant, len(begun))
    slope, even = _calibrated(scores[len(begun) :] - midway, relevant[len(begun) :])
    unseen = slope * (scores[len(begun) :] - midway - even)
    weights, bias = fitted(rows, relevant, counts, products=products)
    model = TopicModel(
        name=name,
        trained_on=f"{len(said)} answers",
        threshold=_threshold(unseen, relevant[len(begun) :], *aim),
        bias=slope * (bias - midway - even),
        words=(),
        weights=(slope * weights * rarity()).astype(np.float32),
    )
    return Fit(model, unseen)


def has_enough(said: Flags) -> bool:
    """Whether precision or recall can be estimated from these answers."""
    return int(min(said.sum(), (~said).sum())) >= ENOUGH


def needed_shift(unseen: Floats, said: Flags, split: float) -> float:
    """By how much log odds are too high, given that pages without an answer divide at `split`, and given the
    cross-validated log odds `unseen` of the pages with the answers `said`."""
    return _even(unseen, said, split, SPREAD)[0]


def _even(log_odds: Floats, said: Flags, split: float, spread: float) -> tuple[float, float]:
    """The log odds at which a page is as likely relevant as not, with a prior at `split` of this standard deviation;
    and the loss there."""

    def loss(at: Floats) -> tuple[float, Floats]:
        moved, off = log_odds - at[0], (at[0] - split) / spread
        misfit = float(np.logaddexp(0.0, np.where(said, -moved, moved)).sum()) + 0.5 * off * off
        return misfit, np.array([off / spread - (0.5 + 0.5 * np.tanh(moved / 2.0) - said).sum()])

    at = minimised(loss, np.array([split]))
    return float(at[0]), loss(at)[0]


def divided(scores: Floats) -> float:
    """The score that best divides pages without an answer into two classes: the one with the largest variance between
    the classes (Otsu's method). 0 if there are too few pages, or all scores are equal."""
    ordered, below = np.sort(scores), np.arange(1, len(scores))
    if len(ordered) < LEAST_SEEN or ordered[0] == ordered[-1]:
        return 0.0
    sums, above = np.cumsum(ordered), len(ordered) - below
    apart = sums[:-1] / below - (sums[-1] - sums[:-1]) / above
    best = int(np.argmax(below * above * apart**2))
    return float(ordered[best] + ordered[best + 1]) / 2.0


def _scaled(rows: Rows) -> Rows:
    """Features weighted by rarity: common words count less before any training."""
    return replace(rows, weights=rows.weights * rarity()[rows.places])


def _folds(relevant: Flags) -> NDArray[np.int64]:
    """Stratified folds: each has examples of both classes if there are enough."""
    folds, parts = np.zeros(len(relevant), np.int64), FOLDS if len(relevant) <= MANY else OF_MANY
    for own in (relevant, ~relevant):
        folds[own] = np.arange(own.sum()) % parts
    return folds


def _calibrated(scores: Floats, said: Flags) -> tuple[float, float]:
    """Slope of the log odds of answers, and the score at which they are 0 (Platt scaling), with priors at 1 and 0.
    Takes the best of some positive slopes, so that log odds never fall with the score; for each the loss is convex."""
    best, least = (1.0, 0.0), math.inf
    for slope in np.exp(SLOPE_SPREAD * SLOPES).tolist():
        even, misfit = _even(slope * scores, said, 0.0, slope * SPREAD)
        misfit += 0.5 * (math.log(slope) / SLOPE_SPREAD) ** 2
        if misfit < least:
            best, least = (slope, even / slope), misfit
    return best


def _midway(scores: Floats, relevant: Flags, begun: int) -> float:
    """Halfway between the mean scores of both classes. Presumed negatives are unlike real pages, so they count only
    while there are few negative answers."""
    known = ~relevant & (np.arange(len(relevant)) >= begun)
    others = known if known.sum() >= FEW else ~relevant
    return float(scores[relevant].mean() + scores[others].mean()) / 2.0


def _threshold(unseen: Floats, said: Flags, precision: float | None, recall: float | None) -> float:
    if not has_enough(said):
        return 0.5
    chances = 0.5 + 0.5 * np.tanh(unseen / 2.0)
    if recall is not None:
        return float(np.quantile(chances[said], 1.0 - recall, method="lower"))
    if precision is None:
        return 0.5
    order = np.argsort(-chances, kind="stable")
    shares = np.cumsum(said[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= precision)
    return float(chances[order[enough[-1]]]) if len(enough) else float(chances.max())
