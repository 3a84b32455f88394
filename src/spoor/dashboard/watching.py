"""A watched crawl: two threads, separate from the server, answer queries and count new rows."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from spoor.dashboard.counts import FILE, count_on, open_to_count, open_to_look_up, places_for
from spoor.dashboard.page_texts import index_texts
from spoor.dashboard.reading import Memory, Reading
from spoor.errors import BadInput, NotWritten, SpoorError
from spoor.frontier.rows import UNREADABLE
from spoor.pools import DaemonThreads
from spoor.stopping import ExpectedFinds
from spoor.storage_errors import is_of_surroundings, not_written
from spoor.store.crawl_folder import CrawlFolder, is_open_for_crawling
from spoor.store.recent import expected_in

T = TypeVar("T")

SECONDS_BETWEEN_COUNTS = 4.0
SECONDS_UNWATCHED = 10.0
"""Between two counts if there was no request in the last minute."""
SECONDS_AFTER_TROUBLE = 30.0
PATIENCE = 60.0
SHARE_OF_TIME = 0.003
"""Share of one core, each for indexing texts and for the forecast, while a crawl is running: the crawl has priority."""
SECONDS_BETWEEN_FORECASTS = 30.0
"""Between two forecasts of relevant pages."""
FRESH = 60.0
"""Seconds after the last change of a database for which a crawl counts as running, if its lock cannot be tested."""
SECONDS_OF_A_TURN = 0.0005
"""Switch interval of threads; a tenth of Python's default."""
_log = logging.getLogger(__name__)


def answer_promptly() -> None:
    """For a process that only serves a dashboard: responses do not wait long for the thread that indexes texts."""
    sys.setswitchinterval(SECONDS_OF_A_TURN)


@dataclass
class WatchedCrawl:
    """Opens nothing before `start`; each of the two threads has its own database connection."""

    folder: CrawlFolder
    number: int
    trouble: str = field(default="", init=False)
    _places: Iterator[Path] = field(init=False)
    """Where the counts may be, as far as not yet tried."""
    _file: Path = field(default=Path(), init=False)
    _looked_up_in: Path = field(default=Path(), init=False)
    _counting: sqlite3.Connection | None = field(default=None, init=False)
    _looking_up: sqlite3.Connection | None = field(default=None, init=False)
    _asked_at: float = field(default=0.0, init=False)
    _running: bool = field(default=False, init=False)
    _ask_again_at: float = field(default=0.0, init=False)
    _asked: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _acted: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _texts_at: float = field(default=0.0, init=False)
    _forecast_at: float = field(default=0.0, init=False)
    _forecast_of: int = field(default=0, init=False)
    _expected: ExpectedFinds | None = field(default=None, init=False)
    _memory: Memory = field(default_factory=Memory, init=False)
    _counter: Executor = field(default_factory=lambda: DaemonThreads(1), init=False)
    _reader: Executor = field(default_factory=lambda: DaemonThreads(1), init=False)

    def __post_init__(self) -> None:
        self._places = places_for(self.folder)

    async def start(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._counter, self._begin)

    async def read(self, question: Callable[[Reading], T]) -> T:
        """Answers a query in one short transaction."""
        self._asked_at = time.monotonic()
        self._asked.set()
        return await asyncio.get_running_loop().run_in_executor(self._reader, self._answer, question)

    async def keep_up(self) -> None:
        """Counts new rows until cancelled."""
        while True:
            self._acted.clear()
            try:
                pause = await asyncio.get_running_loop().run_in_executor(self._counter, self._count_on)
                self.trouble = ""
            except (SpoorError, *UNREADABLE) as error:
                _log.warning("cannot count %s: %s", self.folder.database, error)
                self.trouble, pause = str(error), SECONDS_AFTER_TROUBLE
            await self._wait(pause)

    async def _wait(self, seconds: float) -> None:
        """Ends early after an action, and if it is long, when a request arrives."""
        awaited = self._acted
        if seconds > SECONDS_BETWEEN_COUNTS:
            awaited = self._asked
            awaited.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(awaited.wait(), seconds)

    def is_running(self) -> bool:
        """Whether the crawl is running, in this process or another."""
        if time.monotonic() >= self._ask_again_at:
            self._ask_again_at = time.monotonic() + SECONDS_BETWEEN_COUNTS
            self._running = _is_running(self.folder)
        return self._running

    def acted(self) -> None:
        """To be called after an action: this process held the lock to apply it, which may have looked like a crawl, and
        what the action changed is counted at once."""
        self._ask_again_at = 0.0
        self._acted.set()
        self._asked.set()

    def _begin(self) -> None:
        """Counts in the first place that has room. Raises NotWritten if none has."""
        problem: NotWritten | None = None
        for file in self._places:
            try:
                counting = self._opened(file)
            except NotWritten as error:
                problem = error
                continue
            if problem is not None:
                _log.warning("%s; counting in %s instead", problem, file)
            self._counting, self._file = counting, file
            return
        raise problem or NotWritten(f"no place is left for {FILE}")

    def _opened(self, file: Path) -> sqlite3.Connection:
        db = open_to_count(self.folder, file)
        try:
            count_on(db, 1000)
        except sqlite3.Error as error:
            db.close()
            raise (not_written(file, error) if is_of_surroundings(error) else error) from None
        return db

    def _count_on(self) -> float:
        """Like `_count`; moves the counts if their place is full."""
        try:
            return self._count()
        except sqlite3.Error as error:
            if not is_of_surroundings(error):
                raise
            full, before = not_written(self._file, error), self._counting
            try:
                self._begin()
            except NotWritten:
                raise full from None
            if before is not None:
                before.close()
            return 0.0

    def _count(self) -> float:
        """Counts one batch, or indexes some texts. Returns the seconds to wait before the next."""
        assert self._counting is not None
        reached, last = count_on(self._counting)
        if reached < last:
            return 0.0
        running, watched = self.is_running(), time.monotonic() - self._asked_at < PATIENCE
        if watched and last != self._forecast_of and time.monotonic() >= self._forecast_at:
            began, self._forecast_of = time.monotonic(), last
            self._expected = expected_in(self.folder)
            self._forecast_at = max(_next(began), began + SECONDS_BETWEEN_FORECASTS)
        began = time.monotonic()
        if began >= self._texts_at and index_texts(self.folder, self._counting):
            self._texts_at = _next(began) if running else began
            return SECONDS_BETWEEN_COUNTS if running else 0.0
        return SECONDS_BETWEEN_COUNTS if watched else SECONDS_UNWATCHED

    def _answer(self, question: Callable[[Reading], T]) -> T:
        if self._looking_up is not None and self._looked_up_in != self._file:
            self._looking_up.close()
            self._looking_up = None
        if self._looking_up is None:
            self._looked_up_in = self._file
            self._looking_up = open_to_look_up(self.folder, self._looked_up_in)
        db = self._looking_up
        try:
            db.execute("BEGIN")
            crawl = (self.folder, db, self.number, self.is_running(), time.time())
            return question(Reading(*crawl, self._expected, self._memory))
        except UNREADABLE as error:
            raise BadInput(f"cannot read {self.folder.database}: {error}") from None
        finally:
            if db.in_transaction:
                db.execute("COMMIT")


def _next(began: float) -> float:
    """When work that began at `began` and ends now may run again without exceeding its share of time."""
    return began + (time.monotonic() - began) / SHARE_OF_TIME


def _is_running(folder: CrawlFolder) -> bool:
    if os.access(folder.path / "lock", os.W_OK):
        return is_open_for_crawling(folder)
    return time.time() - _changed(folder.database) < FRESH


def _changed(database: Path) -> float:
    """The time of the last write, in seconds since 1970."""
    files = (database, Path(f"{database}-wal"))
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)
