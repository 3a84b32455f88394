"""FIFO queues by rank for compiled code, and memory prefetch.

All queues share one pool of blocks. A block is freed when its last entry has been taken, so memory use depends on the
number of waiting entries, not on the total.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numba.core import cgutils as _cgutils
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from spoor.compiled import compiled

# Memory prefetch in compiled code: a large crawl spends most of its time waiting for memory.


cgutils: Any = _cgutils


def _prefetch(typing_context: Any, array: Any, index: Any) -> tuple[Any, Any]:
    """numba intrinsic: returns the signature, and the function that emits the LLVM prefetch instruction."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        values = context.make_array(array_type)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, array_type, values, [arguments[1]])
        address = builder.bitcast(pointer, cgutils.voidptr_t)
        number = cgutils.int32_t
        kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), [address.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # Read access (0), keep in all cache levels (3), data cache (1).
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), write


prefetch: Callable[[Any, int], None] = cast(Any, intrinsic)(_prefetch)
"""Loads array[index] into the cache. No effect if there is no such element."""


# Queues by rank for compiled code: highest rank first, FIFO within a rank.


BLOCK: Final = 512
NEVER_USED: Final = -1

BEST, FREE, FREE_BLOCKS = range(3)
"""Indices in `marks`: an upper bound of the ranks of all entries; the first free block; the number of free blocks."""


class Queues(NamedTuple):
    """Queues share one pool: each reads at slot `head` and writes at slot `tail`, and is empty when they are equal."""

    pool: NDArray[np.int32]
    next_block: NDArray[np.int32]
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    marks: NDArray[np.int64]


def new_queues(ranks: int) -> Queues:
    """Allocates one spare rank: see `room_for`."""
    blocks = 2 * ranks + 64
    following = np.arange(1, blocks + 1, dtype=np.int32)
    unused = np.full(ranks + 1, NEVER_USED, np.int64)
    marks = np.array([0, 0, blocks], np.int64)
    return Queues(np.zeros(blocks * BLOCK, np.int32), following, unused, unused.copy(), marks)


def enlarged(queues: Queues) -> Queues:
    """The same queues with twice as many blocks and ranks."""
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
    """Whether that many entries can be pushed, with ranks up to one above the highest so far."""
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
    """The next entry; at least one queue must not be empty. Afterwards marks[BEST] is its rank."""
    best = queues.marks[BEST]
    while queues.head[best] == queues.tail[best]:
        best -= 1
    queues.marks[BEST] = best
    return int(queues.pool[queues.head[best]])


@compiled
def ahead(queues: Queues, distance: int) -> int:
    """The entry that is probably next after `distance` more; at worst an entry that was already taken."""
    slot = queues.head[queues.marks[BEST]]
    return int(queues.pool[min(slot + distance, slot | (BLOCK - 1))])


@compiled
def drop_first(queues: Queues) -> None:
    """Removes the entry that `first` returned."""
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
