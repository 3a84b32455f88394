"""Similar words stand in similar texts, and similar texts hold similar words: each computed from the other, until
neither changes.

    D ← c · Xr W Xrᵀ, diagonal 1        how similar texts are, from how similar words are
    W ← c · Xcᵀ D Xc, diagonal 1        and back

X has a row for each text and a column for each word; Xr is X with rows that sum to 1, Xc with such columns. Each turn
shrinks every difference by c² at least, so there is one end, wherever it began. It takes t² memory for t words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import MissingExtra

DAMPING = 0.8
TOLERANCE = 1e-4
ROUNDS = 50
MOST_WORDS = 2_000

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alternation:
    """Similarities between 0 and 1, symmetric, each word and each text 1 to itself; `rounds` is how many it took."""

    words: Matrix
    texts: Matrix
    rounds: int


def alternate(
    weights: Any, start: Matrix | None = None, tolerance: float = TOLERANCE, most: int = ROUNDS
) -> Alternation:
    """`weights` has a row for each text and a column for each word, none negative; an array or a sparse matrix of
    scipy. Empty rows and columns are like nothing but themselves. `start` is W at first; None: each word is like itself
    only."""
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
    """c · S M Sᵀ, diagonal 1. Both products have the sparse matrix on the left, where it is quick."""
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
