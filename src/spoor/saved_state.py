"""What a part has learned, as arrays, lists of strings and numbers; and how it is read back without trusting it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.errors import BadInput

State = Mapping[str, Union["NDArray[np.generic]", list[str], int, float, "State"]]
"""By name. States inside a state belong to the parts of a part."""

LARGEST = float(1 << 53)
"""A number beyond this was not counted by anybody."""
ANY = -1
"""In a shape: as many as there are."""


def array_in(
    state: State, name: str, kind: DTypeLike, shape: tuple[int, ...], least: float = -LARGEST, most: float = LARGEST
) -> NDArray[np.generic]:
    """An array of this type and shape, `ANY` fitting every length, all of it between `least` and `most`. NaN is not."""
    found = state.get(name)
    if not isinstance(found, np.ndarray) or found.dtype != np.dtype(kind) or not _fits(found.shape, shape):
        raise BadInput(f"{name} is not an array of {np.dtype(kind)} of the shape {shape}")
    if found.size and not (found.min() >= least and found.max() <= most):
        raise BadInput(f"{name} holds a number that is not between {least:g} and {most:g}")
    return found


def counts_in(state: State, name: str, length: int, most: float = LARGEST) -> list[int]:
    """Whole numbers from 0 on."""
    return [int(number) for number in array_in(state, name, np.int64, (length,), 0, most).tolist()]


def texts_in(state: State, name: str, length: int = ANY) -> list[str]:
    found = state.get(name)
    if not isinstance(found, list) or length not in (ANY, len(found)):
        raise BadInput(f"{name} is not a list of {'' if length == ANY else f'{length} '}strings")
    return found


def count_in(state: State, name: str, most: float = LARGEST) -> int:
    """A whole number from 0 on."""
    found = state.get(name)
    if not isinstance(found, int) or not 0 <= found <= most:
        raise BadInput(f"{name} is not a whole number from 0 to {most:g}")
    return found


def number_in(state: State, name: str) -> float:
    found = state.get(name)
    if not isinstance(found, float) or not math.isfinite(found):
        raise BadInput(f"{name} is not a number")
    return found


def state_in(state: State, name: str) -> State:
    found = state.get(name)
    if not isinstance(found, Mapping):
        raise BadInput(f"{name} is missing")
    return found


def as_counts(numbers: Iterable[int]) -> NDArray[np.int64]:
    """As `counts_in` reads them."""
    return np.fromiter(numbers, np.int64)


def slices(sizes: Sequence[int], length: int) -> list[slice]:
    """Where lists of these sizes are that were put one after the other."""
    ends = list(accumulate(sizes, initial=0))
    if ends[-1] != length:
        raise BadInput(f"there are {length} items where {ends[-1]} are counted")
    return [slice(start, end) for start, end in pairwise(ends)]


def _fits(found: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return len(found) == len(shape) and all(asked in (ANY, size) for size, asked in zip(found, shape, strict=True))
