"""Evaluation of models: cross-validation, precision and recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# Precision and recall of a judge.


@dataclass(frozen=True)
class Accuracy:
    """`precision`: the share of relevant pages among those that the judge accepts; None if it accepts none. `recall`:
    the share of the relevant pages that it accepts; None if there are none."""

    precision: float | None
    recall: float | None

    def as_json(self) -> dict[str, float | None]:
        return asdict(self)


def accuracy(taken: NDArray[np.bool_], relevant: NDArray[np.bool_]) -> Accuracy:
    """Element-wise: whether the judge accepts the page, and whether it is relevant."""
    right = int((taken & relevant).sum())
    return Accuracy(_share(right, int(taken.sum())), _share(right, int(relevant.sum())))


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


# Cross-validation: the folds, and how the result is shown.


FOLDS = 5
T = TypeVar("T")


def folds_of(count: int) -> NDArray[np.int64]:
    """The fold of each page. Neighbours, often of one site, are in the same fold, because a crawl finds other sites."""
    return np.arange(count) * FOLDS // max(1, count)


def parted(pages: Sequence[T], fold: int) -> tuple[list[T], list[T]]:
    """The pages outside a fold, for training, and those inside, held out."""
    folds = folds_of(len(pages)).tolist()
    outside = [page for page, own in zip(pages, folds, strict=True) if own != fold]
    return outside, [page for page, own in zip(pages, folds, strict=True) if own == fold]


def f1(accuracy: Accuracy) -> float:
    """The harmonic mean of precision and recall; 0 if one of them is 0 or unknown."""
    precision, recall = accuracy.precision or 0.0, accuracy.recall or 0.0
    return 2.0 * precision * recall / (precision + recall) if precision and recall else 0.0


def accuracy_figures(accuracy: Accuracy) -> str:
    precision, recall = accuracy.precision or 0.0, accuracy.recall or 0.0
    return f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1(accuracy):.3f}"
