"""Worker processes, with ordered results or over a socket; and daemon threads."""

from __future__ import annotations

import ctypes
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
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, Popen, TimeoutExpired
from typing import Any, ParamSpec, Protocol, TypeVar

from spoor.errors import BadInput

# A pool of processes with results in the order of the input.


T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[list[T]], list[R]]
"""Processes a batch; a module-level function, so that it can be found in another process."""


def in_order(work: Work[T, R], batches: Iterable[list[T]], workers: int) -> Iterator[R]:
    """The results of all batches, in order, whatever the number of workers. With one, the work is done in this
    process."""
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
    """Spawned, not forked: the thread of a progress bar does not survive a fork. They end with this process, however it
    ends."""
    return ProcessPoolExecutor(count, get_context("spawn"), _begin, (initializer,))


def _begin(initializer: Callable[[], None] | None) -> None:
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    if initializer is not None:
        initializer()


def _end_with_the_parent() -> None:
    """Otherwise a worker whose parent was killed would wait for work forever."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _through(pool: ProcessPoolExecutor, work: Work[T, R], batches: Iterable[list[T]], in_flight: int) -> Iterator[R]:
    """At most `in_flight` batches at a time, so that memory does not grow with the work."""
    waiting: deque[Future[list[R]]] = deque()
    for batch in batches:
        waiting.append(pool.submit(work, batch))
        if len(waiting) > in_flight:
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# A process that is used over a socket and may die from its input, by limits that it sets itself.


_STATM = Path("/proc/self/statm")
_STARTED_HERE = "SPOOR_WORKER"
"""Environment variable of such a process, so that a script that is imported there does not start another crawl."""


class OtherProcess(Protocol):
    """A process that this one started: `Popen`, or `ForkedProcess`."""

    @property
    def returncode(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> object:
        """Raises TimeoutExpired."""
        ...

    def kill(self) -> None: ...


def other_process(program: str, *files: int) -> tuple[Popen[bytes], socket.socket]:
    """Starts a process that runs a program with its end of the socket and the `files` as arguments, all of them file
    descriptors; returns it and this end. It has the same import path."""
    ours, theirs = socket.socketpair()
    with theirs:
        files = theirs.fileno(), *files
        command = (sys.executable, "-c", program, *map(str, files))
        place = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), _STARTED_HERE: "1"}
        return Popen(command, stdin=DEVNULL, pass_fds=files, env=place), ours


@dataclass(frozen=True, slots=True)
class ForkedProcess:
    """A copy of this process that does something else."""

    process: BaseProcess

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> None:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise TimeoutExpired(self.process.name, timeout or 0.0)

    def kill(self) -> None:
        self.process.kill()


def forked_process(
    main: Callable[[socket.socket], None], closing: Iterable[socket.socket] = ()
) -> tuple[ForkedProcess, socket.socket]:
    """Like `other_process`, in a hundredth of the time, with all that this process has loaded. Only for a process
    without threads. The copy closes its ends of the sockets `closing`, so that whoever has the other ends notices when
    this process ends."""
    ours, theirs = socket.socketpair()
    with theirs:
        copy = get_context("fork").Process(target=_main_of_a_copy, args=(main, theirs, (ours, *closing)), daemon=True)
        copy.start()
        return ForkedProcess(copy), ours


def _main_of_a_copy(
    main: Callable[[socket.socket], None], own: socket.socket, closing: Iterable[socket.socket]
) -> None:
    for one in closing:
        one.close()
    main(own)


def is_other_process() -> bool:
    """Whether this is a process that `other_process` started, or a child of one."""
    return _STARTED_HERE in os.environ


def bound_memory(more: int) -> None:
    """Limits the address space to `more` bytes beyond the current use. Without /proc that is not known, and there is no
    limit."""
    try:
        pages = int(_STATM.read_text().split()[0])
    except OSError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() - _freed_bytes() + more, hard))


class _MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc's malloc.h."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()  # noqa: SIM905
    )


@cache
def _malloc_info() -> Callable[[], _MallocInfo] | None:
    """None before glibc 2.33 and where there is none."""
    function = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if function is not None:
        function.argtypes, function.restype = (), _MallocInfo
    return function


def _freed_bytes() -> int:
    """Bytes of the address space that malloc has kept of what was freed, and uses again. Were they counted as used,
    each page could take as much as the largest before it besides its own share."""
    info = _malloc_info()
    return 0 if info is None else int(info().fordblks)


def cause_of_death(code: int, seconds: float) -> str:
    """Why a process ended with this code. It ends itself after `seconds`."""
    if code == -signal.SIGALRM:
        return f"reading took over {seconds:g} s"
    return f"the reader crashed: {signal.strsignal(-code) if code < 0 else f'exit code {code}'}"


# Daemon threads: a DNS lookup may take half a minute, and a crawl must be able to end.


P = ParamSpec("P")

Task = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(ThreadPoolExecutor):
    """For `loop.set_default_executor`, which accepts only this class. Threads are started as needed, up to `most`, and
    end with the process, even in the middle of their work."""

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
        """Does not wait."""

    def _work(self) -> None:
        while True:
            _do(*self._tasks.get())
            with self._lock:
                self._busy -= 1


def _do(future: Future[Any], call: Callable[[], Any]) -> None:
    """A function of its own, so that an idle thread keeps no reference to its last task."""
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
