"""Compiles a function to machine code and preserves its type for the type checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
Number = TypeVar("Number", bound=np.generic)


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles to machine code, cached on disk for the next run; if no folder is writable, compiled again in each run.

    The cache is invalidated when the function's own file changes, but not when a file changes whose functions it calls:
    after such a change, remove the __pycache__ folders.

    Such functions copy arrays element by element: for `a[:n] = b`, numba also compiles the text of an error about
    shapes, which takes two seconds per process.
    """
    try:
        return cast(Callable[P, R], njit(cache=True)(function))
    except RuntimeError:
        return cast(Callable[P, R], njit(function))


@compiled
def nth(numbers: NDArray[Number], place: int) -> Number:
    """`numbers[place]` for a place that is never negative: numba does not test that it is, which takes a quarter of the
    time of a loop over characters. Only for compiled code."""
    found: Number = numbers[np.uintp(place)]
    return found
