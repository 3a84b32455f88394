"""Settings that the `spoor` command applies to its whole process. A program that imports spoor chooses its own."""

from __future__ import annotations

import contextlib
import ctypes
import gc

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h."""
_LARGE = 1 << 19
"""Threshold in bytes."""


def give_back_large_blocks() -> None:
    """Makes malloc of the whole process map blocks of half a megabyte and more separately, and unmap them when they are
    freed. By default glibc raises this threshold, up to 32 MB, whenever it frees a large block; page bodies then
    fragment the heap. No effect without glibc."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(_MMAP_THRESHOLD, _LARGE)


ALLOCATIONS_BETWEEN_SEARCHES = 50_000
"""Allocations between two runs of the garbage collector. Objects of a crawl live long or are freed at once, without
reference cycles. Python's default, 700, costs a twentieth of all time."""


def search_seldom_for_circles() -> None:
    """Makes the garbage collector of the whole process run less often."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_SEARCHES, *gc.get_threshold()[1:])
