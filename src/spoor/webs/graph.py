"""What the links of a web say about reach: what can be found from where, and how far away the wanted pages are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.compilation import compiled
from spoor.errors import BrokenContract

FAR: Final = 2**31 - 1
"""The distance of a page from which no relevant page can be reached."""


def read_only(values: Any, dtype: DTypeLike) -> NDArray[Any]:
    """A plain read-only array over the same memory where possible: one machine code serves maps and arrays alike."""
    view = np.ascontiguousarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


def reachable(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], seeds: Sequence[int], pages: int
) -> NDArray[np.bool_]:
    """Which pages a crawl that follows every link visits. Targets from `pages` on are not pages and are passed over."""
    _check_lengths(offsets, targets, pages)
    if any(not 0 <= seed < pages for seed in seeds):
        raise BrokenContract(f"of {pages} pages, seeds are {list(seeds)[:5]}")
    return _reachable(read_only(offsets, np.int64), read_only(targets, np.int32), read_only(seeds, np.int32), pages)


def _check_lengths(offsets: NDArray[np.int64], targets: NDArray[np.int32], pages: int) -> None:
    """Machine code reads beyond the end of an array without a word. That offsets rise and targets exist, `Web` sees
    to."""
    if len(offsets) != pages + 1 or offsets[-1] > len(targets):
        raise BrokenContract(f"{len(offsets)} offsets of {len(targets)} links are not those of {pages} pages")


@compiled
def _reachable(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], seeds: NDArray[np.int32], pages: int
) -> NDArray[np.bool_]:
    found = np.zeros(pages, np.bool_)
    queue = np.empty(pages, np.int32)
    taken = known = 0
    for seed in seeds:
        if not found[seed]:
            found[seed] = True
            queue[known] = seed
            known += 1
    while taken < known:
        page = queue[taken]
        taken += 1
        for slot in range(offsets[page], offsets[page + 1]):
            target = targets[slot]
            if target < pages and not found[target]:
                found[target] = True
                queue[known] = target
                known += 1
    return found


def distance_to_relevant(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    relevant: NDArray[np.bool_],
    within: NDArray[np.bool_],
) -> NDArray[np.int32]:
    """Links from each page to the nearest relevant page, over pages of `within` only: 0 for a relevant page, FAR
    where none can be reached."""
    _check_lengths(offsets, targets, len(within))
    if len(relevant) != len(within):
        raise BrokenContract(f"{len(relevant)} pages are said to be relevant or not, and {len(within)} to be within")
    links = read_only(offsets, np.int64), read_only(targets, np.int32)
    inside = read_only(within, np.bool_)
    return _distances(*_reversed(*links, inside), read_only(relevant, np.bool_), inside)


@compiled
def _reversed(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], within: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same links seen from their targets, in the same form."""
    pages = len(within)
    places = np.zeros(pages + 2, np.int64)
    for page in range(pages):
        for slot in range(offsets[page], offsets[page + 1]):
            if targets[slot] < pages and within[page] and within[targets[slot]]:
                places[targets[slot] + 2] += 1
    places = np.cumsum(places)
    sources = np.empty(places[-1], np.int32)
    for page in range(pages):
        for slot in range(offsets[page], offsets[page + 1]):
            if targets[slot] < pages and within[page] and within[targets[slot]]:
                sources[places[targets[slot] + 1]] = page
                places[targets[slot] + 1] += 1
    return places[:-1], sources


@compiled
def _distances(
    offsets: NDArray[np.int64], sources: NDArray[np.int32], relevant: NDArray[np.bool_], within: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Breadth-first from all relevant pages at once, against the direction of the links."""
    distance = np.full(len(within), FAR, np.int32)
    queue = np.empty(len(within), np.int32)
    taken = known = 0
    for page in range(len(within)):
        if relevant[page] and within[page]:
            distance[page] = 0
            queue[known] = page
            known += 1
    while taken < known:
        page = queue[taken]
        taken += 1
        for slot in range(offsets[page], offsets[page + 1]):
            source = sources[slot]
            if distance[source] == FAR:
                distance[source] = distance[page] + 1
                queue[known] = source
                known += 1
    return distance
