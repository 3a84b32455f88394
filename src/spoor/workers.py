"""Other processes that read pages, asked over sockets: no threads, no queues, little to pay for a page."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import signal
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Protocol

from spoor.config import MOST_WORKERS
from spoor.errors import BadInput, UsageError
from spoor.records import Outcome, Response, Visit

_LENGTH = struct.Struct("!i")
"""Before every message, as `Connection` writes and expects it."""
_PATIENCE = 5.0
"""Seconds in which a process that has nothing more to do should have ended."""


class PageReader(Protocol):
    """Sent to every process when it begins."""

    def read_away(self, visit: Visit, response: Response) -> Outcome: ...


@dataclass
class Worker:
    """One process. It answers in the order in which it is asked."""

    process: BaseProcess
    incoming: asyncio.StreamReader
    outgoing: asyncio.StreamWriter
    asked: deque[asyncio.Future[Outcome]] = field(default_factory=deque)
    gone: bool = False

    def ask(self, visit: Visit, response: Response) -> asyncio.Future[Outcome]:
        message = pickle.dumps((visit, response), pickle.HIGHEST_PROTOCOL)
        self.outgoing.write(_LENGTH.pack(len(message)) + message)
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self.asked.append(answer)
        if self.gone:
            self._answered(_died())
        return answer

    async def listen(self) -> None:
        """Until the process ends; then everybody who still waits is told."""
        try:
            while True:
                (length,) = _LENGTH.unpack(await self.incoming.readexactly(_LENGTH.size))
                self._answered(pickle.loads(await self.incoming.readexactly(length)))
        except (asyncio.IncompleteReadError, OSError):
            self.gone = True
            while self.asked:
                self._answered(_died())

    def _answered(self, outcome: Outcome | Exception) -> None:
        answer = self.asked.popleft()
        if answer.done():  # whoever asked has gone
            return
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)


def _died() -> BadInput:
    return BadInput("a worker process ended before its work was done; run the same command again to go on")


@dataclass
class Workers:
    """Each page goes to the process that has least to do."""

    workers: list[Worker]

    async def read(self, visit: Visit, response: Response) -> Outcome:
        return await min(self.workers, key=lambda worker: len(worker.asked)).ask(visit, response)


@contextlib.asynccontextmanager
async def working(count: int, reader: PageReader) -> AsyncIterator[Workers]:
    """`count` processes, ended when the context is left."""
    if count > MOST_WORKERS:
        raise UsageError(f"workers = {count}: {MOST_WORKERS} at most; a few for each core are of use")
    workers = [await _hired(reader) for _ in range(count)]
    listening = [asyncio.create_task(worker.listen()) for worker in workers]
    try:
        yield Workers(workers)
    finally:
        for worker in workers:
            worker.outgoing.close()
        await asyncio.gather(*listening)
        for worker in workers:
            worker.process.join(_PATIENCE)
            worker.process.kill()


async def _hired(reader: PageReader) -> Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, reader), daemon=True)
    process.start()
    theirs.close()
    own_socket = socket.socket(fileno=ours.fileno())
    incoming, outgoing = await asyncio.open_unix_connection(sock=own_socket.dup())
    own_socket.detach()
    ours.close()
    return Worker(process, incoming, outgoing)


def _work(connection: Connection, reader: PageReader) -> None:
    """The life of a process. An interrupt is for the crawl, which lets its workers finish."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            visit, response = pickle.loads(connection.recv_bytes())
        except EOFError:
            return
        connection.send_bytes(pickle.dumps(_outcome(reader, visit, response), pickle.HIGHEST_PROTOCOL))


def _outcome(reader: PageReader, visit: Visit, response: Response) -> Outcome | Exception:
    try:
        return reader.read_away(visit, response)
    except Exception as error:  # A mistake of ours: the crawl must hear of it.
        return error
