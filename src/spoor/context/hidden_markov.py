"""A hidden Markov model of the second order: each state follows from the two before it, what is seen from two as well.

    π_i = P(q_0 = i)                                 b_i(o)  = P(o_0 = o | q_0 = i)
    a_ij = P(q_1 = j | q_0 = i)
    a_ijk = P(q_t = k | q_{t-2} = i, q_{t-1} = j)    b_ij(o) = P(o_t = o | q_{t-1} = i, q_t = j)

A model of the first order is the special case a_ijk = a_jk, b_ij = b_j. Here states are layers, distances to a wanted
page; what is seen of a page is the cluster that it is nearest to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SLACK = 1e-6
"""By which probabilities may miss 1 together: they were written down and read again."""


@dataclass(frozen=True, eq=False)
class HiddenMarkov:
    """`start` is π_i, `start_shows` b_i(o), `first_step` a_ij, `step` a_ijk, `shows` b_ij(o). The last index of each is
    what the probabilities are of. ValueError when they are none."""

    start: Floats = field(repr=False)
    start_shows: Floats = field(repr=False)
    first_step: Floats = field(repr=False)
    step: Floats = field(repr=False)
    shows: Floats = field(repr=False)

    def __post_init__(self) -> None:
        n, m = self.states, self.symbols
        expected = {"start": (n,), "start_shows": (n, m), "first_step": (n, n), "step": (n, n, n), "shows": (n, n, m)}
        for part in fields(self):
            values: Floats = getattr(self, part.name)
            if values.shape != expected[part.name]:
                raise ValueError(f"{part.name} has the shape {values.shape} instead of {expected[part.name]}")
            if not (values >= 0.0).all() or not np.allclose(values.sum(axis=-1), 1.0, rtol=0.0, atol=_SLACK):
                raise ValueError(f"{part.name} holds what are no probabilities")

    @property
    def states(self) -> int:
        return len(self.start)

    @property
    def symbols(self) -> int:
        return int(self.start_shows.shape[-1])

    def first_order(self) -> HiddenMarkov:
        """The model that looks at the last state only."""
        n, m = self.states, self.symbols
        step = np.broadcast_to(self.first_step, (n, n, n))
        shows = np.broadcast_to(self.start_shows, (n, n, m))
        return HiddenMarkov(self.start, self.start_shows, self.first_step, step, shows)


def scaled(values: Floats) -> tuple[Floats, float]:
    """Brought to the sum 1, and what the sum was. What is impossible stays 0."""
    total = float(values.sum())
    return (values / total if total else values), total
