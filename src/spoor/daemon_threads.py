"""Threads that nobody waits for: a name that is looked up may take half a minute, and a crawl must be able to end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

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
            future, call = self._tasks.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
            with self._lock:
                self._busy -= 1
