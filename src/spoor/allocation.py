"""Memory that was freed goes back to the system."""

from __future__ import annotations

import contextlib
import ctypes

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
