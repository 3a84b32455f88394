"""How a function becomes machine code, with its types kept for the type checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Machine code, kept on disk for the next run; where no folder can be written it is made anew each time.

    The code kept is made anew when the function's own file changes, not when another file does whose functions it
    calls: after such a change remove the __pycache__ folders.

    Arrays are copied number by number in such functions: for `a[:n] = b` numba compiles, besides, the text of an error
    about their shapes, which takes two seconds a process.
    """
    try:
        return cast(Callable[P, R], njit(cache=True)(function))
    except RuntimeError:
        return cast(Callable[P, R], njit(function))
