"""Online logistic regression: the weights of features and evidence in the log odds of a link."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import INT, array, kernel, kernels_in
from spoor.files import LARGEST_NUMBER, State, array_in, count_in, renamed_parts
from spoor.ordering.learned.features import BITS, MOST

KEPT = 4096
"""Size of the replay buffer in visits; the oldest are overwritten."""
AGAIN = 4
"""Number of replayed visits after each visit."""
PACE, SLOW_PACE = 0.15, 0.02
"""Learning rates: of words, and of evidence, whose initial weights are already good."""
LARGEST_WEIGHT = 1e6
"""Bound for weights; steps are too small to reach it."""


class OnlineLogistic:
    """Stochastic gradient descent with a learning rate per weight (AdaGrad). Visits are few and costly, so earlier ones
    are replayed, selected by a fixed pseudo-random sequence, so that runs are reproducible."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        self.words = np.zeros(1 << BITS, np.float64)
        self.weights = weights.copy()
        self._word_steps = np.zeros(1 << BITS, np.float64)
        self._weight_steps = np.zeros(len(weights), np.float64)
        self._ids = np.zeros((KEPT, MOST), np.int32)
        self._counts = np.zeros(KEPT, np.int32)
        self._facts = np.zeros((KEPT, len(weights)), np.float64)
        self._labels = np.zeros(KEPT, np.float64)
        self._seen = 0

    def state(self) -> State:
        return {
            "words": self.words.copy(),
            "weights": self.weights.copy(),
            "word steps": self._word_steps.copy(),
            "weight steps": self._weight_steps.copy(),
            "ids": self._ids.copy(),
            "counts": self._counts.copy(),
            "facts": self._facts.copy(),
            "labels": self._labels.copy(),
            "seen": self._seen,
        }

    def restore(self, state: State) -> None:
        """Compiled code does not check ids and counts, and square roots need non-negative steps."""
        state = renamed_parts(state, {"wanted": "labels"})
        for name, kept, least, most in (
            ("words", self.words, -LARGEST_WEIGHT, LARGEST_WEIGHT),
            ("weights", self.weights, -LARGEST_WEIGHT, LARGEST_WEIGHT),
            ("word steps", self._word_steps, 0.0, LARGEST_NUMBER),
            ("weight steps", self._weight_steps, 0.0, LARGEST_NUMBER),
            ("ids", self._ids, 0, (1 << BITS) - 1),
            ("counts", self._counts, 0, MOST),
            ("facts", self._facts, -LARGEST_WEIGHT, LARGEST_WEIGHT),
            ("labels", self._labels, -1.0, 2.0),
        ):
            kept[:] = array_in(state, name, kept.dtype, kept.shape, least, most)
        self._seen = count_in(state, "seen")

    @property
    def seen(self) -> int:
        """Number of examples so far."""
        return self._seen

    def learn(self, ids: NDArray[np.int32], facts: Sequence[float], relevant: bool) -> int:
        """Returns the number of the example."""
        place, self._seen = self._seen % KEPT, self._seen + 1
        self._ids[place, : len(ids)] = ids
        self._counts[place] = len(ids)
        self._facts[place] = facts
        self._labels[place] = relevant
        kept = (self._ids, self._counts, self._facts, self._labels)
        steps = (self.words, self._word_steps, self.weights, self._weight_steps)
        _learn(place, self._seen, *kept, *steps)
        return self._seen

    def relabel(self, example: int, relevant: float) -> None:
        """Changes the label of an example to a fraction; ignored if the example has been overwritten."""
        if self._seen - example < KEPT:
            self._labels[(example - 1) % KEPT] = relevant


@kernel(INT, INT, array(np.int32, 2), array(np.int32), array(np.float64, 2), *[array(np.float64)] * 5)
def _learn(
    newest: int,
    seen: int,
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    facts: NDArray[np.float64],
    relevant: NDArray[np.float64],
    words: NDArray[np.float64],
    word_steps: NDArray[np.float64],
    weights: NDArray[np.float64],
    weight_steps: NDArray[np.float64],
) -> None:
    chosen = np.uint64(seen)
    example = np.int64(newest)
    for turn in range(AGAIN + 1):
        if turn > 0:
            chosen = chosen * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            example = np.int64(chosen >> np.uint64(33)) % min(seen, len(counts))
        size = 1.0 / math.sqrt(max(1, counts[example]))
        total = 0.0
        for k in range(counts[example]):
            total += words[ids[example, k]] * size
        for k in range(len(weights)):
            total += weights[k] * facts[example, k]
        wrong = 1.0 / (1.0 + math.exp(-min(30.0, max(-30.0, total)))) - relevant[example]
        for k in range(counts[example]):
            feature = ids[example, k]
            slope = wrong * size
            word_steps[feature] += slope * slope
            words[feature] -= PACE * slope / math.sqrt(1e-3 + word_steps[feature])
        for k in range(len(weights)):
            slope = wrong * facts[example, k]
            weight_steps[k] += slope * slope
            weights[k] -= SLOW_PACE * slope / math.sqrt(1.0 + weight_steps[k])


KERNELS = kernels_in(__name__)
