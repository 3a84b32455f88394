"""From examples, presumed ones and answers to a model: weights of words, probabilities, a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.judging.classifiers import TopicModel
from spoor.judging.held_out import FOLDS
from spoor.judging.regression import Flags, Floats, Sample, calibration, fitted, rows_of, scored_by_others

ENOUGH = 12
"""Answers of each kind from which on they alone say how probable a score is; before, the threshold lies midway."""


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
    rows = rows_of([each.sample for each in everything])
    scores = scored_by_others(rows, relevant, _folds(relevant))
    slope, shift, threshold = _scale(scores, relevant, len(begun), aim)
    weights, bias = fitted(rows, relevant)
    return TopicModel(
        name=name,
        trained_on=f"{len(said)} answers",
        threshold=threshold,
        bias=slope * bias + shift,
        words=(),
        weights=(slope * weights).astype(np.float32),
    )


def _folds(relevant: Flags) -> NDArray[np.int64]:
    """Each kind dealt out in turn, so that none of the folds is without one of them if that can be."""
    folds = np.zeros(len(relevant), np.int64)
    for own in (relevant, ~relevant):
        folds[own] = np.arange(own.sum()) % FOLDS
    return folds


def _scale(
    scores: Floats, relevant: Flags, begun: int, aim: tuple[float | None, float | None]
) -> tuple[float, float, float]:
    """Slope and shift of the log odds, and the threshold."""
    said = relevant[begun:]
    if min(said.sum(), (~said).sum()) < ENOUGH:
        middle = (scores[relevant].mean() + scores[~relevant].mean()) / 2.0
        return 1.0, -float(middle), 0.5
    slope, shift = calibration(scores[begun:], said)
    chances = 1.0 / (1.0 + np.exp(-(slope * scores[begun:] + shift)))
    return max(slope, 1e-3), shift, _threshold(chances, said, *aim)


def _threshold(chances: Floats, relevant: Flags, precision: float | None, recall: float | None) -> float:
    if recall is not None:
        return float(np.quantile(chances[relevant], 1.0 - recall, method="lower"))
    if precision is None:
        return 0.5
    order = np.argsort(-chances, kind="stable")
    shares = np.cumsum(relevant[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= precision)
    return float(chances[order[enough[-1]]]) if len(enough) else float(chances.max())
