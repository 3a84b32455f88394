"""Where chance comes from: splitmix64 streams named by (seed, purpose, number), so that every host and every page
can be drawn by itself, in any order, with the same result on any machine."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from spoor.compilation import compiled

Stream = NDArray[np.uint64]
"""One number: the state. Functions that draw change it."""

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR: Final = np.uint64(0x94D049BB133111EB)
TO_UNIT: Final = 2.0**-53


def seed_of(seed: int) -> np.uint64:
    """Any whole number as the seed of streams."""
    return np.uint64(seed % 2**64)


@compiled
def new_stream() -> Stream:
    return np.zeros(1, np.uint64)


@compiled
def _mixed(bits: np.uint64) -> np.uint64:
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_FACTOR
    return bits ^ (bits >> np.uint64(31))


@compiled
def begin(stream: Stream, seed: np.uint64, purpose: int, number: int) -> None:
    """Set the stream to the start of what (seed, purpose, number) names."""
    named = _mixed(seed + GOLDEN * np.uint64(purpose + 1))
    stream[0] = _mixed(named + GOLDEN * np.uint64(number + 1))


@compiled
def chance(stream: Stream) -> float:
    """Even between 0 (included) and 1 (excluded)."""
    stream[0] += GOLDEN
    return float(_mixed(stream[0]) >> np.uint64(11)) * TO_UNIT


@compiled
def below(stream: Stream, limit: int) -> int:
    """A whole number from 0 to limit - 1."""
    return int(chance(stream) * limit)


@compiled
def bell(stream: Stream) -> float:
    """Normally distributed, mean 0 and deviation 1 (Box-Muller)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - chance(stream)))
    return float(radius * np.cos(2.0 * np.pi * chance(stream)))


@compiled
def place(stream: Stream, cumulative: NDArray[np.float64]) -> int:
    """An index drawn with the weights whose running sums (the last is 1) are given."""
    return min(int(np.searchsorted(cumulative, chance(stream), side="right")), len(cumulative) - 1)


def running_sums(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """What `place` draws from, along the last axis."""
    sums: NDArray[np.float64] = np.cumsum(weights, axis=-1)
    return sums / sums[..., -1:]
