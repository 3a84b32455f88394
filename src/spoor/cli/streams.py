"""The standard streams of the command: closed, full, or of an encoding that lacks a character, they never cost a crawl.

Messages to standard error that cannot be written are lost. Results that cannot be written to standard output raise
`LostOutput`, once.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TextIO

from spoor.errors import SpoorError

INPUT, OUTPUT, ERRORS = 0, 1, 2
"""File descriptors."""


class LostOutput(SpoorError):
    """Standard output takes no more."""


def make_usable() -> None:
    """Replaces the streams of this process. To be called before any other file is opened: without a file at their
    descriptors, the next files to be opened, such as a database, would be taken for them."""
    closed = {file for file in (INPUT, OUTPUT, ERRORS) if _is_closed(file)}
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)  # Takes the lowest free descriptor.
    if sys.stdin is None:
        sys.stdin = open(INPUT, encoding="utf8", closefd=False)  # noqa: SIM115  # open as long as the process
    sys.stdout = _text_of(_Output(OUTPUT in closed), sys.stdout)
    sys.stderr = _text_of(_Errors(), sys.stderr)


def _is_closed(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return True
    return False


def _text_of(raw: io.FileIO, earlier: TextIO | None) -> TextIO:
    """Characters that the encoding lacks are written as escapes. Python's choice where it tolerates them is kept."""
    errors = getattr(earlier, "errors", None) or "strict"
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(earlier, "encoding", None) or "utf8",
        errors="backslashreplace" if errors == "strict" else errors,
        line_buffering=raw.fileno() == ERRORS or raw.isatty(),
        write_through=getattr(earlier, "write_through", False),
    )


class _Output(io.FileIO):
    """Raises `LostOutput` for the first write that fails, and drops everything after it. A closed pipe is left to the
    caller."""

    def __init__(self, is_closed: bool) -> None:
        super().__init__(OUTPUT, "w", closefd=False)
        self._is_closed = is_closed
        self._is_lost = False

    def write(self, data: object) -> int:
        if self._is_lost:
            return memoryview(data).nbytes  # type: ignore[arg-type]  # a buffer
        try:
            if self._is_closed:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return super().write(data)  # type: ignore[arg-type]
        except BrokenPipeError:
            raise
        except OSError as error:
            self._is_lost = True
            raise LostOutput(f"cannot write to standard output: {error.strerror}") from None


class _Errors(io.FileIO):
    """Drops what cannot be written."""

    def __init__(self) -> None:
        super().__init__(ERRORS, "w", closefd=False)

    def write(self, data: object) -> int:
        with contextlib.suppress(OSError):
            return super().write(data)  # type: ignore[arg-type]
        return memoryview(data).nbytes  # type: ignore[arg-type]
