"""Which kind of page leads to which: rules between classes, counted from pages and what they link to.

    P(i → j) = pages of class j that pages of class i link to / all pages that pages of class i link to

A link on a page of class i is worth following for the sake of class t when ways lead from i to t, one step or several.
Taken together (`sum`) or the best alone (`max`), they make the look-ahead score:

    LARS(i, t) = 10 · Σ over ways i → … → t:  Π P

A way has at most three steps, passes through no class twice, and through t only at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spoor.errors import UsageError

STEPS = 3
SCALE = 10.0
"""The paper counts in tenths."""
DIGITS = 9
"""Rounded to so many, ten times 0.3 is not above 3."""
COMBINATIONS: dict[str, Callable[..., NDArray[np.float64]]] = {"sum": np.sum, "max": np.max}


@dataclass(frozen=True, eq=False)
class Rules:
    """`times` has a row and a column for each of `classes`: how many pages of the second class pages of the first link
    to."""

    classes: tuple[str, ...]
    times: NDArray[np.int64] = field(repr=False)

    @property
    def chances(self) -> NDArray[np.float64]:
        """P(i → j); a class whose pages link to nothing has a row of zeros."""
        out = self.times.sum(axis=1, keepdims=True)
        return np.asarray(self.times / np.maximum(out, 1))

    def look_ahead(self, wanted: Sequence[str], combine: str = "sum", steps: int = STEPS) -> NDArray[np.float64]:
        """LARS of a link on a page of each class, with respect to all `wanted` classes together."""
        if combine not in COMBINATIONS:
            raise UsageError(f"combine={combine} is not known; several ways count by {' or '.join(COMBINATIONS)}")
        if not 1 <= steps <= STEPS:
            raise UsageError(f"a way of {steps} steps cannot be looked ahead; 1 to {STEPS} can")
        taken, chances = COMBINATIONS[combine], self.chances
        ends = [self.classes.index(name) for name in wanted]
        ahead = [_ahead(start, ends, chances, taken, steps) for start in range(len(self.classes))]
        return np.round(SCALE * np.array(ahead), DIGITS)


def _ahead(
    start: int, ends: list[int], chances: NDArray[np.float64], taken: Callable[..., NDArray[np.float64]], steps: int
) -> float:
    """Of all ways from one class. A way passes neither through an end nor through where it began; it never stays in a
    class, and so within three steps meets none twice."""
    passing = chances.copy()
    passing[:, [*ends, start]] = 0.0
    np.fill_diagonal(passing, 0.0)
    arriving = taken(chances[:, ends], axis=1)
    by_steps = [arriving[start]]
    for _ in range(steps - 1):
        arriving = taken(passing * arriving, axis=1)
        by_steps.append(arriving[start])
    return float(taken(np.array(by_steps)))


def rules_from(times: Mapping[str, Mapping[str, int]]) -> Rules:
    """From how many pages of each class the pages of a class link to."""
    classes = tuple(times)
    return Rules(classes, np.array([[times[one].get(other, 0) for other in classes] for one in classes], np.int64))
