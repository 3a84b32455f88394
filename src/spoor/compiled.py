"""Compiles a function to machine code and preserves its type for the type checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


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
