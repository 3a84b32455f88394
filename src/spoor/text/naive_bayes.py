"""Which of several classes does a text belong to? Multinomial naive Bayes: words are drawn one by one, each class has
its own chances for them.

    P(class | text) ∝ P(class) · Π P(word | class)
    P(word | class) = (times in class + 1) / (words in class + |V|)

Words outside the vocabulary V say nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MOST_WORDS = 100_000
"""Of the vocabulary: those that occur most often."""


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """`times` has a row for each of `words`, a column for each of `classes`: how often the texts of the class hold the
    word. `texts` counts the texts of each class."""

    classes: tuple[str, ...]
    texts: tuple[int, ...]
    words: tuple[str, ...] = field(repr=False)
    times: NDArray[np.uint32] = field(repr=False)
    _rows: Mapping[str, int] = field(init=False, repr=False)
    _chances: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        smoothed = self.times.astype(np.float64) + 1.0
        object.__setattr__(self, "_chances", np.log(smoothed / smoothed.sum(axis=0)))
        object.__setattr__(self, "_rows", {word: row for row, word in enumerate(self.words)})

    def posterior(self, words: Iterable[str]) -> NDArray[np.float64]:
        """The probability of each class; those before anything was read, when no word is known."""
        rows, counts = self._known(words)
        logs = np.log(np.array(self.texts) / sum(self.texts)) + counts @ self._chances[rows]
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    def knows(self, words: Iterable[str]) -> bool:
        return any(word in self._rows for word in words)

    def deciding(self, words: Iterable[str], winner: int, rival: int, most: int) -> list[str]:
        """The words of a text that spoke most for one class rather than another."""
        rows, counts = self._known(words)
        leads = counts * (self._chances[rows, winner] - self._chances[rows, rival])
        return [self.words[rows[k]] for k in np.argsort(-leads, kind="stable")[:most] if leads[k] > 0.0]

    def typical(self, wanted: Sequence[int], most: int) -> list[str]:
        """The words that tell the wanted classes from the rest: frequent there, and rarer elsewhere."""
        inside = self.times[:, wanted].sum(axis=1) + 1.0
        outside = np.delete(self.times, wanted, axis=1).sum(axis=1) + 1.0
        share, rest = inside / inside.sum(), outside / outside.sum()
        leads = share * np.log(share / rest)
        return [self.words[k] for k in np.argsort(-leads, kind="stable")[:most] if leads[k] > 0.0]

    def _known(self, words: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        counts = Counter([row for row in map(self._rows.get, words) if row is not None])
        return np.array(list(counts), np.int64), np.array(list(counts.values()), np.float64)


def learned(texts: Mapping[str, Sequence[Sequence[str]]]) -> NaiveBayes:
    """From the texts of each class, cut into words."""
    by_class = [Counter(word for text in of_class for word in text) for of_class in texts.values()]
    together: Counter[str] = sum(by_class, Counter())
    kept = sorted(sorted(together), key=lambda word: -together[word])[:MOST_WORDS]
    times = np.array([[counts[word] for counts in by_class] for word in kept], np.uint32)
    return NaiveBayes(tuple(texts), tuple(map(len, texts.values())), tuple(kept), times.reshape(len(kept), len(texts)))
