"""What a path model sees of a page: which cluster of pages it is nearest to, and its weightiest words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from spoor.context.hidden_markov import Floats
from spoor.text.vector_space import VectorSpace, heaviest
from spoor.text.words import Words

LONGEST = 10_000
"""Characters of a page that are looked at: more hardly change what it is about, and cost time."""
_WORDS = Words()


def words_in(title: str, text: str) -> list[str]:
    return _WORDS.of(f"{title}\n{text}"[:LONGEST])


@dataclass(frozen=True, eq=False)
class Observer:
    """`space` knows the words that count, in the order of the columns of `centres`; a row is a cluster."""

    space: VectorSpace = field(repr=False)
    centres: Floats = field(repr=False)
    _columns: dict[str, int] = field(init=False, repr=False)
    _squares: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_columns", columns(self.space))
        object.__setattr__(self, "_squares", (self.centres * self.centres).sum(axis=1))

    def cluster(self, words: Iterable[str]) -> int:
        """The number of the nearest centre. A page without a known word is nearest to the one that says least."""
        vector = self.space.vector(words)
        known = [self._columns[word] for word in vector]
        near = self.centres[:, known] @ np.fromiter(vector.values(), np.float64, len(vector))
        return int((self._squares - 2.0 * near).argmin())

    def best_words(self, words: Iterable[str], most: int) -> list[str]:
        return heaviest(self.space.vector(words), most)


def columns(space: VectorSpace) -> dict[str, int]:
    return {word: column for column, word in enumerate(space.collection.frequencies)}


def matrix(space: VectorSpace, pages: Iterable[Iterable[str]]) -> Floats:
    """A row for each page, a column for each word that counts."""
    places, vectors = columns(space), [space.vector(words) for words in pages]
    rows = np.zeros((len(vectors), len(places)))
    for row, vector in zip(rows, vectors, strict=True):
        row[[places[word] for word in vector]] = list(vector.values())
    return rows
