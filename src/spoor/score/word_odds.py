"""Which words speak for a wanted page, and how much? Naive Bayes on words that are there or not.

    odds(word) = (wanted with it + m p) / (unwanted with it + m (1 - p)) : p / (1 - p)      p = wanted / all

So a word that was never met says nothing, however rare the wanted are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spoor.saved_state import ANY, State, array_in, as_counts, counts_in, number_in
from spoor.text.features import PLACES

Said = NDArray[np.int32]
"""Words as numbers."""

DOUBT = 2.0
"""m: a word must be met more often than this to say much."""


class WordOdds:
    """Counts examples as they come; `weigh` works out what the words weigh from then on. Until that was done with
    examples of both kinds, it is not `ready`."""

    def __init__(self) -> None:
        self._examples = [0, 0]
        self._with_word = np.zeros((2, PLACES), np.int32)
        self._prior = 0.0
        self._weights: NDArray[np.float32] | None = None

    @property
    def ready(self) -> bool:
        return self._weights is not None

    def count(self, said: Said, wanted: bool) -> None:
        self._examples[wanted] += 1
        self._with_word[int(wanted), said] += 1

    def weigh(self) -> None:
        unwanted, wanted = self._examples
        if not unwanted or not wanted:
            return
        share = wanted / (wanted + unwanted)
        against, speaking_for = self._with_word
        self._prior = float(np.log(wanted / unwanted))
        odds = (speaking_for + DOUBT * share) / (against + DOUBT * (1.0 - share))
        self._weights = (np.log(odds) - self._prior).astype(np.float32)

    def state(self) -> State:
        return {
            "examples": as_counts(self._examples),
            "with word": self._with_word.copy(),
            "prior": self._prior,
            "weights": np.zeros(0, np.float32) if self._weights is None else self._weights,
        }

    def restore(self, state: State) -> None:
        weights = array_in(state, "weights", np.float32, (ANY,), -100.0, 100.0)
        if len(weights):
            weights = array_in(state, "weights", np.float32, (PLACES,))
        self._weights = weights.astype(np.float32) if len(weights) else None
        self._with_word[:] = array_in(state, "with word", np.int32, self._with_word.shape, 0)
        self._examples, self._prior = counts_in(state, "examples", 2), number_in(state, "prior")

    def chance(self, said: Said) -> float:
        """That a page is wanted, by what is said of it; only once it is `ready`."""
        assert self._weights is not None
        return float(1.0 / (1.0 + np.exp(-self._prior - float(self._weights[said].sum()))))
