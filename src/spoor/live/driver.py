"""Drives a crawl of the real web, with asyncio and the wall clock."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from spoor.crawl import Arrival, Crawl
from spoor.errors import OF_STORAGE
from spoor.events import Event
from spoor.records import Judged, Page, RobotsRules, SitemapFile, Trouble, Visit
from spoor.roles import Downloader, Troubles

GRACE = 0.5
"""Seconds that visits under way may still take after `stop`. The process must have ended two seconds after that."""
AT_ONCE = 32
"""Most visits that are absorbed in one batch, which takes about 25 ms. The event loop runs once after each batch and
each selected visit, so that other tasks need not wait long. Smaller batches mean more disk writes and more
re-scoring."""
LINKS_AT_ONCE = 2_000
"""Links in a batch after which it ends early, about 50 ms: a page may have thousands."""
LINE_OF_RULES = 25
"""Characters of a robots.txt that take about as long as a link."""


@dataclass
class LiveDriver:
    """Keeps up to `connections` fetches under way: started, but not yet absorbed. `clock` returns seconds since the
    epoch. If a fetch raises anything but a storage error, only its URL is lost, and `troubles` records the error. With
    `lasting` the driver does not end by itself, since more visits may be granted."""

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
    """Seconds spent in `next_visit` and `absorb` of the crawl."""
    _stop_by: float | None = field(default=None, init=False)
    _woken: bool = field(default=False, init=False)

    def stop(self) -> None:
        """Start no more visits; those under way have `GRACE` seconds left. A second call ends the wait at once."""
        self._stop_by = self.clock() + (GRACE if self._stop_by is None else 0.0)
        self._arrived.put_nowait(None)

    def wake(self, error: Exception | None = None) -> None:
        """Signals that the next visit may have changed or a host may be free again. `run` then yields a batch, which
        may be empty. An `error` ends the crawl."""
        self._woken = True
        self._arrived.put_nowait(error)

    @property
    def under_way(self) -> int:
        return self._under_way

    async def run(self) -> AsyncIterator[list[Event]]:
        """Starts fetches while connections are free and visits available; waits for an arrival or until a host is free;
        absorbs. Ends when neither can happen. Yields the events of each batch after it is committed."""
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
        """Starts a fetch even if all connections are in use: another request may be waiting for this robots.txt."""
        self._under_way += 1
        task = asyncio.create_task(self._fetch(visit))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fetch(self, visit: Visit) -> None:
        try:
            self._arrived.put_nowait(
                (visit, await TrackedFetch(self.downloader.fetch(visit), visit.url, self.troubles))
            )
        except OF_STORAGE as error:  # Passed on, so that it ends the crawl and not only this visit.
            self._arrived.put_nowait(error)
        except Exception as error:
            self._arrived.put_nowait((visit, request_trouble(error, visit.url, self.troubles)))

    def _wake_at(self) -> float | None:
        return self.crawl.wake_at() if self._under_way < self.connections else None

    async def _arrivals(self, wake: float | None) -> list[Arrival]:
        """Waits for outcomes; returns those that have arrived, at most `AT_ONCE` and `LINKS_AT_ONCE`, or none if `wake`
        comes first."""
        try:
            async with asyncio.timeout(None if wake is None else max(0.0, wake - self.clock())):
                arrived = [await self._arrived.get()]
        except TimeoutError:
            return []
        links = _links(arrived[0])
        while not self._arrived.empty() and len(arrived) < AT_ONCE and links < LINKS_AT_ONCE:
            arrived.append(self._arrived.get_nowait())
            links += _links(arrived[-1])
        for thing in arrived:
            if isinstance(thing, BaseException):
                raise thing
        arrivals = [thing for thing in arrived if isinstance(thing, tuple)]
        self._under_way -= len(arrivals)
        return arrivals

    async def _abandon(self) -> None:
        """Cancels the fetches under way. Their links stay in transit, and wait again when the crawl is resumed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _links(arrived: Arrival | BaseException | None) -> int:
    """How long an arrival takes to be absorbed, in links."""
    match arrived:
        case (_, Judged(page)) | (_, Page() as page):
            return len(page.links)
        case (_, RobotsRules(text)):
            return len(text) // LINE_OF_RULES
        case (_, SitemapFile(listed=listed)):
            return len(listed)
        case _:
            return 0


def request_trouble(error: Exception, url: str, troubles: Troubles) -> Trouble:
    """The outcome of a request that raised what is no failure of the network or of a server."""
    return Trouble(troubles.keep(url, "fetched", error), "".join(traceback.format_exception(error)))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TrackedFetch(Generic[T]):
    """Awaits a fetch and registers its URL with `troubles` during each step between two awaits, so that the URL can be
    blamed if that step kills the process."""

    fetching: Coroutine[Any, Any, T]
    url: str
    troubles: Troubles

    def __await__(self) -> Generator[Any, Any, T]:
        answer, interruption = None, None
        while True:
            self.troubles.on(self.url)
            try:
                awaited = self.fetching.send(answer) if interruption is None else self.fetching.throw(interruption)
            except StopIteration as done:
                outcome: T = done.value
                return outcome
            finally:
                self.troubles.off()
            try:
                answer, interruption = (yield awaited), None
            except BaseException as error:  # Passed to the fetch: it was cancelled, or its awaitable failed.
                answer, interruption = None, error
