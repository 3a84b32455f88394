"""Other processes that read pages, each within limits of time and memory, asked over sockets: no threads, no queues.

A process that takes too long ends itself, even if nobody is there any more to end it. Whoever asked gets a failure with
the reason, and the next page a new process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import struct
import subprocess
import tempfile
import traceback
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import IO, Protocol

from spoor.errors import BrokenContract, SpoorError, UsageError
from spoor.origins import Origin, bring_in, pack
from spoor.pools import bound_memory, cause_of_death, other_process
from spoor.records import Failure, Outcome, Response, Visit
from spoor.settings import MOST_WORKERS, FetchSettings

MOST_WAITING = 16_000_000
"""Bytes of pages that may wait in memory to be read; the others wait in files."""
_LENGTH = struct.Struct("!i")
"""Before every message, as `Connection` writes and expects it."""
_PATIENCE, _FAREWELL = 5.0, 0.5
"""Seconds in which a process that has nothing more to do should have ended: during a crawl, and at its end."""
_AHEAD = 2
"""Pages on their way to a process: while it reads one, the next is there already. The others wait here, once each."""
_IN_A_WORKER = "SPOOR_WORKER"
"""Set in the environment of a process, so that a script that is run once more there does not crawl once more."""
_PROGRAM = "import sys; from spoor.live.workers import work; work(int(sys.argv[1]))"
"""Of a process. `multiprocessing` would run the program of whoever crawls once more in each, and complain loudly when
the crawl is gone before a process has begun. Here that is done only when the reader is defined in that program."""
_log = logging.getLogger(__name__)


class PageReader(Protocol):
    """Sent to every process when it begins."""

    def warm_up(self) -> None:
        """Loads what reading needs, before limits hold."""
        ...

    def read_away(self, visit: Visit, response: Response) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What one page may take: seconds, and bytes of memory besides what the process has already."""

    seconds: float = FetchSettings.parse_seconds
    memory: int = FetchSettings.parse_bytes


@dataclass(slots=True)
class _Asked:
    """A page on its way through a process."""

    message: bytes | IO[bytes]
    answer: asyncio.Future[Outcome]

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return len(self.message) if isinstance(self.message, bytes) else 0

    def read(self) -> bytes:
        """The message. Once it is asked for it is in memory."""
        if not isinstance(self.message, bytes):
            with self.message as file:
                file.seek(0)
                self.message = file.read()
        return self.message

    def answered(self, outcome: Outcome | Exception) -> None:
        if self.answer.done():  # whoever asked has gone
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


@dataclass
class Worker:
    """One process at a time, started when there is something to read. It answers in the order in which it is asked, so
    when it dies it died of the first that is not answered; the others are for the process that follows."""

    reader: PageReader
    limits: ReadingLimits
    asked: deque[_Asked] = field(default_factory=deque)
    _sent: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _outgoing: asyncio.StreamWriter | None = None
    _serving: asyncio.Task[None] | None = None

    def ask(self, message: bytes | IO[bytes]) -> asyncio.Future[Outcome]:
        asked = _Asked(message, asyncio.get_running_loop().create_future())
        self.asked.append(asked)
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        self._send()
        return asked.answer

    async def end(self) -> None:
        """Lets a process end that has nothing to do; one that has is not waited for."""
        if self._serving is not None and not self.asked:
            self._hang_up()
            await asyncio.wait([self._serving], timeout=_FAREWELL)
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving])
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def _serve(self) -> None:
        """Process after process, while there is something to read."""
        try:
            while self.asked:
                incoming = await self._begin()
                await self._listen(incoming)
                await self._blame()
        except Exception as error:  # No process can be had.
            while self.asked:
                self.asked.popleft().answered(error)
        finally:
            self._hang_up()
            self._serving = None

    async def _begin(self) -> asyncio.StreamReader:
        # In a thread: a large model takes its time.
        packed = await asyncio.to_thread(pack, self.reader)
        self._process, own = other_process(_PROGRAM, **{_IN_A_WORKER: "1"})
        incoming, self._outgoing = await asyncio.open_unix_connection(sock=own)
        self._write(pickle.dumps((packed.origins, self.limits), pickle.HIGHEST_PROTOCOL))
        self._write(packed.content)
        self._sent = 0
        self._send()
        return incoming

    def _write(self, message: bytes) -> None:
        assert self._outgoing is not None
        self._outgoing.write(_LENGTH.pack(len(message)))
        self._outgoing.write(message)

    def _send(self) -> None:
        while self._outgoing is not None and self._sent < min(_AHEAD, len(self.asked)):
            self._write(self.asked[self._sent].read())
            self._sent += 1

    async def _listen(self, incoming: asyncio.StreamReader) -> None:
        """Until the process ends."""
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                (length,) = _LENGTH.unpack(await incoming.readexactly(_LENGTH.size))
                outcome = pickle.loads(await incoming.readexactly(length))
                self.asked.popleft().answered(outcome)
                self._sent -= 1
                self._send()

    async def _blame(self) -> None:
        """The page of which the process died, if it died of one."""
        assert self._process is not None
        self._hang_up()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, _PATIENCE)
        code = self._process.returncode
        if code and self.asked:
            self.asked.popleft().answered(Failure(cause_of_death(code, self.limits.seconds)))

    def _hang_up(self) -> None:
        if self._outgoing is not None:
            self._outgoing.close()
        self._outgoing = None


@dataclass
class Workers:
    """Each page goes to the process that has least to do. Large pages of many hosts would fill the memory while they
    wait, so beyond a bound they wait in files."""

    workers: list[Worker]

    def read(self, visit: Visit, response: Response) -> asyncio.Future[Outcome]:
        message = pickle.dumps((visit, response), pickle.HIGHEST_PROTOCOL)
        worker = min(self.workers, key=lambda worker: len(worker.asked))
        return worker.ask(message if self._held() + len(message) <= MOST_WAITING else _in_a_file(message))

    def _held(self) -> int:
        return sum(asked.held for worker in self.workers for asked in worker.asked)


def _in_a_file(message: bytes) -> IO[bytes]:
    """Without a name: it is gone when it is closed, or with this process."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by whoever reads it
    file.write(message)
    return file


async def can_be_sent(reader: PageReader) -> bool:
    """Whether other processes can read for us. If not, that is said in the log, and everything is to be read here."""
    try:
        await asyncio.to_thread(pack, reader)
    except UsageError as error:
        _log.warning("pages are read and judged in this process, without limits of time and memory: %s", error)
        return False
    return True


@contextlib.asynccontextmanager
async def working(count: int, reader: PageReader, limits: ReadingLimits) -> AsyncIterator[Workers]:
    """Up to `count` processes, each started when it is needed and ended when the context is left."""
    if count > MOST_WORKERS:
        raise UsageError(f"workers = {count}: {MOST_WORKERS} at most; a few per core are enough")
    if _IN_A_WORKER in os.environ:
        raise UsageError('a crawl cannot begin in a worker process; put what starts it under if __name__ == "__main__"')
    workers = [Worker(reader, limits) for _ in range(count)]
    try:
        yield Workers(workers)
    finally:
        await asyncio.gather(*(worker.end() for worker in workers))


def work(line: int) -> None:
    """The life of a process, which is told everything through the socket `line`. Interrupts are for the crawl, which
    ends its workers itself. After a page that needed too much memory there may be too little left for others."""
    for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(interrupt, signal.SIG_IGN)
    connection = Connection(line)
    enough = True
    with contextlib.suppress(EOFError):
        origins, limits = pickle.loads(connection.recv_bytes())
        reader = _unpacked(origins, connection.recv_bytes())
        reader.warm_up()
        while enough:
            visit, response = pickle.loads(connection.recv_bytes())
            outcome, enough = _outcome(reader, visit, response, limits)
            connection.send_bytes(pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL))


@dataclass(frozen=True, slots=True)
class _NoReader:
    """Says of every page why the reader could not be unpacked."""

    why: str

    def warm_up(self) -> None:
        """There is nothing to load."""

    def read_away(self, visit: Visit, response: Response) -> Outcome:
        raise UsageError(self.why)


def _unpacked(origins: Sequence[Origin], content: bytes) -> PageReader:
    try:
        bring_in(origins)
        reader: PageReader = pickle.loads(content)
    except (Exception, SystemExit) as error:  # of a script that is run once more, or a module that changed
        return _NoReader(f"the judge cannot be loaded in a worker process: {type(error).__name__}: {error}")
    return reader


def _outcome(
    reader: PageReader, visit: Visit, response: Response, limits: ReadingLimits
) -> tuple[Outcome | Exception, bool]:
    """And whether the process may go on."""
    try:
        bound_memory(limits.memory)
        signal.setitimer(signal.ITIMER_REAL, limits.seconds)
        return reader.read_away(visit, response), True
    except MemoryError:
        return Failure(f"reading needed over {limits.memory / 1e9:g} GB"), False
    except SpoorError as error:
        return error, True
    except Exception as error:  # A mistake of ours: the crawl must hear of it, in a form that can be sent.
        mistake = BrokenContract(f"{type(error).__name__} in a worker: {error}")
        mistake.add_note(traceback.format_exc())
        return mistake, True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
