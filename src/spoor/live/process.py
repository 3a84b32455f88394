"""What the `spoor` command changes for its whole process; a program that imports spoor decides for itself."""

from __future__ import annotations

import contextlib
import ctypes
import gc

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h."""
_LARGE = 1 << 19
"""Bytes."""


def give_back_large_blocks() -> None:
    """For the whole process. Blocks of half a megabyte and more come from the system one by one, and go back when they
    are freed. By itself glibc raises that bound with every large block that it frees, up to 32 MB; from then on the
    bodies of pages lie among everything else, and what is left of them in pieces. Nothing happens without glibc."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(_MMAP_THRESHOLD, _LARGE)


ALLOCATIONS_BETWEEN_SEARCHES = 50_000
"""What a crawl makes lives long or dies at once, without circles. Python would search for circles after every 700 new
objects, which takes a twentieth of all time."""


def search_seldom_for_circles() -> None:
    """For the whole process."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_SEARCHES, *gc.get_threshold()[1:])
