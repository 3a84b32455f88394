"""A running live crawl: stopped, steered and taught between its batches."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from spoor.crawl import Crawl
from spoor.errors import OF_STORAGE
from spoor.events import Event, Failed, Held, HostOpened, Redirected, SitemapRead, Visited
from spoor.live.action_applier import POLL_INTERVAL, ActionApplier, minutes_in, stopped_by
from spoor.live.active_learning import ActiveLearning
from spoor.live.archive import Archive
from spoor.live.driver import LiveDriver
from spoor.live.relearning import SnapshotWriter
from spoor.live.watchdog import Hold
from spoor.records import Trouble
from spoor.stopping import LastRequests
from spoor.store.idle_time import note_idle
from spoor.store.mail import Mail
from spoor.store.run_time import RunTime
from spoor.store.totals import CrawlTotals, totals_of

_log = logging.getLogger(__name__)

OWN_ERRORS = 100
"""Requests in a row that fail by an error of spoor, after which the crawl ends."""


@dataclass
class Session:
    """A crawl that can be run once. `stop` may be called at any time from the same event loop. `no_browser` is what is
    missing to render pages that need scripts, "" if nothing is."""

    crawl: Crawl
    driver: LiveDriver
    archive: Archive
    run_time: RunTime
    snapshots: SnapshotWriter
    actions: ActionApplier
    learning: ActiveLearning | None = None
    last_requests: LastRequests | None = None
    no_browser: str = ""
    _mail: Mail | None = None
    _why: str = ""
    broken: str = field(default="", init=False)
    """Why the crawl cannot go on, if every request fails by an error of spoor; otherwise ""."""
    own_error: str = field(default="", init=False)
    """The first request that failed by an error of spoor, for the user; "" if none did."""
    _own_errors: int = field(default=0, init=False)
    """Such requests in a row, without a response between."""
    _noted: list[Event] = field(default_factory=list, init=False)
    _deadline: asyncio.TimerHandle | None = field(default=None, init=False)

    def stop(self, why: str) -> None:
        self._why = self._why or why
        self.driver.stop()

    async def run(self) -> AsyncIterator[list[Event]]:
        """Yields the events of each batch, after they are committed and written to the WARC."""
        self.run_time.begin(self.archive.journal.last)
        self.apply_actions()
        async with self._listening(), contextlib.nullcontext() if self.learning is None else self.learning.beside():
            going_on = True
            while going_on:
                async for events in self.driver.run():
                    self.archive.note(events)
                    self.snapshots.committed(self.driver.clock())
                    self._stop_if_too_few(events)
                    self._stop_if_broken(events)
                    if self.learning is not None:
                        self.learning.wake()
                    yield [*self._taken(), *events]
                going_on = not self._why and self.apply_actions()
        if self.learning is not None and self.learning.finish():
            yield self._taken()
        self.archive.journal.end(self.driver.clock(), self.ended(), self.crawl.idle)
        self.run_time.end()
        self.crawl.frontier.commit()
        self.actions.folder.idle.unlink(missing_ok=True)
        await self.snapshots.finish(self.driver.clock())

    def _stop_if_too_few(self, events: list[Event]) -> None:
        if (last := self.last_requests) is not None:
            last.note(events)
            if last.are_too_few:
                self.stop(
                    f"the last {last.rule.requests:,} requests found fewer than {last.rule.finds:,} relevant pages"
                )

    def _stop_if_broken(self, events: list[Event]) -> None:
        """A crawl in which every request fails by an error of ours is not waiting for the web."""
        for event in events:
            match event:
                case Failed(trouble=Trouble(trace=trace)) if trace:
                    self._own_errors += 1
                    self._tell_own_error(event.visit.url, event.reason, trace)
                case Visited() | Redirected() | HostOpened() | SitemapRead():
                    self._own_errors = 0
                    continue
                case _:
                    continue
            if self._own_errors >= OWN_ERRORS and not self.broken:
                self.broken = f"{OWN_ERRORS} requests in a row failed by an error of spoor: {event.reason}"
                self.stop(self.broken)

    def _tell_own_error(self, url: str, reason: str, trace: str) -> None:
        if not self.own_error:
            what = f"{url}: {reason}: an error of spoor, not of the web"
            self.own_error = f"{what}; a sample is in {self.actions.folder.troubles}; further ones are only counted"
            _log.warning("%s", self.own_error)
            _log.info("%s", trace)

    async def learn(self) -> list[Event]:
        """Instead of `run`: fetches nothing, but trains the judge on all new answers."""
        if self.learning is not None and self.learning.finish():
            await self.snapshots.finish(self.driver.clock())
        return self._taken()

    def _taken(self) -> list[Event]:
        noted, self._noted = self._noted, []
        return noted

    @contextlib.asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        async def listen() -> None:
            while True:
                await asyncio.sleep(POLL_INTERVAL)
                try:
                    self.apply_actions()
                except OF_STORAGE as error:
                    self.driver.wake(error)

        listening = asyncio.create_task(listen())
        try:
            yield
        finally:
            listening.cancel()

    def apply_actions(self) -> bool:
        """Applies the actions that arrived since the last call. Whether there were any."""
        note_idle(self.actions.folder.idle, self.crawl.idle)
        events = self.actions.apply_actions()
        self._noted += events
        if who := stopped_by(events):
            self.stop(f"{who} stopped it")
        if (minutes := minutes_in(events)) is not None:
            self.stop_after(minutes)
        if events:
            self.driver.wake()
        return bool(events)

    def stop_after(self, minutes: float) -> None:
        """Stops the crawl so many minutes after its start; replaces an earlier deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        left = self.crawl.limits.began + 60 * minutes - self.driver.clock()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(max(0.0, left), self.stop, f"{minutes:g} minutes are over")

    def totals(self) -> CrawlTotals:
        """Of all runs: what is committed, and the time until now."""
        return replace(totals_of(self.actions.db), seconds=self.run_time.total)

    def note(self, event: Event) -> None:
        """Records an event that does not come from the crawl; it is committed with the next batch."""
        self.archive.journal.note([event])
        self._noted.append(event)

    def held(self, hold: Hold) -> None:
        self.note(Held(self.driver.clock(), hold.seconds, hold.cpu, hold.url, hold.where))

    @property
    def mail(self) -> Mail:
        """The mail of a shard; only if this is one."""
        assert self._mail is not None
        return self._mail

    def ended(self) -> str:
        """Why the crawl ended."""
        return self._why or self.crawl.ended()


async def run_for(session: Session, minutes: float | None) -> AsyncIterator[list[Event]]:
    """Like `Session.run`, but stops when the time is up."""
    if minutes is not None:
        session.stop_after(minutes)
    async for events in session.run():
        yield events
