"""What is to be expected of links, by all that was learned so far: in one pass over many links."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from spoor.score.learned.features import HEAD, PLACES
from spoor.score.learned.yields import MASK, Yields

COLUMNS = ("words", "place", "hub", "list")
"""All in log odds: what the words say, and by how much more or less than hoped for was found in the folder, behind the
page that links, behind the same list on that page."""

TRUST, HUB_TRUST = 4.0, 2.0
"""So many tries weigh as much as what was expected before: of a place, and of a page."""
SURE = 0.0001
"""No share counts as nearer than this to 0 or 1."""


def outlook(
    packed: Sequence[bytes], hubs: Sequence[int], words: NDArray[np.float64], yields: Yields, hoped: float
) -> NDArray[np.float64]:
    """A row for each link. `packed` as `features` packs them, `hubs` hashes of the pages that link, `hoped` the share
    of wanted pages expected where nothing was tried."""
    numbers = np.frombuffer(b"".join(packed), np.int32)
    ends = np.cumsum(np.array([len(one) // 4 for one in packed], np.int64))
    out = np.empty((len(packed), len(COLUMNS)), np.float64)
    _outlook(numbers, ends, np.array(hubs, np.uint32), words, yields.tries, yields.finds, hoped, out)
    return out


def counters(head: NDArray[np.int32], hub: int) -> list[int]:
    """Where a visit is counted: its places, the page that linked to it, the list it stood in there."""
    _, kind, where, *places = head.tolist()
    return [*(int(place_of(place, kind)) for place in places), hub, int(list_of(hub, where))]


@njit(cache=True)
def _more_than(hoped: float, share: float) -> float:
    share = min(1.0 - SURE, max(SURE, share))
    return math.log(share / (1.0 - share)) - math.log(hoped / (1.0 - hoped))


@njit(cache=True)
def list_of(hub: int, where: int) -> np.uint32:
    """The counter of a list on a page."""
    return (np.uint32(hub) ^ (np.uint32(where) * np.uint32(0x85EBCA6B))) | np.uint32(1)


@njit(cache=True)
def place_of(place: int, kind: int) -> np.uint32:
    """The counter of a place, apart for URLs that speak for what is wanted, against it, or not at all."""
    return np.uint32(place) ^ (np.uint32(kind + 1) * np.uint32(0x9E3779B1))


@njit(cache=True)
def _outlook(
    numbers: NDArray[np.int32],
    ends: NDArray[np.int64],
    hubs: NDArray[np.uint32],
    words: NDArray[np.float64],
    tries: NDArray[np.float32],
    finds: NDArray[np.float32],
    hoped: float,
    out: NDArray[np.float64],
) -> None:
    start = 0
    for row in range(len(ends)):
        end = ends[row]
        said = 0.0
        for k in range(start + HEAD, end):
            said += words[numbers[k]]
        # A link with many words shall not be surer than one with few.
        out[row, 0] = said / math.sqrt(max(1, end - start - HEAD))
        share, last = hoped, np.int32(0)
        for k in range(PLACES):
            place = numbers[start + 3 + k]
            if k > 0 and place == last:
                break
            last = place
            slot = place_of(place, numbers[start + 1]) & MASK
            share = (finds[slot] + TRUST * share) / (tries[slot] + TRUST)
        out[row, 1] = _more_than(hoped, share)
        slot = hubs[row] & MASK
        share = (finds[slot] + HUB_TRUST * hoped) / (tries[slot] + HUB_TRUST)
        out[row, 2] = _more_than(hoped, share)
        slot = list_of(hubs[row], numbers[start + 2]) & MASK
        share = (finds[slot] + HUB_TRUST * share) / (tries[slot] + HUB_TRUST)
        out[row, 3] = _more_than(hoped, share)
        start = end
