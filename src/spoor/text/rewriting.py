"""Texts in which every word also counts as the words most like it, so that `store` may speak of a `shop`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spoor.text.alternation import Matrix
from spoor.text.topic import NOTHING, SHOWN, Likeness, Topic
from spoor.text.vector_space import Vector, heaviest

NEAREST = 5
"""Words as which a word counts, besides itself. Any two words of two thousand have met in some text and so are a little
similar; together these crumbs would outweigh what matters."""


@dataclass(frozen=True, eq=False)
class SimilarWords:
    """A row for each word: the places of the words nearest to it, and how similar they are."""

    words: tuple[str, ...]
    nearest: NDArray[np.intp] = field(repr=False)
    similar: Matrix = field(repr=False)

    @cached_property
    def place(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def rewritten(self, vector: Vector) -> Matrix:
        """A weight for each of `words`; what the vector has besides them is left out."""
        places = [self.place[word] for word in vector if word in self.place]
        weights = np.array([weight for word, weight in vector.items() if word in self.place])
        spread = self.similar[places] * weights[:, None]
        rewritten = np.zeros(len(self.words))
        np.add.at(rewritten, self.nearest[places].ravel(), spread.ravel())
        return rewritten


def similar_words(words: Sequence[str], similar: Matrix, most: int = NEAREST) -> SimilarWords:
    """`similar` has a row and a column for each word."""
    nearest = np.argsort(-similar, axis=1, kind="stable")[:, : most + 1]
    return SimilarWords(tuple(words), nearest, np.take_along_axis(similar, nearest, axis=1))


@dataclass(frozen=True, eq=False)
class RewrittenTopic:
    """A topic with which texts are compared after both were rewritten."""

    topic: Topic
    similar: SimilarWords

    def likeness(self, text: str) -> Likeness:
        page = self.topic.space.raw(self.topic.words.of(text))
        known = {word: weight for word, weight in page.items() if weight and word in self.similar.place}
        if not known:
            return NOTHING
        shares = {word: weight * self._pull[word] for word, weight in known.items()}
        product = float(sum(shares.values()))
        rewritten = self.similar.rewritten(known)
        others = sum(weight * weight for word, weight in page.items() if word not in self.similar.place)
        lengths = np.linalg.norm(self._rewritten) * np.sqrt(rewritten @ rewritten + others)
        counted = {word: share for word, share in shares.items() if share}
        return Likeness(min(1.0, float(product / lengths)), product, tuple(heaviest(counted, SHOWN)))

    def heaviest(self, most: int) -> tuple[str, ...]:
        return self.topic.heaviest(most)

    @cached_property
    def _rewritten(self) -> Matrix:
        return self.similar.rewritten(self.topic.vector)

    @cached_property
    def _pull(self) -> dict[str, float]:
        """How much each word, rewritten, draws a text towards the topic."""
        pull = (self.similar.similar * self._rewritten[self.similar.nearest]).sum(axis=1)
        return dict(zip(self.similar.words, pull.tolist(), strict=True))
