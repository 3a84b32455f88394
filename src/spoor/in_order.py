"""Work done in several processes, its results in the order of the work."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from spoor.errors import BadInput

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[list[T]], list[R]]
"""Deals with a batch; a function of a module, so that it can be found in another process."""


def in_order(work: Work[T, R], batches: Iterable[list[T]], workers: int) -> Iterator[R]:
    """The results of all batches, one after another, whatever the number of workers. With one, nothing is sent away."""
    if workers == 1:
        for batch in batches:
            yield from work(batch)
        return
    pool = ProcessPoolExecutor(workers, initializer=_leave_interrupts_to_the_parent)
    try:
        yield from _through(pool, work, batches, in_flight=2 * workers)
    except BrokenProcessPool:
        raise BadInput("a process that reads pages died, perhaps out of memory; try --workers 1") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _through(pool: ProcessPoolExecutor, work: Work[T, R], batches: Iterable[list[T]], in_flight: int) -> Iterator[R]:
    """Never more batches under way than `in_flight`, so memory does not grow with the work."""
    waiting: deque[Future[list[R]]] = deque()
    for batch in batches:
        waiting.append(pool.submit(work, batch))
        if len(waiting) > in_flight:
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
