"""`spoor.crawl`: a live crawl as an iterator of pages, for programs and notebooks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Self, Unpack

from spoor import settings as config
from spoor.api.options import AnyJudge, AnyPath, AnyStrategy, CrawlOptions, given_in, objects_of, settings_of
from spoor.errors import REPORT_IT, RequestsBroken
from spoor.events import Event, Failed, Visited
from spoor.live.from_settings import Objects, strategy_of
from spoor.live.inputs import check_inputs, with_kept_inputs
from spoor.live.relearning import check_target, earlier_crawl, misleading
from spoor.live.running import Session, run_for
from spoor.live.session import open_session
from spoor.live.surroundings import remarks
from spoor.records import Judged
from spoor.report.contents import CrawledPage
from spoor.settings import Config
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.trust import admit

AHEAD = 64
"""Size of the buffer of pages. When it is full, the crawl starts no new requests until the caller takes a page."""
STOPPED = "it was stopped"
_log = logging.getLogger(__name__)


def crawl(
    folder: AnyPath,
    *,
    strategy: AnyStrategy | None = None,
    judge: AnyJudge | None = None,
    settings: Config | AnyPath | None = None,
    **options: Unpack[CrawlOptions],
) -> RunningCrawl:
    """Returns a crawl into `folder`, which starts when it is iterated over. If the folder contains a crawl, it is
    resumed.

    The target is given by options of crawl.toml (`language="th"`, `keywords=["rice"]` …), by `judge`, or by both.
    `settings` is the path of a file such as crawl.toml, or a `Config`; options override it. Raises immediately if the
    combination cannot be run.
    """
    where, objects = CrawlFolder(Path(folder)), objects_of(strategy, judge)
    asked = settings_of(where, settings, strategy, judge, options)
    admit(asked, where.path, given_in(settings, options))
    check_target(asked, where)
    check_inputs(asked, where)
    made = objects.made(asked, where)
    if warning := misleading(asked, earlier_crawl(asked, strategy_of(asked, made), where)):
        warnings.warn(warning, stacklevel=2)
    return RunningCrawl(where.path, asked, made)


class RunningCrawl:
    """Runs the crawl when iterated over with `for` or `async for`; yields each page after it is on disk. The crawl has
    its own thread and event loop, so it can be used inside a running loop. Leaving the loop stops the crawl; iterating
    again resumes it, and yields only new pages.

    Pages that arrive while the crawl is stopping are in the folder but are not yielded: `open_crawl` returns all pages.
    """

    def __init__(self, folder: Path, settings: Config, objects: Objects) -> None:
        self.folder = folder
        self.settings = settings
        self._objects = objects
        self._thread: _CrawlThread | None = None

    @property
    def ended(self) -> str:
        """Why the last iteration ended; "" before the first end."""
        return self._thread.ended if self._thread is not None else ""

    @property
    def last_failure(self) -> str:
        """The URL of the last failed fetch, and the reason; "" if there was none."""
        return self._thread.last_failure if self._thread is not None else ""

    def stop(self) -> None:
        """Starts no more requests; the iteration ends after the pages already fetched. Thread-safe."""
        if self._thread is not None:
            self._thread.stop()

    def __iter__(self) -> Iterator[CrawledPage]:
        taken: SimpleQueue[CrawledPage | None] = SimpleQueue()
        thread = self._begin(taken.put)
        try:
            while (page := taken.get()) is not None:
                thread.make_room()
                yield page
        finally:
            thread.end()
        thread.check()

    async def __aiter__(self) -> AsyncIterator[CrawledPage]:
        taken: asyncio.Queue[CrawledPage | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        thread = self._begin(lambda page: loop.call_soon_threadsafe(taken.put_nowait, page))
        try:
            while (page := await taken.get()) is not None:
                thread.make_room()
                yield page
        finally:
            await thread.end_elsewhere()
        thread.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            await self._thread.end_elsewhere()

    def _begin(self, give: Callable[[CrawledPage | None], object]) -> _CrawlThread:
        thread = self._thread = _CrawlThread(CrawlFolder(self.folder), self.settings, self._objects, give)
        thread.start()
        return thread


_PATIENCE = 0.01
"""Seconds between two checks whether the thread has ended."""


class _CrawlThread(threading.Thread):
    """One crawl, from opening its folder to closing it. Calls `give` in this thread with every page, and with None at
    the end. A daemon thread: the program may exit without waiting for it, which leaves the folder as after a kill."""

    def __init__(
        self, folder: CrawlFolder, settings: Config, objects: Objects, give: Callable[[CrawledPage | None], object]
    ) -> None:
        super().__init__(name=f"spoor {folder.path}", daemon=True)
        self.ended = ""
        self.last_failure = ""
        self._folder, self._settings, self._objects, self._give = folder, settings, objects, give
        self._loop = asyncio.new_event_loop()
        self._room = asyncio.Semaphore(AHEAD)
        self._session: Session | None = None
        self._error: BaseException | None = None
        self._stopped = self._abandoned = False

    def stop(self) -> None:
        self._stopped = True
        self._in_loop(self._pass_on)

    def _abandon(self) -> None:
        """The caller takes no more pages."""
        self._abandoned = True
        self.stop()
        self.make_room()

    def end(self) -> None:
        """Abandons the crawl and joins the thread, unless the interpreter is shutting down: then the thread is already
        dead."""
        self._abandon()
        if not sys.is_finalizing():
            self.join()

    async def end_elsewhere(self) -> None:
        """Like `end`, without blocking the event loop of the caller."""
        self._abandon()
        while self.is_alive():
            await asyncio.sleep(_PATIENCE)

    def make_room(self) -> None:
        self._in_loop(self._room.release)

    def check(self) -> None:
        """Raises the error that ended the crawl, if any."""
        if self._error is not None:
            raise self._error

    def run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._crawl())
        except BaseException as error:
            self._error = error
        finally:
            with contextlib.suppress(RuntimeError):  # The event loop of the caller is closed.
                self._give(None)

    async def _crawl(self) -> None:
        with open_for_crawling(self._folder.path) as folder:
            settings, came = with_kept_inputs(self._settings, folder), dict[str, Judged]()
            async with open_session(folder, settings, objects=self._objects, came=came) as session:
                folder.write_settings(config.dumps(settings))
                self._session = session
                for line in remarks(settings.crawl.proxy, os.environ):
                    _log.warning("%s", line)
                if who := session.crawl.guidance.paused_by:
                    _log.warning("paused by %s: no requests are made until `spoor unpause %s`", who, folder.path)
                if self._stopped:
                    self._pass_on()
                async for events in run_for(session, settings.crawl.max_minutes):
                    for event in events:
                        await self._tell(event, came)
                self.ended = session.ended()
                if session.broken:
                    raise RequestsBroken(f"{session.broken}; {REPORT_IT}")

    async def _tell(self, event: Event, came: dict[str, Judged]) -> None:
        if isinstance(event, Failed):
            came.pop(event.visit.url, None)
            self.last_failure = f"{event.visit.url}: {event.reason}"
        elif isinstance(event, Visited) and (judged := came.pop(event.visit.url, None)) is not None:
            if not self._abandoned:
                await self._room.acquire()
            if not self._abandoned:
                self._give(_page(event, judged))

    def _pass_on(self) -> None:
        if self._session is not None:
            self._session.stop(STOPPED)

    def _in_loop(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # The loop of the crawl is closed.
            self._loop.call_soon_threadsafe(call)


def _page(event: Visited, judged: Judged) -> CrawledPage:
    page = judged.page
    facts = (judged.language, event.status, event.size, event.at, page.duplicate_of)
    return CrawledPage(page.url, page.title, page.text, event.verdict, *facts)
