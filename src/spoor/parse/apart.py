"""Reads documents in a separate process with limits of time and memory, for commands that read archives.

A live crawl uses its worker processes instead.
"""

from __future__ import annotations

import atexit
import contextlib
import pickle
import signal
import subprocess
import threading
from functools import cache
from multiprocessing.connection import Connection

from spoor.parse.documents import kind_of, read_answer
from spoor.parse.html import DEFAULT_OPTIONS, ParseOptions, read_page
from spoor.pools import bound_memory, cause_of_death, other_process
from spoor.records import Failure, Page
from spoor.settings import FetchSettings

_PROGRAM = "import sys; from spoor.parse.apart import serve; serve(int(sys.argv[1]))"
_PATIENCE = 5.0
"""Seconds to wait for the process to exit before it is killed."""


def read_in_subprocess(
    url: str, body: bytes, content_type: str = "", status: int = 200, parse_options: ParseOptions = DEFAULT_OPTIONS
) -> Page | Failure:
    """Like `read_answer`; only documents are read in the other process."""
    if not (parse_options.documents and kind_of(body, content_type)):
        return read_page(url, body, content_type, status, parse_options)
    return _process().read(pickle.dumps((url, body, content_type, status, parse_options), pickle.HIGHEST_PROTOCOL))


@cache
def _process() -> _DocumentProcess:
    process = _DocumentProcess()
    atexit.register(process.end)
    return process


class _DocumentProcess:
    """One process at a time, started for the first document, and restarted after a document that crashed it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def read(self, message: bytes) -> Page | Failure:
        with self._lock:
            line = self._line or self._begin()
            try:
                line.send_bytes(message)
                outcome: Page | Failure = pickle.loads(line.recv_bytes())
            except (EOFError, OSError):
                return Failure(cause_of_death(self._ended(), FetchSettings.parse_seconds))
            return outcome

    def end(self) -> None:
        with self._lock:
            self._ended()

    def _begin(self) -> Connection:
        self._process, ours = other_process(_PROGRAM)
        self._line = Connection(ours.detach())
        return self._line

    def _ended(self) -> int:
        """Ends the process, by closing its connection, and returns its exit code."""
        line, process = self._line, self._process
        self._line = self._process = None
        if line is None or process is None:
            return 0
        line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_PATIENCE)
        process.kill()
        return process.wait()


def serve(line: int) -> None:
    """The main loop of the process; requests arrive on the socket `line`. Ignores SIGINT, which the parent handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(line)
    with contextlib.suppress(EOFError, OSError):
        while True:
            url, body, content_type, status, parse_options = pickle.loads(connection.recv_bytes())
            bound_memory(FetchSettings.parse_bytes)
            signal.setitimer(signal.ITIMER_REAL, FetchSettings.parse_seconds)
            outcome = _outcome(url, body, content_type, status, parse_options)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send_bytes(pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL))


def _outcome(url: str, body: bytes, content_type: str, status: int, parse_options: ParseOptions) -> Page | Failure:
    try:
        return read_answer(url, body, content_type, status, parse_options)
    except MemoryError:
        return Failure(f"reading needed over {FetchSettings.parse_bytes / 1e6:g} MB")
