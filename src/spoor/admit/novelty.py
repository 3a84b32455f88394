"""How much of a text was not there before? A short memory of texts, of fixed size."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from spoor.records import Sketch
from spoor.saved_state import State, array_in

Hashes = NDArray[np.uint64]

KEPT = 64
"""Names remembered of one page, those with the smallest hashes, so that like pages keep the same ones."""

_SPREAD = 0x9E3779B97F4A7C15


class Memory:
    """Remembers hashes in a table of fixed size, where a later one may take the place of an earlier one: it forgets,
    but never takes the new for known (unless two passages have the same 64 bits)."""

    def __init__(self, slots: int) -> None:
        self._table: Hashes = np.zeros(slots, np.uint64)

    def state(self) -> State:
        return {"hashes": self._table.copy()}

    def restore(self, state: State) -> None:
        # Every number of 64 bits is a hash.
        self._table[:] = array_in(state, "hashes", np.uint64, self._table.shape, 0, 2.0**64)

    def unseen(self, hashes: Hashes) -> float:
        """The share that was not known, 0 of nothing. All are known from now on."""
        if not len(hashes):
            return 0.0
        places = hashes % np.uint64(len(self._table))
        share = float((self._table[places] != hashes).mean())
        self._table[places] = hashes
        return share


def passages(sketch: Sketch, where: str) -> Hashes:
    """A sample of the passages of a text at a place, such as a host."""
    return np.frombuffer(sketch.passages, np.uint64) ^ _number(where)


def names(said: list[str], where: str) -> Hashes:
    """A sample of a list of names, to be remembered like passages."""
    hashes = np.array([_number(name) for name in said], np.uint64) ^ _number(where)
    return np.unique(hashes)[:KEPT]


def _number(name: str) -> np.uint64:
    return np.uint64(zlib.crc32(name.encode()) * _SPREAD % 2**64)
