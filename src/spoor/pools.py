"""Work in other processes, its results in order or asked for over a socket; and threads that nobody waits for."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, Popen
from typing import Any, ParamSpec, TypeVar

from spoor.errors import BadInput

# Work done in several processes, its results in the order of the work.


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
    pool = processes(workers, _leave_interrupts_to_the_parent)
    try:
        yield from _through(pool, work, batches, in_flight=2 * workers)
    except BrokenProcessPool:
        raise BadInput("a process that reads pages died, perhaps out of memory; try --workers 1") from None
    finally:
        pool.shutdown(cancel_futures=True)


def processes(count: int, initializer: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """Spawned, not forked: the thread of a progress bar does not survive a fork."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer)


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


# A process that is asked over a socket and may die of what it is asked, by limits that it sets itself.


_STATM = Path("/proc/self/statm")


def other_process(program: str, **environment: str) -> tuple[Popen[bytes], socket.socket]:
    """A process that runs a program, whose argument is its end of the line, and our end. It imports what we can."""
    ours, theirs = socket.socketpair()
    with theirs:
        line = theirs.fileno()
        command = (sys.executable, "-c", program, str(line))
        place = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
        return Popen(command, stdin=DEVNULL, pass_fds=(line,), env=place), ours


def bound_memory(more: int) -> None:
    """Address space beyond what is in use now. Without /proc nobody knows that, and there is no bound."""
    try:
        pages = int(_STATM.read_text().split()[0])
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))


def cause_of_death(code: int, seconds: float) -> str:
    """Of a process that ended with this code. After so many seconds it ends itself."""
    if code == -signal.SIGALRM:
        return f"reading took over {seconds:g} s"
    return f"the reader crashed: {signal.strsignal(-code) if code < 0 else f'exit code {code}'}"


# Threads that nobody waits for: a name that is looked up may take half a minute, and a crawl must be able to
# end.


P = ParamSpec("P")

Task = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(ThreadPoolExecutor):
    """For `loop.set_default_executor`, which takes nothing else than this kind. Threads are started as they are needed,
    up to `most`, and end with the process; what they do then is given up."""

    def __init__(self, most: int) -> None:
        super().__init__(max_workers=most)
        self._most = most
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._busy = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._busy += 1
            if self._busy > self._started and self._started < self._most:
                self._started += 1
                threading.Thread(target=self._work, name=f"daemon {self._started}", daemon=True).start()
        self._tasks.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nobody waits."""

    def _work(self) -> None:
        while True:
            _do(*self._tasks.get())
            with self._lock:
                self._busy -= 1


def _do(future: Future[Any], call: Callable[[], Any]) -> None:
    """Apart from the loop, so that a thread with nothing to do holds nothing of what it did last."""
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
