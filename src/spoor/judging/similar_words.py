"""Similarity of words, learned from the texts of a field, and texts rewritten by it.

    D ← c · Xr W Xrᵀ, diagonal 1        similarity of texts from similarity of words
    W ← c · Xcᵀ D Xc, diagonal 1        and back

X has a row for each text and a column for each word; Xr is X with rows normalised to sum 1, Xc with such columns. Each
iteration shrinks every difference by a factor of at least c², so there is one fixed point, whatever the start. Memory
is quadratic in the number of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import MissingExtra
from spoor.judging.vectors import (
    NOTHING,
    SHOWN,
    Collection,
    Likeness,
    Topic,
    Vector,
    VectorSpace,
    background,
    collection,
    cut_to,
    heaviest,
    mean,
)
from spoor.parse.words import Words

# Similar words occur in similar texts, and similar texts contain similar words: each is computed from the other, until
# convergence.


DAMPING = 0.8
TOLERANCE = 1e-4
ROUNDS = 50
MOST_WORDS = 2_000

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alternation:
    """Similarities between 0 and 1, symmetric, with 1 on the diagonal; `rounds` is the number of iterations."""

    words: Matrix
    texts: Matrix
    rounds: int


def alternate(
    weights: Any, start: Matrix | None = None, tolerance: float = TOLERANCE, most: int = ROUNDS
) -> Alternation:
    """`weights` has a row for each text and a column for each word, none negative; an array or a scipy sparse matrix.
    Empty rows and columns are similar only to themselves. `start` is the initial W; None for the identity."""
    sparse = _sparse()
    weights = sparse.csr_array(weights, dtype=np.float64)
    by_text, by_word = _rows_to_1(weights), sparse.csr_array(_rows_to_1(weights.T.tocsr()))
    words = np.eye(weights.shape[1]) if start is None else start
    texts = np.eye(weights.shape[0])
    rounds = 0
    change = np.inf
    while change >= tolerance and rounds < most:
        next_texts = _carried(by_text, words)
        next_words = _carried(by_word, next_texts)
        change = max(np.abs(next_words - words).max(initial=0.0), np.abs(next_texts - texts).max(initial=0.0))
        words, texts, rounds = next_words, next_texts, rounds + 1
    return Alternation(words, texts, rounds)


def matrix(vectors: Sequence[Mapping[str, float]], words: Sequence[str]) -> Any:
    """Weighted words of texts as a sparse matrix; words that are not among `words` are left out."""
    column = {word: number for number, word in enumerate(words)}
    cells = [(row, column[w], x) for row, vector in enumerate(vectors) for w, x in vector.items() if w in column]
    rows, columns, values = zip(*cells, strict=True) if cells else ((), (), ())
    return _sparse().csr_array((values, (rows, columns)), shape=(len(vectors), len(words)), dtype=np.float64)


def _carried(shares: Any, similar: Matrix) -> Matrix:
    """c · S M Sᵀ, diagonal 1. Both products have the sparse matrix on the left, which is fast."""
    carried: Matrix = DAMPING * (shares @ np.ascontiguousarray((shares @ similar).T))
    np.fill_diagonal(carried, 1.0)
    return carried


def _rows_to_1(weights: Any) -> Any:
    sums = weights.sum(axis=1)
    return weights.multiply(1.0 / np.where(sums > 0.0, sums, 1.0)[:, None]).tocsr()


def _sparse() -> Any:
    try:
        from scipy import sparse
    except ModuleNotFoundError:
        raise MissingExtra("similar words need scipy; install it with: pip install 'spoor[topics]'") from None
    return sparse


# Texts in which every word also counts as its most similar words, so that `store` matches `shop`.


NEAREST = 5
"""Similar words as which a word counts, besides itself. Any two of two thousand words co-occur in some text and so are
slightly similar; together these small similarities would outweigh the relevant ones."""


@dataclass(frozen=True, eq=False)
class SimilarWords:
    """A row for each word: the indices of its nearest words, and their similarities."""

    words: tuple[str, ...]
    nearest: NDArray[np.intp] = field(repr=False)
    similar: Matrix = field(repr=False)

    @cached_property
    def place(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def rewritten(self, vector: Vector) -> Matrix:
        """A weight for each of `words`; other words of the vector are left out."""
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
    """A topic that is compared with texts after both are rewritten."""

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
        """The contribution of each word, rewritten, to the product with the topic."""
        pull = (self.similar.similar * self._rewritten[self.similar.nearest]).sum(axis=1)
        return dict(zip(self.similar.words, pull.tolist(), strict=True))


# Learns from texts of a field and background texts: the words of the field, and their similarities.


@dataclass(frozen=True, eq=False)
class Field:
    """Texts of the field, weighted in a space that includes the background. `similar` None: words match only
    themselves."""

    words: Words
    space: VectorSpace = field(repr=False)
    texts: tuple[Vector, ...] = field(repr=False)
    similar: SimilarWords | None = None

    def topic(self, terms: int, left_out: Sequence[int] = ()) -> Topic | RewrittenTopic:
        """The words with the highest weight in all texts except those with the given numbers."""
        together = mean(vector for number, vector in enumerate(self.texts) if number not in set(left_out))
        topic = Topic(self.words, self.space, cut_to(together, terms))
        return RewrittenTopic(topic, self.similar) if self.similar else topic


def learned(texts: Sequence[str], others: Sequence[str], words: Words, semantic: bool = False) -> Field:
    """Words are weighted by their rarity in all these texts and in general texts, so few `others`, or none, are
    enough."""
    cut, cut_others = [words.of(text) for text in texts], [words.of(text) for text in others]
    space = VectorSpace(_joined(collection([*cut, *cut_others]), background()))
    vectors = tuple(space.vector(each) for each in cut)
    if not semantic:
        return Field(words, space, vectors)
    vocabulary = heaviest(mean(vectors), MOST_WORDS)
    weights = matrix([space.raw(each) for each in (*cut, *cut_others)], vocabulary)
    return Field(words, space, vectors, similar_words(vocabulary, alternate(weights).words))


def _joined(one: Collection, other: Collection) -> Collection:
    counts = dict(other.frequencies)
    for word, count in one.frequencies.items():
        counts[word] = counts.get(word, 0) + count
    return Collection(one.texts + other.texts, counts)
