"""Depth-first for machine code: the links of the latest visit come first, in document order.

No queue is needed: the links of each visit lie together in the link array, so a stack of visits, each with the place it
has come to, is the order. A link found again belongs to the later visit; the earlier one passes it over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spoor.compilation import compiled

UNKNOWN, CLOSED = 0, -1
"""The state of a page; above 0: it waits, found by the visit of that number (counted from 1)."""


@compiled
def crawl_depth_first(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], seeds: NDArray[np.int32], pages: int, visits: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The pages in the order visited, and how many waited before each visit."""
    order, queue = np.empty(visits, np.int32), np.empty(visits, np.int32)
    stack, progress = np.empty(visits, np.int32), np.empty(visits, np.int32)
    found_by = np.zeros(pages, np.int32)
    found_by[seeds] = CLOSED
    visited, waiting, depth = 0, len(seeds), 0
    while visited < visits and waiting > 0:
        if visited < len(seeds):
            page = seeds[visited]
        else:
            depth, page = _next(offsets, targets, order, stack, progress, found_by, depth)
        order[visited], queue[visited] = page, waiting
        found_by[page] = CLOSED
        waiting += _find(offsets, targets, found_by, page, visited + 1) - 1
        stack[depth], progress[depth] = visited, 0
        visited, depth = visited + 1, depth + 1
    return order[:visited], queue[:visited]


@compiled
def _next(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    order: NDArray[np.int32],
    stack: NDArray[np.int32],
    progress: NDArray[np.int32],
    found_by: NDArray[np.int32],
    depth: int,
) -> tuple[int, int]:
    """The depth of the stack after taking the next waiting page, and that page; there must be one."""
    while True:
        visit = stack[depth - 1]
        parent = order[visit]
        slot = offsets[parent] + progress[depth - 1]
        if slot == offsets[parent + 1]:
            depth -= 1
            continue
        progress[depth - 1] += 1
        target = targets[slot]
        if target < len(found_by) and found_by[target] == visit + 1:
            return depth, int(target)


@compiled
def _find(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], found_by: NDArray[np.int32], page: int, visit: int
) -> int:
    """Claim the open links of a page for its visit; returns how many were unknown."""
    new = 0
    for slot in range(offsets[page], offsets[page + 1]):
        target = targets[slot]
        if target < len(found_by) and found_by[target] != CLOSED:
            new += found_by[target] == UNKNOWN
            found_by[target] = visit
    return new
