"""A crawl of the real web: asyncio and the wall clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any

from spoor.crawl import Arrival, Crawl
from spoor.errors import OF_STORAGE
from spoor.events import Event
from spoor.records import Outcome, Trouble, Visit
from spoor.roles import Downloader, Troubles

GRACE = 0.5
"""Seconds that visits under way may still take after the crawl was told to stop. Two seconds after that it must be
gone."""
AT_ONCE = 16
"""Visits that are absorbed together, some 25 ms. After these, and after every decision, the loop turns once: what else
has come must not wait for all of them. With fewer, more is written to the disk, and more links are re-scored."""


@dataclass
class LiveDriver:
    """Keeps up to `connections` fetches under way: begun, and not absorbed yet. `clock` tells seconds since the epoch.
    A fetch that raises anything but an error of storage costs its URL, and `troubles` is told. `lasting`: it does not
    end by itself, since more visits may be granted."""

    crawl: Crawl
    downloader: Downloader
    connections: int
    clock: Callable[[], float]
    troubles: Troubles
    lasting: bool = False
    _arrived: asyncio.Queue[Arrival | BaseException | None] = field(default_factory=asyncio.Queue, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _under_way: int = field(default=0, init=False)
    deciding: float = field(default=0.0, init=False)
    """Seconds in which the crawl was asked what to visit next, or told what came."""
    _stop_by: float | None = field(default=None, init=False)
    _woken: bool = field(default=False, init=False)

    def stop(self) -> None:
        """Begin no more visits; what is under way may still arrive, for a while. Told twice, it does not wait."""
        self._stop_by = self.clock() + (GRACE if self._stop_by is None else 0.0)
        self._arrived.put_nowait(None)

    def wake(self, error: Exception | None = None) -> None:
        """What to visit next may be another than it was, or a host be free that was not: a batch is yielded, if an
        empty one. An `error` ends the crawl."""
        self._woken = True
        self._arrived.put_nowait(error)

    @property
    def under_way(self) -> int:
        return self._under_way

    async def run(self) -> AsyncIterator[list[Event]]:
        """While there is room and a visit, start fetching; wait for whichever comes first, an arrival or a host waking;
        absorb; when neither can come, stop. Yields the events of each batch, after it was committed."""
        try:
            while True:
                await self._start_fetching()
                wake = self._stop_by if self._stop_by is not None else self._wake_at()
                if not self._under_way and (self._stop_by is not None or (wake is None and not self.lasting)):
                    yield self._absorb([])
                    return
                arrivals = await self._arrivals(wake)
                if arrivals or self.crawl.interrupted or self._woken:
                    self._woken = False
                    yield self._absorb(arrivals)
                elif self._stop_by is not None and self.clock() >= self._stop_by:
                    yield self._absorb([])
                    return
        finally:
            await self._abandon()

    async def _start_fetching(self) -> None:
        while self._stop_by is None and self._under_way < self.connections:
            began = time.perf_counter()
            visit = self.crawl.next_visit(self.clock())
            self.deciding += time.perf_counter() - began
            if visit is None:
                return
            self.begin(visit)
            await asyncio.sleep(0)

    def _absorb(self, arrivals: list[Arrival]) -> list[Event]:
        began = time.perf_counter()
        events = self.crawl.absorb(arrivals, self.clock())
        self.deciding += time.perf_counter() - began
        return events

    def begin(self, visit: Visit) -> None:
        """However many are under way: somebody may wait for a robots.txt."""
        self._under_way += 1
        task = asyncio.create_task(self._fetch(visit))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fetch(self, visit: Visit) -> None:
        try:
            self._arrived.put_nowait((visit, await Blamed(self.downloader.fetch(visit), visit.url, self.troubles)))
        except OF_STORAGE as error:  # Handed over, so that it ends the crawl instead of one visit.
            self._arrived.put_nowait(error)
        except Exception as error:
            self._arrived.put_nowait((visit, Trouble(self.troubles.keep(visit.url, "fetched", error))))

    def _wake_at(self) -> float | None:
        return self.crawl.wake_at() if self._under_way < self.connections else None

    async def _arrivals(self, wake: float | None) -> list[Arrival]:
        """What has arrived, once something has; nothing if it is time to wake before that."""
        try:
            async with asyncio.timeout(None if wake is None else max(0.0, wake - self.clock())):
                arrived = [await self._arrived.get()]
        except TimeoutError:
            return []
        while not self._arrived.empty() and len(arrived) < AT_ONCE:
            arrived.append(self._arrived.get_nowait())
        for thing in arrived:
            if isinstance(thing, BaseException):
                raise thing
        arrivals = [thing for thing in arrived if isinstance(thing, tuple)]
        self._under_way -= len(arrivals)
        return arrivals

    async def _abandon(self) -> None:
        """What is still under way stays in transit, and waits again when the crawl is resumed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Blamed:
    """A fetch that says of every step between two waits that its URL is worked on, so that it can be blamed if the
    process dies of that step."""

    fetching: Coroutine[Any, Any, Outcome]
    url: str
    troubles: Troubles

    def __await__(self) -> Generator[Any, Any, Outcome]:
        answer, interruption = None, None
        while True:
            self.troubles.on(self.url)
            try:
                awaited = self.fetching.send(answer) if interruption is None else self.fetching.throw(interruption)
            except StopIteration as done:
                outcome: Outcome = done.value
                return outcome
            finally:
                self.troubles.off()
            try:
                answer, interruption = (yield awaited), None
            except BaseException as error:  # For the fetch to handle: cancelled, or what it waited for failed.
                answer, interruption = None, error
