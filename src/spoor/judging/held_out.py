"""How good is a model? Pages held back from training, and how often a judge is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# How often a judge is right.


@dataclass(frozen=True)
class Accuracy:
    """`precision`: of the pages that the judge takes, the share that is relevant (None: it takes none). `recall`: of
    the relevant pages the share that it takes (None: there is none)."""

    precision: float | None
    recall: float | None

    def as_json(self) -> dict[str, float | None]:
        return asdict(self)


def accuracy(taken: NDArray[np.bool_], relevant: NDArray[np.bool_]) -> Accuracy:
    """Page by page: did the judge take it, and is it relevant?"""
    right = int((taken & relevant).sum())
    return Accuracy(_share(right, int(taken.sum())), _share(right, int(relevant.sum())))


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


# Cross-validation: which pages are held out together, and how the result is shown.


FOLDS = 5
T = TypeVar("T")


def folds_of(count: int) -> NDArray[np.int64]:
    """The fold of each page. Neighbours, often of one site, stay together: a crawl sees other sites."""
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


def accuracy_figures(accuracy: Accuracy) -> str:
    precision, recall = accuracy.precision or 0.0, accuracy.recall or 0.0
    return f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1(accuracy):.3f}"
