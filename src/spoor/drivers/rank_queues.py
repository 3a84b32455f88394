"""Queues by rank for machine code: the highest rank first, each rank in order of arrival.

All queues share one pool of blocks; a block goes back to the free ones when its last entry has been taken, so memory
follows what waits and not what has passed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compilation import compiled

BLOCK: Final = 512
NEVER_USED: Final = -1

BEST, FREE, FREE_BLOCKS = range(3)
"""Places in `marks`: no entry has a higher rank than BEST; the first free block; how many blocks are free."""


class Queues(NamedTuple):
    """A queue reads at slot `head` and writes at slot `tail` of the pool; it is empty when they are the same."""

    pool: NDArray[np.int32]
    next_block: NDArray[np.int32]
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    marks: NDArray[np.int64]


def new_queues(ranks: int) -> Queues:
    """One rank to spare: see `room_for`."""
    blocks = 2 * ranks + 64
    following = np.arange(1, blocks + 1, dtype=np.int32)
    unused = np.full(ranks + 1, NEVER_USED, np.int64)
    marks = np.array([0, 0, blocks], np.int64)
    return Queues(np.zeros(blocks * BLOCK, np.int32), following, unused, unused.copy(), marks)


def enlarged(queues: Queues) -> Queues:
    """The same queues with twice the blocks and ranks."""
    blocks, ranks = len(queues.next_block), len(queues.head)
    pool = np.zeros(2 * blocks * BLOCK, np.int32)
    pool[: blocks * BLOCK] = queues.pool
    added = np.arange(blocks + 1, 2 * blocks + 1, dtype=np.int32)
    added[-1] = queues.marks[FREE]
    unused = np.full(ranks, NEVER_USED, np.int64)
    return Queues(
        pool,
        np.concatenate([queues.next_block, added]),
        np.concatenate([queues.head, unused]),
        np.concatenate([queues.tail, unused]),
        np.array([queues.marks[BEST], blocks, queues.marks[FREE_BLOCKS] + blocks], np.int64),
    )


@compiled
def room_for(queues: Queues, entries: int) -> bool:
    """Whether so many entries can be pushed, of ranks up to one above the highest there is."""
    ranks = len(queues.head)
    blocks = 2 * min(entries, ranks) + entries // BLOCK
    return bool(queues.marks[FREE_BLOCKS] > blocks and queues.marks[BEST] + 1 < ranks)


@compiled
def push(queues: Queues, rank: int, page: int) -> None:
    slot = queues.tail[rank]
    if slot == NEVER_USED:
        slot = _free_block(queues) * BLOCK
        queues.head[rank] = slot
    queues.pool[slot] = page
    slot += 1
    if slot % BLOCK == 0:
        block = _free_block(queues)
        queues.next_block[slot // BLOCK - 1] = block
        slot = block * BLOCK
    queues.tail[rank] = slot
    queues.marks[BEST] = max(queues.marks[BEST], rank)


@compiled
def first(queues: Queues) -> int:
    """The entry whose turn it is; there must be one. Its rank is then marks[BEST]."""
    best = queues.marks[BEST]
    while queues.head[best] == queues.tail[best]:
        best -= 1
    queues.marks[BEST] = best
    return int(queues.pool[queues.head[best]])


@compiled
def ahead(queues: Queues, distance: int) -> int:
    """An entry that will probably be first after so many more; at worst a page that has had its turn."""
    slot = queues.head[queues.marks[BEST]]
    return int(queues.pool[min(slot + distance, slot | (BLOCK - 1))])


@compiled
def drop_first(queues: Queues) -> None:
    """Take away the entry that `first` gave."""
    best = queues.marks[BEST]
    slot = queues.head[best] + 1
    if slot % BLOCK == 0:
        block = slot // BLOCK - 1
        slot = np.int64(queues.next_block[block]) * BLOCK
        queues.next_block[block] = queues.marks[FREE]
        queues.marks[FREE] = block
        queues.marks[FREE_BLOCKS] += 1
    queues.head[best] = slot


@compiled
def _free_block(queues: Queues) -> int:
    block = queues.marks[FREE]
    queues.marks[FREE] = queues.next_block[block]
    queues.marks[FREE_BLOCKS] -= 1
    return int(block)
