"""Worker processes: each fetches, stores, reads and judges the pages of some of the hosts, while the process that has
the frontier decides.

A worker ends when its connection is closed, so also when the crawl was killed. If it dies, the page that it was working
on has failed, and its other visits are made again, in the next process.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sqlite3
import subprocess
import zlib
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from spoor.errors import OF_STORAGE, BrokenContract, SpoorError, UsageError
from spoor.fetch.responses import HEALS_AFTER
from spoor.live.archive import ResponseArchive
from spoor.live.downloader import Fetched, LaterSteps, PageFetcher
from spoor.live.driver import TrackedFetch, request_trouble
from spoor.live.from_settings import LOOKUPS, fetcher_for, reading_limits
from spoor.live.messages import Messages
from spoor.live.page_reader import Reader
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.reading_processes import Started, forked, reading
from spoor.live.saturated import SaturatedLinks, saturated_links_in
from spoor.live.watchdog import SteadyClock
from spoor.origins import Packed, unpacked
from spoor.pools import DaemonThreads, cause_of_death, other_process
from spoor.records import Failure, Visit
from spoor.settings import MOST_WORKERS, Config
from spoor.store.crawl_folder import CrawlFolder, writing_to_archive
from spoor.store.duplicates import StoredPayloads
from spoor.store.incidents import CurrentUrl, SavedTroubles, died_of
from spoor.store.warc import Kept, WarcWriter

_PATIENCE = 5.0
"""Seconds in which a process must end that was told to, or that lost its connection."""
_PROGRAM = "import sys; from spoor.live.workers import work; work(*map(int, sys.argv[1:]))"
_READY = 0
"""Number of the first message of a worker: it can begin, or why not. Visits are numbered from 1."""


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker must know. `reader` is a packed `Reader`; `processes` is how many processes each worker has for
    pages that may take long; `about` is for its WARC files; `languages` is the header Accept-Language."""

    reader: Packed
    processes: int
    settings: Config
    folder: CrawlFolder
    clock: SteadyClock
    about: Mapping[str, str]
    languages: str
    later: LaterSteps


# In the process that has the frontier.


@dataclass(frozen=True, slots=True)
class _Asked:
    """A visit that a worker makes, and the future of its result."""

    visit: Visit
    answer: asyncio.Future[Fetched]

    def answered(self, result: Fetched | Exception) -> None:
        if self.answer.done():  # the caller was cancelled
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


@dataclass
class Worker:
    """One process at a time, which makes visits concurrently; after it died, the next visit starts another. `number` is
    1 for the first worker. `_ready` waits for the first message of a process; visits are sent after it."""

    setup: WorkerSetup
    number: int
    saturated: SaturatedLinks | None = None
    _asked: dict[int, _Asked] = field(default_factory=dict, init=False)
    _count: int = field(default=_READY, init=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _messages: Messages | None = field(default=None, init=False)
    _ready: asyncio.Future[None] | None = field(default=None, init=False)
    _is_beginning: bool = field(default=False, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _is_over: bool = field(default=False, init=False)

    def fetch(self, visit: Visit) -> asyncio.Future[Fetched]:
        self._count += 1
        asked = self._asked[self._count] = _Asked(visit, asyncio.get_running_loop().create_future())
        if self._messages is not None and not self._is_beginning:
            self._messages.send((self._count, _to_send(visit)))
        elif not self._is_beginning:
            self._is_beginning = True
            self._do(self._begin_again())
        return asked.answer

    async def begin(self) -> None:
        """Returns when the process is ready. Raises SpoorError if it cannot begin."""
        self._is_beginning, self._ready = True, asyncio.get_running_loop().create_future()
        try:
            self._process, own = other_process(_PROGRAM, *([] if self.saturated is None else [self.saturated.file]))
            self._messages = await Messages.over(own, self._take, self._lose)
            self._messages.send((self.setup, self.number))
            await self._ready
            for number, asked in self._asked.items():
                self._messages.send((number, _to_send(asked.visit)))
        finally:
            self._is_beginning = False

    async def end(self) -> None:
        self._is_over = True
        if self._messages is not None:
            self._messages.close()
        if self._process is not None:
            await asyncio.to_thread(_ended, self._process)

    async def _begin_again(self) -> None:
        try:
            await self.begin()
        except (SpoorError, OSError) as error:
            asked, self._asked = list(self._asked.values()), {}
            for one in asked:
                one.answered(Fetched(Failure(f"no worker process: {error}", HEALS_AFTER, here=True)))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _take(self, message: tuple[int, Any]) -> None:
        number, result = message
        if number != _READY:
            self._asked.pop(number).answered(result if isinstance(result, Exception) else _fetched(result))
        elif self._ready is not None:
            _resolve(self._ready, result)

    def _lose(self) -> None:
        """The process has ended, or is about to."""
        self._messages = None
        if not self._is_over and self._process is not None:
            asked, self._asked = list(self._asked.values()), {}
            self._do(self._blame(self._process, asked, died_of(self.setup.folder.in_work_of(self.number))))

    async def _blame(self, process: subprocess.Popen[bytes], asked: Sequence[_Asked], working_on: str) -> None:
        """Ends the visits of a process that died."""
        code = await asyncio.to_thread(_ended, process)
        cause = cause_of_death(code, self.setup.settings.limits.parse_seconds)
        if self._ready is not None:
            _resolve(self._ready, BrokenContract(f"a worker process cannot begin: {cause}"))
        for one in asked:
            is_cause = one.visit.url == working_on
            other = Failure(f"its worker process ended at another page: {cause}", excused=True)
            one.answered(Fetched(Failure(cause) if is_cause else other))


def _resolve(ready: asyncio.Future[None], error: Exception | None) -> None:
    if ready.done():
        return
    if error is None:
        ready.set_result(None)
    else:
        ready.set_exception(error)


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Waits for the end of a process, kills it if that takes too long, and returns its exit code."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
        return process.returncode
    process.kill()
    process.wait()
    return process.returncode


# Visits and results are sent as tuples: pickling dataclasses takes several times as long.


def _to_send(visit: Visit) -> tuple[Any, ...]:
    """What a worker needs of a visit."""
    place = visit.url, visit.host, visit.number, visit.at, visit.purpose
    return *place, visit.apart, visit.etag, visit.modified


def _visit(sent: tuple[Any, ...]) -> Visit:
    url, host, number, at, purpose, apart, etag, modified = sent
    return Visit(url, host, number, at, purpose, apart=apart, etag=etag, modified=modified)


def _result(fetched: Fetched) -> tuple[Any, ...]:
    kept = fetched.kept
    where = None if kept is None else (kept.url, kept.at, kept.digest, kept.record_id, kept.file, kept.offset)
    return fetched.outcome, where, fetched.response


def _fetched(result: tuple[Any, ...]) -> Fetched:
    outcome, where, response = result
    return Fetched(outcome, None if where is None else Kept(*where), response)


@dataclass(frozen=True)
class Workers:
    """Every host has its worker, which keeps the connections to it and its cookies."""

    workers: Sequence[Worker]

    async def fetch(self, visit: Visit) -> Fetched:
        return await self.workers[zlib.crc32(visit.host.encode()) % len(self.workers)].fetch(visit)


@contextlib.asynccontextmanager
async def working(count: int, setup: WorkerSetup, saturated: SaturatedLinks | None = None) -> AsyncIterator[Workers]:
    """`count` processes, which are ended on exit from the context. They leave `saturated` links out of their pages."""
    if count > MOST_WORKERS:
        raise UsageError(f"workers = {count}: {MOST_WORKERS} at most; a few per core are enough")
    workers = [Worker(setup, number, saturated) for number in range(1, count + 1)]
    try:
        await asyncio.gather(*(worker.begin() for worker in workers))
        yield Workers(workers)
    finally:
        await asyncio.gather(*(worker.end() for worker in workers))


# In a worker process.


def work(line: int, memory: int | None = None) -> None:
    """Main function of a worker; `line` is the file descriptor of its socket, `memory` that of the saturated links.
    Interrupts are ignored: the crawl ends its workers itself."""
    for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(interrupt, signal.SIG_IGN)
    give_back_large_blocks()
    search_seldom_for_circles()
    with contextlib.nullcontext() if memory is None else saturated_links_in(memory) as saturated:
        asyncio.run(_work(socket.socket(fileno=line), saturated))


async def _work(own: socket.socket, saturated: SaturatedLinks | None) -> None:
    asyncio.get_running_loop().set_default_executor(DaemonThreads(LOOKUPS))
    arrived: asyncio.Queue[Any] = asyncio.Queue()
    messages = await Messages.over(own, arrived.put_nowait, lambda: arrived.put_nowait(None))
    if (first := await arrived.get()) is None:
        return
    setup, number = first
    try:
        reader: Reader = unpacked(setup.reader)
        reader.warm_up()
        # Before there are threads.
        processes = setup.processes if setup.reader.may_fork else 0
        started = forked(processes, reader, reading_limits(setup.settings, reader), own)
        reader = replace(reader, is_away=True, saturated=saturated)
        async with _visiting(setup, number, reader, messages, started) as visiting:
            messages.send((_READY, None))
            while (asked := await arrived.get()) is not None:
                visiting.begin(*asked)
    except SpoorError as error:
        messages.send((_READY, error))
    finally:
        messages.close()


@dataclass
class _Visiting:
    """The visits that a worker makes."""

    pages: PageFetcher
    troubles: SavedTroubles
    messages: Messages
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    def begin(self, number: int, sent: tuple[Any, ...]) -> None:
        task = asyncio.create_task(self._make(number, _visit(sent)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _make(self, number: int, visit: Visit) -> None:
        try:
            fetched = await TrackedFetch(self.pages.fetch(visit), visit.url, self.troubles)
            self.messages.send((number, _result(fetched)))
        except OF_STORAGE as error:  # It ends the crawl, and not only this visit.
            self.messages.send((number, error))
        except Exception as error:
            trouble = request_trouble(error, visit.url, self.troubles)
            self.messages.send((number, _result(Fetched(trouble))))

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def _visiting(
    setup: WorkerSetup, number: int, reader: Reader, messages: Messages, started: Sequence[Started]
) -> AsyncIterator[_Visiting]:
    """Opens what a worker needs, and closes it."""
    folder, settings = setup.folder, setup.settings
    with (
        writing_to_archive(folder),
        contextlib.closing(CurrentUrl(folder.in_work_of(number))) as in_work,
        WarcWriter(folder.warcs, setup.about, series=f"w{number}") as keeper,
        contextlib.closing(_only_reading(folder)) as db,
    ):
        troubles = SavedTroubles(folder.troubles, in_work)
        async with (
            reading(setup.processes, setup.reader, reading_limits(settings, reader), started) as processes,
            fetcher_for(settings, setup.clock) as fetcher,
        ):
            archive = ResponseArchive(keeper, StoredPayloads(db))
            pages = PageFetcher(fetcher, reader, archive, processes, troubles, setup.languages, setup.later)
            visiting = _Visiting(pages, troubles, messages)
            try:
                yield visiting
            finally:
                await visiting.end()


def _only_reading(folder: CrawlFolder) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(folder.database))}?mode=ro", uri=True, isolation_level=None)
