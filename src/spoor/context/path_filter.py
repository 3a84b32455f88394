"""Where on the way to a wanted page is a crawl, after all that it saw on the path, and where do the links lead?

The state of a path is what is believed of its last page, or of its last two pages together: α, brought to the sum 1.
One step costs the same however long the path is. All methods take one path, or many at once by a first index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.context.hidden_markov import Floats, HiddenMarkov
from spoor.errors import UsageError

DECODERS = ("forward", "viterbi")
Symbols = int | NDArray[np.int64]
"""What was seen: of one path, or of each of many."""


@dataclass(frozen=True, eq=False)
class PathFilter:
    """`decoder` "forward": everything that may have happened counts; "viterbi": only the most probable states."""

    model: HiddenMarkov
    decoder: str = "forward"
    _shows: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise UsageError(f"decoder={self.decoder!r} is neither {' nor '.join(DECODERS)}")
        object.__setattr__(self, "_shows", np.ascontiguousarray(np.moveaxis(self.model.shows, -1, 0)))

    def begin(self, seen: Symbols) -> Floats:
        """At the first page: by state."""
        return _shares(self.model.start * self.model.start_shows.T[seen], 1)

    def second(self, state: Floats, seen: Symbols) -> Floats:
        """From the first page to the next: by the states of both."""
        return _shares(state[..., None] * self.model.first_step * self._shows[seen], 2)

    def go_on(self, state: Floats, seen: Symbols) -> Floats:
        """From two pages to the next."""
        if self.decoder == "forward":
            ahead = np.einsum("...ij,ijk->...jk", state, self.model.step)
        else:
            ahead = (state[..., None] * self.model.step).max(axis=-3)
        return _shares(ahead * self._shows[seen], 2)

    def ahead_of_first(self, state: Floats) -> Floats:
        """The chances of each state for a page that the first links to."""
        return np.asarray(self._certain(state, 1) @ self.model.first_step)

    def ahead(self, state: Floats) -> Floats:
        """The chances of each state for a page that the last one links to."""
        return np.asarray(np.einsum("...ij,ijk->...k", self._certain(state, 2), self.model.step))

    def _certain(self, state: Floats, indices: int) -> Floats:
        """What the decoder takes for the truth: the state as it is, or its most probable part alone."""
        if self.decoder == "forward":
            return state
        flat = state.reshape(*state.shape[: state.ndim - indices], -1)
        first = flat.argmax(axis=-1)[..., None]
        return np.asarray(np.arange(flat.shape[-1]) == first, np.float64).reshape(state.shape)


def _shares(values: Floats, indices: int) -> Floats:
    """Divided by their sum over the last indices; alike for all where nothing is possible."""
    axes: Any = tuple(range(-indices, 0))
    totals = values.sum(axis=axes, keepdims=True)
    if (totals > 0.0).all():
        return np.asarray(values / totals)
    alike = 1.0 / np.prod(values.shape[-indices:])
    return np.where(totals > 0.0, values / np.where(totals > 0.0, totals, 1.0), alike)
