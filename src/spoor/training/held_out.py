"""Pages that are held back, to see what the others teach: which of them together, and how to tell what came out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spoor.measure.accuracy import Accuracy

FOLDS = 5
T = TypeVar("T")


def folds_of(count: int) -> NDArray[np.int64]:
    """The fold of each page. Neighbours, often of one site, stay together: it is other sites that a crawl will meet."""
    return np.arange(count) * FOLDS // max(1, count)


def parted(pages: Sequence[T], fold: int) -> tuple[list[T], list[T]]:
    """Those outside of a fold, which teach, and those inside, which are held back."""
    folds = folds_of(len(pages)).tolist()
    outside = [page for page, own in zip(pages, folds, strict=True) if own != fold]
    return outside, [page for page, own in zip(pages, folds, strict=True) if own == fold]


def f1(accuracy: Accuracy) -> float:
    """The harmonic mean of precision and recall; 0 when one of them is 0 or unknown."""
    precision, recall = accuracy.precision or 0.0, accuracy.recall or 0.0
    return 2.0 * precision * recall / (precision + recall) if precision and recall else 0.0


def told(accuracy: Accuracy) -> str:
    precision, recall = accuracy.precision or 0.0, accuracy.recall or 0.0
    return f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1(accuracy):.3f}"
