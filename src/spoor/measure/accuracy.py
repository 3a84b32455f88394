"""How often a judge is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Accuracy:
    """`precision`: of the pages that the judge takes, the share that is wanted (None: it takes none). `recall`: of the
    wanted pages the share that it takes (None: there is none)."""

    precision: float | None
    recall: float | None

    def as_json(self) -> dict[str, float | None]:
        return asdict(self)


def accuracy(taken: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Accuracy:
    """Page by page: did the judge take it, and is it wanted?"""
    right = int((taken & wanted).sum())
    return Accuracy(_share(right, int(taken.sum())), _share(right, int(wanted.sum())))


def _share(part: int, of: int) -> float | None:
    return part / of if of else None
