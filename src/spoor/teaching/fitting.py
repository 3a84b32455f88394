"""From examples, presumed ones and answers to a model: weights of words, probabilities, a threshold."""

from __future__ import annotations

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
    calibration,
    cross_validated_scores,
    fitted,
    pair_products,
    rows_of,
)
from spoor.teaching.presumed import rarity

ENOUGH = 12
"""Answers of each kind from which on they say how steeply the probability rises with the score."""
UNANSWERED = 30
"""As many answers of each kind say as much of the threshold as all pages do that nobody has answered about."""
BEGUN = 0.5
"""Of an answer: so much a relevant page counts that the student began with. Examples are alike, answers differ."""
FOLDS, OF_MANY, MANY = 10, 5, 200
"""Of examples and answers: a page is scored too low by a student that knows few of the relevant ones. Of more than
`MANY` it knows enough, and to fit them takes time."""
UNSURE = 3
"""As many answers of each kind say as much of the threshold as the examples do, while there are fewer than `ENOUGH`."""
FEW = 5
"""Answers that say a page is irrelevant, from which on they stand for all that are."""
LEAST_SEEN = 20
"""Pages from which on their scores say where the threshold lies."""
LEAST_SLOPE = 1e-3
"""A higher score never means less, however the answers are."""


@dataclass(frozen=True, eq=False)
class Example:
    sample: Sample
    relevant: bool


def learned_from(
    name: str,
    begun: Sequence[Example],
    said: Sequence[Example],
    aim: tuple[float | None, float | None] = (None, None),
) -> TopicModel:
    everything = [*begun, *said]
    relevant = np.array([each.relevant for each in everything])
    rows = _scaled(rows_of([each.sample for each in everything]))
    counts = np.where(relevant & (np.arange(len(everything)) < len(begun)), BEGUN, 1.0)
    products = pair_products(rows)
    scores = cross_validated_scores(rows, relevant, _folds(relevant), counts, products)
    slope, shift, threshold = _scale(scores, relevant, len(begun), aim)
    weights, bias = fitted(rows, relevant, counts, products=products)
    return TopicModel(
        name=name,
        trained_on=f"{len(said)} answers",
        threshold=threshold,
        bias=slope * bias + shift,
        words=(),
        weights=(slope * weights * rarity()).astype(np.float32),
    )


def has_enough(said: Sequence[Example]) -> bool:
    """Whether these answers say how steeply the probability rises with the score."""
    return _of_each_kind(_kinds(said)) >= ENOUGH


def unanswered_share(said: Sequence[Example]) -> float:
    """How much of the threshold is said by pages that nobody has answered about; the rest is said by answers."""
    return UNANSWERED / (UNANSWERED + _of_each_kind(_kinds(said)))


def _kinds(said: Sequence[Example]) -> Flags:
    return np.array([each.relevant for each in said], bool)


def _of_each_kind(said: Flags) -> int:
    return int(min(said.sum(), (~said).sum()))


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


def _scale(
    scores: Floats, relevant: Flags, begun: int, aim: tuple[float | None, float | None]
) -> tuple[float, float, float]:
    """Slope and shift of the log odds, and the threshold. `begun` examples come before those that were answered."""
    said, scored, midway = relevant[begun:], scores[begun:], _midway(scores, relevant, begun)
    if not (rarer := _of_each_kind(said)):
        return 1.0, -midway, 0.5
    slope, shift = calibration(scored, said)
    slope = max(slope, LEAST_SLOPE)
    even = float(np.clip(-shift / slope, scored.min(), scored.max()))  # Few answers may say the most absurd things.
    if rarer < ENOUGH:
        # The first pages are those that a strategy learns most from, so none is refused by one or two answers.
        return 1.0, -(rarer * even + UNSURE * min(midway, even)) / (rarer + UNSURE), 0.5
    chances = 1.0 / (1.0 + np.exp(-slope * (scored - even)))
    return slope, -slope * even, _threshold(chances, said, *aim)


def _midway(scores: Floats, relevant: Flags, begun: int) -> float:
    """Between the means of both kinds. Presumed negatives are unlike any page, so they count only while few real ones
    are known."""
    known = ~relevant & (np.arange(len(relevant)) >= begun)
    others = known if known.sum() >= FEW else ~relevant
    return float(scores[relevant].mean() + scores[others].mean()) / 2.0


def _threshold(chances: Floats, relevant: Flags, precision: float | None, recall: float | None) -> float:
    if recall is not None:
        return float(np.quantile(chances[relevant], 1.0 - recall, method="lower"))
    if precision is None:
        return 0.5
    order = np.argsort(-chances, kind="stable")
    shares = np.cumsum(relevant[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= precision)
    return float(chances[order[enough[-1]]]) if len(enough) else float(chances.max())
