"""Commands of spoor in processes of their own, forked from one that has imported what they need, because that takes
longer than many of them run. They can be stopped and killed like any others."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from subprocess import TimeoutExpired

from spoor.cli.main import program

_FROM = get_context("forkserver")
_FROM.set_forkserver_preload(
    ["pytest", "spoor.cli.crawling", "spoor.cli.webs", "tests.deadly_crawl", "tests.preloaded", __name__]
)
NOWHERE = Path(os.devnull)


class Forked:
    """A process that runs a function without arguments, as if `argv` had been typed. Ends with those who test."""

    def __init__(self, run: Callable[[], None], *argv: str, stdout: Path = NOWHERE, stderr: Path = NOWHERE) -> None:
        self._process = _FROM.Process(target=_become, args=(run, argv, stdout, stderr), daemon=True)
        self._process.start()

    def poll(self) -> int | None:
        """The exit code; None: it runs."""
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


def spoor(*words: str, stdout: Path = NOWHERE, stderr: Path = NOWHERE) -> Forked:
    return Forked(program, *words, stdout=stdout, stderr=stderr)


def _become(run: Callable[[], None], argv: tuple[str, ...], stdout: Path, stderr: Path) -> None:
    for stream, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.argv = ["forked", *argv]
    run()
