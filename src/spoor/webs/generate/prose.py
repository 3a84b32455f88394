"""How words become text: drawn so that the first words of a list come up most, as in real language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.compilation import compiled
from spoor.webs.generate.randomness import Stream, begin, bell, chance, new_stream, place, running_sums, seed_of
from spoor.webs.generate.words import LANGUAGES, WITHOUT_SPACES

TEXTS = 200
"""The purpose of these streams of chance."""


@dataclass(frozen=True)
class Vocabulary:
    words: tuple[str, ...]
    sums: NDArray[np.float64]
    between: str = " "


def vocabulary(*parts: tuple[float, Sequence[str]], between: str = " ", even: bool = False) -> Vocabulary:
    """Word lists with their shares of the text; inside a list the k-th word has the weight 1/k (Zipf), or all have the
    same."""
    words = tuple(word for _, part in parts for word in part)
    weights = [share * (np.full(len(part), 1 / len(part)) if even else _zipf(len(part))) for share, part in parts]
    return Vocabulary(words, running_sums(np.concatenate(weights)), between)


def _zipf(words: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = 1 / np.arange(1, words + 1)
    return weights / np.sum(weights)


LANGUAGE = {
    name: vocabulary((1.0, words), between="" if name in WITHOUT_SPACES else " ") for name, words in LANGUAGES.items()
}
"""The everyday words of each language."""


class Author:
    """Writes one page after another; what is written follows from the seed and the page's number alone."""

    def __init__(self, seed: int) -> None:
        self._seed = seed_of(seed)
        self._stream = new_stream()

    def turn_to(self, page: int) -> None:
        begin(self._stream, self._seed, TEXTS, page)

    def chance(self) -> float:
        return chance(self._stream)

    def between_0_and_1(self, mean: float, deviation: float) -> float:
        """Normally distributed, cut off at 0 and 1."""
        return min(1.0, max(0.0, mean + deviation * bell(self._stream)))

    def write(self, source: Vocabulary, count: int) -> str:
        return source.between.join([source.words[k] for k in _places(self._stream, source.sums, count)])


@compiled
def _places(stream: Stream, sums: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    places = np.empty(count, np.int64)
    for k in range(count):
        places[k] = place(stream, sums)
    return places
