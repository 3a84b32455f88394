"""Trains a topic model from relevant and irrelevant pages: logistic regression."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.judging.classifiers import TopicModel
from spoor.judging.held_out import FOLDS, Accuracy, accuracy, folds_of
from spoor.judging.ngrams import calibrate
from spoor.judging.regression import (
    Flags,
    Floats,
    calibration,
    cross_validated_scores,
    fitted,
    pair_products,
    rows_of,
    sample_of,
    without_common,
)
from spoor.judging.training_pages import Example, Kept, read_examples, sides, usable
from spoor.parse.words import IN_TITLE, Features, features

LEAST_PAGES = 10
"""Minimum number of pages of each kind; a hundred are better."""
WORDS = 50
"""Words stored in a model, for strategies and for display."""
_BINS = 10


@dataclass(frozen=True)
class TopicEvaluation:
    """Cross-validation: each fold is judged by a model and threshold from the other folds. `astray` is the calibration
    error."""

    accuracy: Accuracy
    astray: float


@dataclass(frozen=True)
class TrainedTopic:
    """`against` are the words that count most against a page."""

    model: TopicModel
    trial: TopicEvaluation
    against: tuple[str, ...]


def train_topic(name: str, positive: Kept, negative: Kept, trained_on: str) -> TrainedTopic:
    _check_enough("positive", positive)
    _check_enough("negative", negative)
    _check_apart(positive.examples, negative.examples)
    found = [features(each.page.title, each.text) for each in (*positive.examples, *negative.examples)]
    own, others = len(positive.examples), len(negative.examples)
    relevant = np.arange(len(found)) < own
    folds = np.concatenate([folds_of(own), folds_of(others)])
    rows = without_common(rows_of([sample_of(each) for each in found]), relevant)
    products = pair_products(rows)
    scores = cross_validated_scores(rows, relevant, folds, products=products)
    slope, shift = _calibration(name, scores, relevant)
    chances = 1.0 / (1.0 + np.exp(-(slope * scores + shift)))
    weights, bias = fitted(rows, relevant, products=products)
    model = TopicModel(
        name=name,
        trained_on=trained_on,
        threshold=_threshold(chances, relevant),
        bias=slope * bias + shift,
        words=tuple(_strongest(found[:own], found[own:], weights)),
        weights=(slope * weights).astype(np.float32),
    )
    against = tuple(_strongest(found[own:], found[:own], -weights))
    return TrainedTopic(model, _trial(chances, relevant, folds), against)


@lru_cache(maxsize=1)
def topic_from(source: Path) -> TopicModel:
    """Trains on a folder or archive that has pages in `positive` and in `negative`."""
    positive, negative = sides(source, read_examples(source))
    return train_topic(source.name.partition(".")[0], usable(positive), usable(negative), source.name).model


def _check_enough(kind: str, kept: Kept) -> None:
    if len(kept.examples) < LEAST_PAGES:
        raise BadInput(f"too few {kind} pages: {kept}; {LEAST_PAGES} are needed of each kind")


def _check_apart(positive: Sequence[Example], negative: Sequence[Example]) -> None:
    names = {(example.page.title, example.text): example.name for example in positive}
    for example in negative:
        if both := names.get((example.page.title, example.text)):
            raise BadInput(f"{both} is positive and, as {example.name}, negative too; take one of them out")


def _calibration(name: str, scores: Floats, relevant: Flags) -> tuple[float, float]:
    slope, shift = calibration(scores, relevant)
    if slope <= 0.0:
        raise BadInput(f"{name}: no words distinguish the positive pages from the negative ones; check the examples")
    return slope, shift


def _threshold(chances: Floats, relevant: Flags) -> float:
    """Rounded to a thousandth, which loses nothing and leaves fewer values to compare."""
    rounded = chances.round(3)
    return calibrate(rounded[relevant].tolist(), rounded[~relevant].tolist())


def _trial(chances: Floats, relevant: Flags, folds: NDArray[np.int64]) -> TopicEvaluation:
    taken = np.zeros(len(relevant), bool)
    for fold in range(FOLDS):
        others = folds != fold
        taken[~others] = chances[~others] >= _threshold(chances[others], relevant[others])
    return TopicEvaluation(accuracy(taken, relevant), _astray(chances, relevant))


def _astray(chances: Floats, relevant: Flags) -> float:
    bins = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    gaps = [abs(float((chances[bins == b] - relevant[bins == b]).sum())) for b in range(_BINS)]
    return sum(gaps) / len(chances)


def _strongest(found: Sequence[Features], others: Sequence[Features], weights: Floats) -> list[str]:
    """The words that contribute most to these pages, on average, compared with the others."""
    adds: defaultdict[str, float] = defaultdict(float)
    for pages, share in ((found, 1.0 / len(found)), (others, -1.0 / len(others))):
        for each in pages:
            said = share * each.weights * weights[each.places()].clip(min=0.0)
            for word, adding in zip(each.words, said.tolist(), strict=True):
                adds[word] += adding
    strong = sorted((word for word in adds if adds[word] > 0.0), key=lambda word: (-adds[word], word))
    return list(dict.fromkeys(word.removeprefix(IN_TITLE) for word in strong))[:WORDS]
