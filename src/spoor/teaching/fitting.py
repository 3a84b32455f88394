"""From examples, presumed ones and answers to a model: weights of words, probabilities, a threshold."""

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
    fitted,
    minimised,
    pair_products,
    rows_of,
    scored_by_others,
)
from spoor.teaching.presumed import rarity

ENOUGH = 12
"""Answers of each kind from which on a share of them says something of a precision or a recall."""
SPREAD = 0.3
"""Log odds by which the threshold is off that is found without answers, as a standard deviation. The larger, the farther
the first answers move it; they are mostly no, and a threshold that is too high keeps a strategy from what it looks for."""
SLOPE_SPREAD = 0.5
"""The same of the logarithm of how steeply log odds rise with the score: as far as the regression knows, one to one."""
SLOPES = np.linspace(-2.0, 2.0, 17)
"""Those that are tried, in standard deviations."""
BEGUN = 0.5
"""Of an answer: so much a relevant page counts that the student began with. Examples are alike, answers differ."""
FOLDS, OF_MANY, MANY = 10, 5, 200
"""Of examples and answers: a page is scored too low by a student that knows few of the relevant ones. Of more than
`MANY` it knows enough, and to fit them takes time."""
FEW = 5
"""Answers that say a page is irrelevant, from which on they stand for all that are."""
LEAST_SEEN = 20
"""Pages from which on their scores say where the threshold lies."""


@dataclass(frozen=True, eq=False)
class Example:
    sample: Sample
    relevant: bool


@dataclass(frozen=True, eq=False)
class Fit:
    """A model, and the log odds of each answer by a model that was fitted without it."""

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
    scores = scored_by_others(rows, relevant, _folds(relevant), counts, products)
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
    """Whether a precision or a recall can be told of these answers."""
    return int(min(said.sum(), (~said).sum())) >= ENOUGH


def needed_shift(unseen: Floats, said: Flags, split: float) -> float:
    """By how much log odds are too high, if they divide pages nobody has answered about at `split`, and answers that
    were scored unseen are these."""
    return _even(unseen, said, split, SPREAD)[0]


def _even(log_odds: Floats, said: Flags, split: float, spread: float) -> tuple[float, float]:
    """Where a page is as likely relevant as not, as answers say, held to `split`; and how badly that fits."""

    def loss(at: Floats) -> tuple[float, Floats]:
        moved, off = log_odds - at[0], (at[0] - split) / spread
        misfit = float(np.logaddexp(0.0, np.where(said, -moved, moved)).sum()) + 0.5 * off * off
        return misfit, np.array([off / spread - (0.5 + 0.5 * np.tanh(moved / 2.0) - said).sum()])

    at = minimised(loss, np.array([split]))
    return float(at[0]), loss(at)[0]


def divided(scores: Floats) -> float:
    """The score that best divides pages nobody has answered about into two kinds: that with the largest variance
    between them (Otsu). 0: there are too few, or all are alike."""
    ordered, below = np.sort(scores), np.arange(1, len(scores))
    if len(ordered) < LEAST_SEEN or ordered[0] == ordered[-1]:
        return 0.0
    sums, above = np.cumsum(ordered), len(ordered) - below
    apart = sums[:-1] / below - (sums[-1] - sums[:-1]) / above
    best = int(np.argmax(below * above * apart**2))
    return float(ordered[best] + ordered[best + 1]) / 2.0


def _scaled(rows: Rows) -> Rows:
    """Common words count less from the beginning."""
    return replace(rows, weights=rows.weights * rarity()[rows.places])


def _folds(relevant: Flags) -> NDArray[np.int64]:
    """Each kind dealt out in turn, so that none of the folds is without one of them if that can be."""
    folds, parts = np.zeros(len(relevant), np.int64), FOLDS if len(relevant) <= MANY else OF_MANY
    for own in (relevant, ~relevant):
        folds[own] = np.arange(own.sum()) % parts
    return folds


def _calibrated(scores: Floats, said: Flags) -> tuple[float, float]:
    """Slope of the log odds of answers, and the score at which they are even (Platt); held to one and to 0. Of some
    slopes the best: all of them are above 0, so a higher score never means less, however the answers are."""
    best, least = (1.0, 0.0), math.inf
    for slope in np.exp(SLOPE_SPREAD * SLOPES).tolist():
        even, misfit = _even(slope * scores, said, 0.0, slope * SPREAD)
        misfit += 0.5 * (math.log(slope) / SLOPE_SPREAD) ** 2
        if misfit < least:
            best, least = (slope, even / slope), misfit
    return best


def _midway(scores: Floats, relevant: Flags, begun: int) -> float:
    """Between the means of both kinds. Presumed negatives are unlike any page, so they count only while few real ones
    are known."""
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
