"""The arrays of a web, opened with nothing taken on trust: machine code reads wherever an offset leads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput

WHOLE, REAL = "iu", "f"
"""Kinds of numbers, as NumPy calls them."""
_AT_ONCE = 1 << 22


def opened(folder: Path, name: str, kind: str = WHOLE) -> NDArray[Any]:
    """A row of numbers, memory-mapped."""
    path = folder / f"{name}.npy"
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise BadInput(f"{path} is missing; build or generate the web again") from None
    except Exception as error:  # What reads the head of a damaged one has no error in common.
        raise damaged(path, " ".join(str(error).split())[:100]) from None
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in kind:
        raise damaged(path, "it holds no row of numbers of the right kind")
    # A plain view: reading one element of a memmap object costs several times as much.
    return array.view(np.ndarray)


def check_offsets(path: Path, offsets: NDArray[Any], end: int, count: int | None = None) -> None:
    """They begin with 0, never fall, and end with `end`; and mark off `count` pieces, if that is known."""
    if len(offsets) < 1 or (count is not None and len(offsets) != count + 1):
        raise damaged(path, f"it has {len(offsets):,} offsets" + ("" if count is None else f", not {count + 1:,}"))
    if offsets[0] != 0 or offsets[-1] != end:
        raise damaged(path, f"its offsets go from {offsets[0]} to {offsets[-1]}, not from 0 to {end}")
    for start in range(0, len(offsets) - 1, _AT_ONCE):
        part = offsets[start : start + _AT_ONCE + 1]
        if (part[1:] < part[:-1]).any():
            raise damaged(path, "its offsets fall")


def check_range(path: Path, values: NDArray[Any], low: int, high: int, count: int | None = None) -> None:
    """All from `low` to before `high`; `count` of them, if that is known."""
    if count is not None and len(values) != count:
        raise damaged(path, f"it has {len(values):,} numbers, not {count:,}")
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        least, most = part.min(), part.max()
        # Not a number is neither below nor above.
        if not (low <= least and most < high):
            raise damaged(path, f"its numbers go from {least} to {most}; they must be from {low} to below {high}")


def damaged(path: Path, why: str) -> BadInput:
    return BadInput(f"{path} is damaged: {why}; build or generate the web again")
