"""Forks spoor commands, and the processes that a crawl or a comparison starts, from a fork server that has already
imported their modules: the imports take longer than many of them run. They can be stopped and killed as usual."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from unittest import mock

from spoor.cli.main import program

_FROM = get_context("forkserver")
_FROM.set_forkserver_preload(
    ["pytest", "spoor.cli.crawling", "spoor.cli.webs", "tests.deadly_crawl", "tests.preloaded", __name__]
)
NOWHERE = Path(os.devnull)
LEFT_OPEN = 71
"""Exit code of a forked process that left a file or a database to the garbage collector."""


@cache
def warm_up() -> None:
    """Runs the imports of the fork server now. Otherwise they would block the first caller and its event loop."""
    Forked(_nothing).wait()


def _nothing() -> None:
    """Forked by `warm_up`: it returns only when everything is imported."""


class Forked:
    """A process that runs a function. A daemon: it ends with the test process."""

    def __init__(self, run: Callable[..., None], *arguments: object) -> None:
        self._process = _FROM.Process(target=run, args=arguments, daemon=True)
        self._process.start()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutExpired("a forked process", timeout or 0.0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()


def forked(run: Callable[[], None], *argv: str, stdout: Path = NOWHERE, stderr: Path = NOWHERE) -> Forked:
    """Runs a function without arguments, with `argv` as command line."""
    return Forked(_become, run, argv, stdout, stderr)


def spoor(*words: str, stdout: Path = NOWHERE, stderr: Path = NOWHERE) -> Forked:
    return forked(program, *words, stdout=stdout, stderr=stderr)


def _become(run: Callable[[], None], argv: tuple[str, ...], stdout: Path, stderr: Path) -> None:
    for stream, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.argv = ["forked", *argv]
    multiprocessing.current_process().daemon = False  # Daemons may not start child processes.
    _end_where_something_stays_open()
    with forked_workers():
        run()


def _end_where_something_stays_open() -> None:
    """Whoever opens a file or a database closes it, here as in the process of the tests: a process that leaves that to
    the garbage collector ends with a code of its own and says what it was."""

    def end(what: sys.UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, ResourceWarning):
            os.write(2, f"{what.exc_value}: {what.object!r}\n".encode())
            os._exit(LEFT_OPEN)
        sys.__unraisablehook__(what)

    warnings.simplefilter("error", ResourceWarning)
    sys.unraisablehook = end


# The processes that spoor starts.


@contextmanager
def forked_workers() -> Iterator[None]:
    """Forks the worker processes that read pages or compare strategies, instead of starting new interpreters."""
    with mock.patch("spoor.pools.Popen", _interpreter), mock.patch("spoor.pools.get_context", _context):
        yield


def _context(method: str) -> BaseContext:
    return _FROM if method == "spawn" else get_context(method)


def _interpreter(command: tuple[str, ...], *, stdin: int, pass_fds: tuple[int, ...], env: dict[str, str]) -> Forked:
    """Replaces `Popen` for a program that receives a socket, and files. A forked process has no `stdin` to read."""
    assert stdin == DEVNULL
    program = command[2]
    with ExitStack() as stack:
        stderr, *files = (stack.enter_context(Connection(os.dup(file))) for file in (2, *pass_fds))
        return Forked(_interpret, program, files, stderr, env)


def _interpret(program: str, files: list[Connection], stderr: Connection, environment: dict[str, str]) -> None:
    os.dup2(stderr.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *(str(os.dup(file.fileno())) for file in files)]
    for file in files:
        file.close()
    multiprocessing.current_process().daemon = False  # Daemons may not start child processes.
    _end_where_something_stays_open()
    with forked_workers():
        exec(program, {})
