"""From examples, presumed ones and answers to a model: weights of words, probabilities, a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spoor.judging.classifiers import TopicModel
from spoor.judging.held_out import FOLDS
from spoor.judging.regression import (
    Flags,
    Floats,
    Rows,
    Sample,
    calibration,
    fitted,
    pair_products,
    rows_of,
    scored_by_others,
)
from spoor.teaching.presumed import rarity

ENOUGH = 12
"""Answers of each kind from which on they alone say how probable a score is; before, the threshold lies midway between
the two kinds."""
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
    products = pair_products(rows)
    scores = scored_by_others(rows, relevant, _folds(relevant), products=products)
    slope, shift, threshold = _scale(scores, relevant, len(begun), aim)
    weights, bias = fitted(rows, relevant, products=products)
    return TopicModel(
        name=name,
        trained_on=f"{len(said)} answers",
        threshold=threshold,
        bias=slope * bias + shift,
        words=(),
        weights=(slope * weights * rarity()).astype(np.float32),
    )


def has_enough(said: Sequence[Example]) -> bool:
    """Whether these answers alone say how probable a score is."""
    return _is_enough(np.array([each.relevant for each in said], bool))


def _is_enough(said: Flags) -> bool:
    return bool(min(said.sum(), (~said).sum()) >= ENOUGH)


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
    folds = np.zeros(len(relevant), np.int64)
    for own in (relevant, ~relevant):
        folds[own] = np.arange(own.sum()) % FOLDS
    return folds


def _scale(
    scores: Floats, relevant: Flags, begun: int, aim: tuple[float | None, float | None]
) -> tuple[float, float, float]:
    """Slope and shift of the log odds, and the threshold. `begun` examples come before those that were answered."""
    said = relevant[begun:]
    if not _is_enough(said):
        return 1.0, -_midway(scores, relevant, begun), 0.5
    slope, shift = calibration(scores[begun:], said)
    chances = 1.0 / (1.0 + np.exp(-(slope * scores[begun:] + shift)))
    return max(slope, LEAST_SLOPE), shift, _threshold(chances, said, *aim)


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
