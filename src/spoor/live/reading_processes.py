"""Processes that read pages that may take long, each within limits of time and memory. They are connected by sockets,
without threads or queues.

A process that takes too long ends itself, even if the crawl has already ended. The caller receives a failure with the
reason, and a new process reads the next page.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import pickle
import signal
import socket
import struct
import subprocess
import tempfile
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from multiprocessing.connection import Connection
from typing import IO, Any, Protocol, cast

from spoor.errors import BrokenContract, SpoorError, UsageError
from spoor.fetch.decoding import decoded
from spoor.live.process import give_back_large_blocks
from spoor.origins import Packed, pack, unpacked
from spoor.pools import OtherProcess, bound_memory, cause_of_death, forked_process, other_process
from spoor.records import Failure, Outcome, Response, Visit
from spoor.settings import FetchSettings

MOST_WAITING = 16_000_000
"""Bytes of pages that may wait in memory; further pages wait in files."""
MAX_REPLY_BYTES = 16_000_000
"""Size of what was read of a page, as it is sent back: the memory of the crawl is not that of its readers."""
MAX_SMALL_BYTES = 100_000
"""Size of a response that stays in memory while it waits to be read."""
_LENGTH = struct.Struct("!i")
"""The length before each message, as in `multiprocessing.connection.Connection`."""
_PATIENCE, _FAREWELL = 5.0, 0.5
"""Timeouts in seconds for an idle process to end: during a crawl, and at its end."""
_AHEAD = 2
"""Pages sent to a process at once: while it reads one, the next has arrived. Further pages wait here."""
_PROGRAM = "import sys; from spoor.live.reading_processes import read_pages; read_pages(int(sys.argv[1]))"
"""The program of such a process. `multiprocessing` would run the caller's main script again in each process, and
print errors if the crawl ends before a process has started. Here the script runs again only if it defines the
reader."""
_log = logging.getLogger(__name__)


class PageReader(Protocol):
    """Reads pages; sent to each process at its start."""

    def warm_up(self) -> None:
        """Loads what reading needs, before limits apply."""
        ...

    def read_in_worker(self, visit: Visit, response: Response) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for one page: seconds, and bytes of memory in addition to those that the process already uses."""

    seconds: float = FetchSettings.parse_seconds
    memory: int = FetchSettings.parse_bytes


@dataclass(slots=True)
class _Asked:
    """A page that was passed to a process, and the future of its outcome."""

    message: bytes | IO[bytes]
    answer: asyncio.Future[Outcome]

    @property
    def is_in_file(self) -> bool:
        return not isinstance(self.message, bytes)

    @property
    def held(self) -> int:
        """Bytes of the message that are in memory."""
        return len(self.message) if isinstance(self.message, bytes) else 0

    def read(self) -> bytes:
        """Returns the message; from then on it is held in memory."""
        if not isinstance(self.message, bytes):
            with self.message as file:
                file.seek(0)
                self.message = file.read()
        return self.message

    def answered(self, outcome: Outcome | Exception) -> None:
        if self.answer.done():  # the caller was cancelled
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


Started = tuple[OtherProcess, socket.socket]
"""A process that waits for pages, and this end of its socket."""


@dataclass
class ReadingProcess:
    """Runs one process at a time, `started` already or when there is a page to read. The process replies in order, so
    if it dies, the first page without a reply is the cause; the other pages go to the next process. `reader` is a
    packed `PageReader`."""

    reader: Packed
    limits: ReadingLimits
    started: Started | None = None
    asked: deque[_Asked] = field(default_factory=deque)
    _sent: int = 0
    _process: OtherProcess | None = None
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
        """Lets an idle process end by itself; kills a busy one."""
        if self._serving is not None and not self.asked:
            self._hang_up()
            await asyncio.wait([self._serving], timeout=_FAREWELL)
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving])
        if self.started is not None:
            (self._process, own), self.started = self.started, None
            own.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def _serve(self) -> None:
        """Runs one process after the other, while there are pages to read."""
        try:
            while self.asked:
                incoming = await self._begin()
                await self._listen(incoming)
                await self._blame()
        except Exception as error:  # No process can be started.
            while self.asked:
                self.asked.popleft().answered(error)
        finally:
            self._hang_up()
            self._serving = None

    async def _begin(self) -> asyncio.StreamReader:
        started, self.started = self.started, None
        self._process, own = started or other_process(_PROGRAM)
        incoming, self._outgoing = await asyncio.open_unix_connection(sock=own)
        if started is None:
            self._write(pickle.dumps((self.reader, self.limits), pickle.HIGHEST_PROTOCOL))
        self._sent = 0
        self._send()
        return incoming

    def _write(self, message: bytes) -> None:
        assert self._outgoing is not None
        self._outgoing.write(_LENGTH.pack(len(message)))
        self._outgoing.write(message)

    def _send(self) -> None:
        """What waits in a file waits there until nothing else is with the process, which can hold one large page."""
        while self._outgoing is not None and self._sent < min(_AHEAD, len(self.asked)):
            if self._sent and self.asked[self._sent].is_in_file:
                return
            self._write(self.asked[self._sent].read())
            self._sent += 1

    async def _listen(self, incoming: asyncio.StreamReader) -> None:
        """Receives outcomes until the process ends."""
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                (length,) = _LENGTH.unpack(await incoming.readexactly(_LENGTH.size))
                outcome = pickle.loads(await incoming.readexactly(length))
                self.asked.popleft().answered(outcome)
                self._sent -= 1
                self._send()

    async def _blame(self) -> None:
        """If the process died, the page that it was reading fails with the cause."""
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
class ReadingProcesses:
    """Sends each page to the process with the shortest queue. Beyond a limit, waiting pages are moved to files: large
    pages of many hosts would fill the memory."""

    reader: Packed
    processes: list[ReadingProcess]

    def read(self, visit: Visit, response: Response) -> asyncio.Future[Outcome]:
        message = pickle.dumps((visit, to_send(response)), pickle.HIGHEST_PROTOCOL)
        process = min(self.processes, key=lambda process: len(process.asked))
        return process.ask(message if self._held() + len(message) <= MOST_WAITING else _in_a_file(message))

    def _held(self) -> int:
        return sum(asked.held for process in self.processes for asked in process.asked)


def to_send(response: Response) -> Response:
    """What is needed to read a response: its body, neither request nor payload. A compressed payload is sent in place
    of the body, which is several times as long, and is decoded again when it arrives."""
    if response.cut or len(response.payload) >= len(response.body) or _encodings(response) != 1:
        return replace(response, payload=b"", request=b"")
    return _Compressed(**{part.name: getattr(response, part.name) for part in fields(response)})


def _encodings(response: Response) -> int:
    """The largest number of Content-Encoding headers that there may be; of several, `headers` has only the first."""
    return response.head.lower().count(b"content-encoding")


class _Compressed(Response):
    """Arrives as `Response`."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., Response], tuple[object, ...]]:
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return _received, (values | {"body": b"", "request": b""}, len(self.body))


def _received(values: dict[str, Any], length: int) -> Response:
    """`length` is that of the body."""
    encoded = Response(**values)
    body = decoded(encoded.payload, encoded.headers["content-encoding"], length)
    return replace(encoded, body=body, payload=b"")


@contextlib.contextmanager
def set_aside(response: Response) -> Iterator[Callable[[], Response]]:
    """Puts a response that may be needed after it was read into a file, unless it is small, and yields how to get it
    back: of 64 large pages that wait to be read, none is in memory."""
    message = pickle.dumps(response, pickle.HIGHEST_PROTOCOL)
    waiting = message if len(message) <= MAX_SMALL_BYTES else _in_a_file(message)
    del response, message

    def get_back() -> Response:
        if isinstance(waiting, bytes):
            return cast(Response, pickle.loads(waiting))
        waiting.seek(0)
        return cast(Response, pickle.load(waiting))

    try:
        yield get_back
    finally:
        if not isinstance(waiting, bytes):
            waiting.close()


def _in_a_file(message: bytes) -> bytes | IO[bytes]:
    """An unnamed temporary file, removed when it is closed or the process ends. Without room for it, the message waits
    in memory."""
    try:
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed by the reader
    except OSError:
        return message
    try:
        left = memoryview(message)
        while left:
            left = left[file.write(left) :]
    except OSError:
        file.close()
        return message
    return file


async def packed_to_send(reader: PageReader) -> Packed | None:
    """The reader as it is sent to other processes. None if it cannot be sent: then this process must read all pages,
    which a warning says. In a thread: packing a large model takes time."""
    try:
        return await asyncio.to_thread(pack, reader)
    except UsageError as error:
        _log.warning("pages are read and judged in this process, without limits of time and memory: %s", error)
        return None


@contextlib.asynccontextmanager
async def reading(
    count: int, reader: Packed, limits: ReadingLimits, started: Sequence[Started] = ()
) -> AsyncIterator[ReadingProcesses]:
    """Up to `count` processes, each started when needed unless it is `started` already, and ended on exit from the
    context."""
    not_yet = [None] * (count - len(started))
    processes = [ReadingProcess(reader, limits, one) for one in (*started, *not_yet)]
    try:
        yield ReadingProcesses(reader, processes)
    finally:
        await asyncio.gather(*(process.end() for process in processes))


def forked(count: int, reader: PageReader, limits: ReadingLimits, own: socket.socket) -> list[Started]:
    """`count` copies of this process, which has loaded what the reader needs and has no threads. `own` is the socket of
    this process."""
    started: list[Started] = []
    for _ in range(count):
        main = functools.partial(_read_in_a_copy, reader, limits)
        started.append(forked_process(main, (own, *(line for _, line in started))))
    return started


def _read_in_a_copy(reader: PageReader, limits: ReadingLimits, own: socket.socket) -> None:
    _read_pages(Connection(own.detach()), reader, limits)


def read_pages(line: int) -> None:
    """Main function of a process; `line` is the file descriptor of its socket. Interrupts are ignored: the crawl ends
    its processes itself."""
    for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(interrupt, signal.SIG_IGN)
    give_back_large_blocks()
    connection = Connection(line)
    with contextlib.suppress(EOFError):
        packed, limits = pickle.loads(connection.recv_bytes())
        reader = _unpacked(packed)
        reader.warm_up()
        _read_pages(connection, reader, limits)


def _read_pages(connection: Connection, reader: PageReader, limits: ReadingLimits) -> None:
    """Until the other end is closed, or after a page that exceeded the memory limit, as too little may be left."""
    enough = True
    with contextlib.suppress(EOFError):
        while enough:
            reply, enough = _reply(reader, connection.recv_bytes(), limits)
            connection.send_bytes(reply)


@dataclass(frozen=True, slots=True)
class _NoReader:
    """Raises an error for each page: why the reader could not be unpacked."""

    why: str

    def warm_up(self) -> None:
        """Nothing to load."""

    def read_in_worker(self, visit: Visit, response: Response) -> Outcome:
        raise UsageError(self.why)


def _unpacked(packed: Packed) -> PageReader:
    try:
        reader: PageReader = unpacked(packed)
    except UsageError as error:
        return _NoReader(str(error))
    return reader


def _reply(reader: PageReader, message: bytes, limits: ReadingLimits) -> tuple[bytes, bool]:
    """The outcome as it is sent, and whether the process may continue. Unpacking and packing count, too: a body is
    decompressed when it is unpacked, and much can be found on a page."""
    try:
        bound_memory(limits.memory)
        signal.setitimer(signal.ITIMER_REAL, limits.seconds)
        reply = _packed(_outcome(reader, message))
        if len(reply) > MAX_REPLY_BYTES:
            reply = _packed(Failure(f"reading found over {MAX_REPLY_BYTES / 1e6:g} MB of texts and links"))
        return reply, True
    except MemoryError:
        pass  # Only then is the memory free that is needed for the reply.
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return _packed(Failure(f"reading needed over {limits.memory / 1e6:g} MB")), False


def _packed(outcome: Outcome | Exception) -> bytes:
    return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)


def _outcome(reader: PageReader, message: bytes) -> Outcome | Exception:
    try:
        visit, response = pickle.loads(message)
        return reader.read_in_worker(visit, response)
    except MemoryError:
        raise
    except SpoorError as error:
        return error
    except Exception as error:  # A bug: reported to the crawl, in a form that can be pickled.
        mistake = BrokenContract(f"{type(error).__name__} in a worker: {error}")
        mistake.add_note(traceback.format_exc())
        return mistake
